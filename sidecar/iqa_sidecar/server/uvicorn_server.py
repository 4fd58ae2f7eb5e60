"""Starts the pool, listens, prints the address on standard output, and drains on a signal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import msgspec
import uvicorn
from starlette.applications import Starlette

from ..settings import Settings
from ..workers.pool import Pool
from .app import build_app


async def serve(settings: Settings) -> None:
    pool = Pool(settings)
    try:
        capabilities = await pool.start()
        with _bind(settings.host, settings.port) as listener:
            server = _create_server(build_app(settings, pool, capabilities), settings)
            _end_on_request(server, settings)
            await server.serve(sockets=[listener])
    finally:
        await pool.close()


class Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            line = msgspec.json.encode({"event": "listening", "host": host, "port": port, "pid": os.getpid()})
            print(line.decode(), flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's version raises the signal again after draining, so a clean exit would not have exit code 0.
        yield


def _bind(host: str, port: int) -> socket.socket:
    """Binds before serving, so that a port chosen by the kernel is known."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, because asyncio sets TCP_NODELAY only on such sockets; without it every answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def _create_server(app: Starlette, settings: Settings) -> Server:
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Longer than clients keep idle connections, so that none sends into a closing one.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=settings.grace,
    )
    return Server(config)


def _end_on_request(server: Server, settings: Settings) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    if settings.exit_with_stdin:
        threading.Thread(target=_wait_for_stdin, args=(loop, end), daemon=True).start()


def _wait_for_stdin(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    # Not sys.stdin: a thread blocked in its read would hold its lock while the interpreter shuts down.
    while os.read(0, 4096):
        pass
    # The loop is already closed: nothing left to stop.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(end)
