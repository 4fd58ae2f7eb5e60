"""The server's side of one worker: starts the process, sends commands, reads replies, kills it."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import multiprocessing.forkserver
import os
import socket
import threading
import time
from multiprocessing.context import ForkServerProcess

from ..server.log import write
from .entry import enter_worker
from .messages import PREFIX, Command, Drop, Reply, decode_reply, encode

# Files are sent in chunks, because the stream would otherwise buffer a second copy of each.
CHUNK_BYTES = 2**18

_START_ATTEMPTS = 6
# Seconds before the second attempt; doubled each time.
_START_BACKOFF = 0.02

# multiprocessing keeps its children in a plain set, which several threads change.
_children_lock = threading.Lock()


class WorkerDiedError(Exception):
    """The process ended without a reply."""


class WorkerTimeoutError(Exception):
    """No reply in time; the worker is still busy."""


def start_fork_server(extra_tools: tuple[str, ...]) -> None:
    """Returns at once. The fork server imports the heavy modules; workers are forked from it and share that memory."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        # One core per worker: the pool is the only parallelism.
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")
    # A failed import is ignored here; the worker imports the module again and reports the error.
    multiprocessing.forkserver.set_forkserver_preload(["iqa_sidecar.workers.loop", *extra_tools])
    multiprocessing.forkserver.ensure_running()


class WorkerProcess:
    def __init__(
        self,
        process: ForkServerProcess,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        stderr_task: asyncio.Task[None],
    ) -> None:
        self.pid = process.pid
        self._process = process
        self._reader = reader
        self._writer = writer
        self._stderr_task = stderr_task
        self._pending: asyncio.Task[Reply] | None = None

    @classmethod
    async def start(cls, extra_tools: tuple[str, ...]) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        our_stderr, their_stderr = socket.socketpair()
        # Closed here, so that the worker holds the only other end and its death ends the stream.
        with theirs, their_stderr:
            context = multiprocessing.get_context("forkserver")
            process = context.Process(target=enter_worker, args=(theirs, their_stderr, extra_tools), daemon=True)
            await asyncio.to_thread(_start, process)
        reader, writer = await asyncio.open_connection(sock=ours)
        return cls(process, reader, writer, asyncio.ensure_future(_log_stderr(our_stderr, process.pid)))

    async def call(self, command: Command, *files: memoryview, timeout: float) -> Reply:
        """Raises WorkerDiedError or WorkerTimeoutError. When cancelled, the reply is still pending: see `is_ready`."""
        # A separate task: neither a timeout nor a cancellation may stop it halfway through a message.
        reply = self._pending = asyncio.ensure_future(self._exchange(command, files))
        done, _ = await asyncio.wait({reply}, timeout=timeout)
        if not done:
            raise WorkerTimeoutError
        self._pending = None
        return reply.result()

    async def is_ready(self, timeout: float) -> bool:
        """Whether it can serve another request; waits up to `timeout` seconds for a pending reply."""
        if self._pending is not None:
            done, _ = await asyncio.wait({self._pending}, timeout=timeout)
            if not done or self._pending.exception() is not None:
                return False
            self._pending = None
        return not self._reader.at_eof() and not self._writer.is_closing()

    def drop(self) -> None:
        self._writer.write(encode(Drop()))

    async def end(self) -> None:
        # SIGKILL: native code does not react to other signals, and a worker has nothing to save.
        if self._process.is_alive():
            self._process.kill()
        self._writer.close()
        await asyncio.to_thread(_reap, self._process)
        done, _ = await asyncio.wait({self._stderr_task, *([self._pending] if self._pending else [])}, timeout=1)
        for task in done:
            # Retrieved, so that asyncio does not log the expected failure.
            if not task.cancelled():
                task.exception()

    async def _exchange(self, command: Command, files: tuple[memoryview, ...]) -> Reply:
        try:
            self._writer.write(encode(command))
            for file in files:
                for start in range(0, len(file), CHUNK_BYTES):
                    self._writer.write(file[start : start + CHUNK_BYTES])
                    await self._writer.drain()
            prefix = await self._reader.readexactly(PREFIX.size)
            return decode_reply(await self._reader.readexactly(PREFIX.unpack(prefix)[0]))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerDiedError from error


def _start(process: ForkServerProcess) -> None:
    """Retries, because a fork server that is being killed still looks alive; a later attempt starts another."""
    for attempt in range(_START_ATTEMPTS):
        try:
            with _children_lock:
                process.start()
                return
        except (OSError, EOFError):
            if attempt == _START_ATTEMPTS - 1:
                raise
        time.sleep(_START_BACKOFF * 2**attempt)


def _reap(process: ForkServerProcess) -> None:
    with _children_lock:
        process.join(timeout=5)
        if not process.is_alive():
            process.close()


async def _log_stderr(stderr: socket.socket, pid: int | None) -> None:
    """Logs what decoders and a crashing interpreter print."""
    reader, writer = await asyncio.open_connection(sock=stderr)
    try:
        while line := await reader.readline():
            write(logging.WARNING, "worker output", worker=pid, text=line.decode(errors="replace").rstrip())
    except (OSError, ValueError):  # the worker died, or a line is longer than the buffer
        pass
    finally:
        writer.close()
