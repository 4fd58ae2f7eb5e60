"""The entry point of a worker process, in its own module so that the server need not import numpy."""

import socket


def enter_worker(commands: socket.socket, diagnostics: socket.socket, extra_tools: tuple[str, ...]) -> None:
    from .loop import serve_commands

    serve_commands(commands, diagnostics, extra_tools)
