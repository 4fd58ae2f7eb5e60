"""A worker process: reads commands from its socket, runs them, replies, and ends when the socket closes."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import threading
import traceback
from typing import BinaryIO

import cv2

from .messages import PREFIX, Command, Drop, Failed, Load, Reply, decode_command, encode
from .runner import ToolRunner, load_tools


def serve_commands(commands: socket.socket, diagnostics: socket.socket, extra_tools: tuple[str, ...]) -> None:
    _configure_process(commands, diagnostics)
    try:
        runner = ToolRunner(load_tools(extra_tools))
    except Exception:
        # Replies to the server's first command; the server then fails to start.
        commands.sendall(encode(Failed(traceback.format_exc())))
        return
    stream = commands.makefile("rb")
    while (command := _read_command(stream)) is not None:
        if isinstance(command, Drop):
            runner.drop()
        else:
            commands.sendall(encode(_handle(runner, command, stream)))


def _configure_process(commands: socket.socket, diagnostics: socket.socket) -> None:
    # Ctrl-C and service managers signal the whole process group, but workers must live until the server has drained.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Decoders print to these. The server's standard output has one line only, its standard error only JSON.
    os.dup2(diagnostics.fileno(), 1)
    os.dup2(diagnostics.fileno(), 2)
    # One core per worker: the pool is the only parallelism.
    cv2.setNumThreads(1)
    # Objects inherited from the fork server are not garbage-collected, so that their pages stay shared.
    gc.freeze()
    threading.Thread(target=_end_with_server, args=(commands.fileno(),), daemon=True).start()


def _end_with_server(descriptor: int) -> None:
    """Ends this process when the server is gone, even while a tool runs."""
    poll = select.poll()
    poll.register(descriptor, 0)  # POLLHUP and POLLERR are always reported
    poll.poll()
    os._exit(0)


def _read_command(stream: BinaryIO) -> Command | None:
    prefix = stream.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    return decode_command(stream.read(PREFIX.unpack(prefix)[0]))


def _handle(runner: ToolRunner, command: Command, stream: BinaryIO) -> Reply:
    try:
        if isinstance(command, Load):
            image = stream.read(command.image_bytes)
            return runner.load(command, image, stream.read(command.reference_bytes))
        return runner.handle(command)
    except Exception:
        return Failed(traceback.format_exc())
