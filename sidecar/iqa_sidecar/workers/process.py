"""The server's side of one worker: starts the process, sends it commands, reads its replies, ends it."""

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

# Files go in pieces, or the stream would keep a second copy of each.
CHUNK_BYTES = 2**18

_START_ATTEMPTS = 6
# Seconds before the second try; doubled each time.
_START_PAUSE = 0.02

# multiprocessing keeps its children in a plain set; starts and ends come from several threads.
_one_at_a_time = threading.Lock()


class WorkerDied(Exception):  # noqa: N818 - named after what happened
    """The process ended without a reply."""


class WorkerTimeout(Exception):  # noqa: N818 - named after what happened
    """No reply in time; the worker is still at it."""


def start_fork_server(extra_tools: tuple[str, ...]) -> None:
    """Returns at once. The fork server imports the heavy modules; every worker is a copy that shares its memory."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        # One core per worker: the pool is the parallelism.
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")
    # A name that cannot be imported is passed over here; the worker imports it again and then says so.
    multiprocessing.forkserver.set_forkserver_preload(["iqa_sidecar.workers.loop", *extra_tools])
    multiprocessing.forkserver.ensure_running()


class WorkerProcess:
    def __init__(
        self,
        process: ForkServerProcess,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        diary: asyncio.Task[None],
    ) -> None:
        self.pid = process.pid
        self._process = process
        self._reader = reader
        self._writer = writer
        self._diary = diary
        self._pending: asyncio.Task[Reply] | None = None

    @classmethod
    async def start(cls, extra_tools: tuple[str, ...]) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        our_diary, their_diary = socket.socketpair()
        # The worker must hold the only other ends, or its death would not be seen here as the end of the stream.
        with theirs, their_diary:
            context = multiprocessing.get_context("forkserver")
            process = context.Process(target=enter_worker, args=(theirs, their_diary, extra_tools), daemon=True)
            await asyncio.to_thread(_start, process)
        reader, writer = await asyncio.open_connection(sock=ours)
        return cls(process, reader, writer, asyncio.ensure_future(_log_diary(our_diary, process.pid)))

    async def call(self, command: Command, *files: memoryview, timeout: float) -> Reply:
        """Raises WorkerDied or WorkerTimeout. When cancelled, the reply stays due: see `is_ready`."""
        # A task of its own, which neither a timeout nor a cancellation stops halfway through a message.
        reply = self._pending = asyncio.ensure_future(self._exchange(command, files))
        done, _ = await asyncio.wait({reply}, timeout=timeout)
        if not done:
            raise WorkerTimeout
        self._pending = None
        return reply.result()

    async def is_ready(self, patience: float) -> bool:
        """Whether it can serve another request, given so many seconds to end what it is at."""
        if self._pending is not None:
            done, _ = await asyncio.wait({self._pending}, timeout=patience)
            if not done or self._pending.exception() is not None:
                return False
            self._pending = None
        return not self._reader.at_eof() and not self._writer.is_closing()

    def drop(self) -> None:
        self._writer.write(encode(Drop()))

    async def end(self) -> None:
        # SIGKILL: a tool deep in native code hears nothing else, and a worker has nothing to save.
        if self._process.is_alive():
            self._process.kill()
        self._writer.close()
        await asyncio.to_thread(_reap, self._process)
        done, _ = await asyncio.wait({self._diary, *([self._pending] if self._pending else [])}, timeout=1)
        for task in done:
            # Its failure is known: it was ended. Asked for, so that asyncio does not report it as forgotten.
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
            raise WorkerDied from error


def _start(process: ForkServerProcess) -> None:
    """A fork server that is just being killed still looks alive: a later try finds it gone, and starts another."""
    for attempt in range(_START_ATTEMPTS):
        try:
            with _one_at_a_time:
                process.start()
                return
        except (OSError, EOFError):
            if attempt == _START_ATTEMPTS - 1:
                raise
        time.sleep(_START_PAUSE * 2**attempt)


def _reap(process: ForkServerProcess) -> None:
    with _one_at_a_time:
        process.join(timeout=5)
        if not process.is_alive():
            process.close()


async def _log_diary(diary: socket.socket, pid: int | None) -> None:
    """What decoders and a dying interpreter print, as lines of our log."""
    reader, writer = await asyncio.open_connection(sock=diary)
    try:
        while line := await reader.readline():
            write(logging.WARNING, "worker printed", worker=pid, text=line.decode(errors="replace").rstrip())
    except (OSError, ValueError):  # reset by its death, or a line longer than the buffer
        pass
    finally:
        writer.close()
