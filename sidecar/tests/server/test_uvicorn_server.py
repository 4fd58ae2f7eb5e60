"""The listening socket."""

import socket

from iqa_sidecar.server.uvicorn_server import _bind


def test_listener_is_named_as_tcp() -> None:
    """asyncio sets TCP_NODELAY only on such sockets; without it every small answer waits 40 ms."""
    with _bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
