"""A worker process: reads commands from its socket, lets the workbench do them, replies, and ends with the socket."""

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
from .runner import Workbench, load_tools


def serve_commands(commands: socket.socket, diagnostics: socket.socket, extra_tools: tuple[str, ...]) -> None:
    _settle_process(commands, diagnostics)
    try:
        workbench = Workbench(load_tools(extra_tools))
    except Exception:
        # Answers the server's first question, which then refuses to start.
        commands.sendall(encode(Failed(traceback.format_exc())))
        return
    stream = commands.makefile("rb")
    while (command := _read_command(stream)) is not None:
        if isinstance(command, Drop):
            workbench.drop()
        else:
            commands.sendall(encode(_obey(workbench, command, stream)))


def _settle_process(commands: socket.socket, diagnostics: socket.socket) -> None:
    # Ctrl-C and a service manager signal the whole group; the server decides when a worker ends, so that it can drain.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Decoders print to these; the server's standard output carries one line only and its standard error only JSON.
    os.dup2(diagnostics.fileno(), 1)
    os.dup2(diagnostics.fileno(), 2)
    # One core per worker: the pool is the parallelism.
    cv2.setNumThreads(1)
    # What was inherited from the fork server stays out of garbage collections, so that its pages stay shared.
    gc.freeze()
    threading.Thread(target=_end_with_server, args=(commands.fileno(),), daemon=True).start()


def _end_with_server(descriptor: int) -> None:
    """Ends this process when the server is gone, also in the middle of a tool that would not look at its socket."""
    poll = select.poll()
    poll.register(descriptor, 0)  # no event asked for: POLLHUP and POLLERR are always reported
    poll.poll()
    os._exit(0)


def _read_command(stream: BinaryIO) -> Command | None:
    prefix = stream.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    return decode_command(stream.read(PREFIX.unpack(prefix)[0]))


def _obey(workbench: Workbench, command: Command, stream: BinaryIO) -> Reply:
    try:
        if isinstance(command, Load):
            image = stream.read(command.image_bytes)
            return workbench.load(command, image, stream.read(command.reference_bytes))
        return workbench.obey(command)
    except Exception:
        return Failed(traceback.format_exc())
