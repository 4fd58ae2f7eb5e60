"""Blocks network access in workers: weights are mounted, and a library that tries to download one fails at once."""

from __future__ import annotations

import socket
from typing import Any


def go_offline() -> None:
    """Workers need no name resolution: they use an inherited socket pair."""
    for function in ("getaddrinfo", "create_connection"):
        setattr(socket, function, _refuse)


def _refuse(host: Any, *_: Any, **__: Any) -> Any:
    name = host[0] if isinstance(host, tuple) else host
    raise OSError(f"downloads are disabled at run time ({name})")
