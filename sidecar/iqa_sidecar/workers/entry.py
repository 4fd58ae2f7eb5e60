"""The first function of a worker process, apart from it so that the server can name it without importing numpy."""

import socket


def enter_worker(commands: socket.socket, diagnostics: socket.socket, extra_tools: tuple[str, ...]) -> None:
    from .loop import serve_commands

    serve_commands(commands, diagnostics, extra_tools)
