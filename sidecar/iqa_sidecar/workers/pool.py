"""The worker pool: a bounded queue in front of a fixed number of slots, each with a replaceable worker."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from ..server.clock import milliseconds_since
from ..server.contract import QueueInfo, RequestError, WorkersInfo
from ..server.log import write
from ..settings import Settings
from .messages import Capabilities, Describe, Failed, Reply
from .process import WorkerDiedError, WorkerProcess, WorkerTimeoutError

# After a disconnect, a tool may take this long to end before its worker is replaced.
ABANDON_SECONDS = 0.05


class WorkerSlot:
    """Holds one worker process, and starts another when it is lost."""

    def __init__(self, extra_tools: tuple[str, ...], start_seconds: float) -> None:
        self._extra_tools = extra_tools
        self._start_seconds = start_seconds
        self._starting: asyncio.Task[None] | None = None
        self.capabilities: Capabilities | None = None
        self.current: WorkerProcess | None = None
        self.replaced = 0

    async def worker(self) -> WorkerProcess:
        """The current worker; a new one if the last was lost."""
        if self.current is not None and not await self.current.is_ready(timeout=0):
            await self.replace("it died while idle")
        while self.current is None:
            if self._starting is None:
                self._starting = asyncio.ensure_future(self._start())
            # Shielded: a disconnect must not leave a worker half started.
            await asyncio.shield(self._starting)
        return self.current

    async def replace(self, why: str, **fields: object) -> None:
        worker, self.current = self.current, None
        if worker is not None:
            self.replaced += 1
            write(logging.WARNING, "worker replaced", why=why, worker=worker.pid, **fields)
            await worker.end()

    async def _start(self) -> None:
        started = time.perf_counter()
        try:
            worker = await WorkerProcess.start(self._extra_tools)
            self.capabilities = await self._await_readiness(worker)
            self.current = worker
        finally:
            self._starting = None
        write(logging.DEBUG, "worker started", worker=worker.pid, time_ms=milliseconds_since(started))

    async def _await_readiness(self, worker: WorkerProcess) -> Capabilities:
        """Waits until the worker has imported everything, which must not count against a tool's time limit."""
        reply: Reply
        try:
            reply = await worker.call(Describe(), timeout=self._start_seconds)
        except (WorkerDiedError, WorkerTimeoutError) as error:
            reply = Failed(f"{type(error).__name__} within {self._start_seconds} s")
        if isinstance(reply, Capabilities):
            return reply
        await worker.end()
        raise RuntimeError(f"Expected a worker to start but received {reply}")


class Pool:
    def __init__(self, settings: Settings) -> None:
        self._limit = settings.workers + settings.queue
        self._queue_limit = settings.queue
        self._slots = [WorkerSlot(settings.extra_tools, settings.start_seconds) for _ in range(settings.workers)]
        self._idle: asyncio.Queue[WorkerSlot] = asyncio.Queue()
        self._returning: set[asyncio.Task[None]] = set()
        self._admitted = 0
        self._running = 0
        # Moving average, seconds.
        self._request_seconds = 1.0

    async def start(self) -> Capabilities:
        """Starts all workers; all have the same capabilities."""
        await asyncio.gather(*(slot.worker() for slot in self._slots))
        for slot in self._slots:
            self._idle.put_nowait(slot)
        capabilities = self._slots[0].capabilities
        if capabilities is None:
            raise RuntimeError("Expected a worker to describe its tools but it did not")
        return capabilities

    async def close(self) -> None:
        for task in self._returning:
            task.cancel()
        await asyncio.gather(*self._returning, return_exceptions=True)
        await asyncio.gather(*(slot.current.end() for slot in self._slots if slot.current is not None))

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Admits one request, or raises BUSY. Called before its body is read: rejected bodies are never in memory."""
        if self._admitted >= self._limit:
            waiting = self._admitted - self._running
            seconds = math.ceil(self._request_seconds * (waiting + 1) / len(self._slots))
            message = f"The queue is full: {self._running} running, {waiting} waiting"
            raise RequestError("BUSY", message, retry_after=max(1, seconds))
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    @asynccontextmanager
    async def lease(self) -> AsyncIterator[WorkerSlot]:
        """A worker slot for one request, first come first served."""
        slot = await self._idle.get()
        started = time.perf_counter()
        self._running += 1
        try:
            yield slot
        finally:
            self._running -= 1
            self._request_seconds += 0.2 * (time.perf_counter() - started - self._request_seconds)
            task = asyncio.ensure_future(self._recycle(slot))
            self._returning.add(task)
            task.add_done_callback(self._returning.discard)

    async def _recycle(self, slot: WorkerSlot) -> None:
        try:
            if slot.current is not None and not await slot.current.is_ready(ABANDON_SECONDS):
                await slot.replace("its client disconnected")
            (await slot.worker()).drop()
        except Exception:
            # The next request tries again.
            write(logging.ERROR, "worker failed to start")
        self._idle.put_nowait(slot)

    @property
    def workers_info(self) -> WorkersInfo:
        return WorkersInfo(len(self._slots), self._running, sum(slot.replaced for slot in self._slots))

    @property
    def queue_info(self) -> QueueInfo:
        return QueueInfo(self._admitted - self._running, self._queue_limit)
