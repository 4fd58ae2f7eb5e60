"""Keeps a worker off the network: weights are mounted, and a library that would download one fails at once instead."""

from __future__ import annotations

import socket
from typing import Any


def go_offline() -> None:
    """Workers speak to the server over a socket pair that they inherit; names and addresses they never need."""
    for function in ("getaddrinfo", "create_connection"):
        setattr(socket, function, _refuse)


def _refuse(host: Any, *_: Any, **__: Any) -> Any:
    name = host[0] if isinstance(host, tuple) else host
    raise OSError(f"nothing is downloaded at run time ({name})")
