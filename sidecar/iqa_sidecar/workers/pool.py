"""The worker pool: a bounded queue in front of a fixed number of places, each with a worker that can be replaced."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from ..server.clock import milliseconds_since
from ..server.contract import QueueInfo, Refusal, WorkersInfo
from ..server.log import write
from ..settings import Settings
from .messages import Describe, Described, Failed, Reply
from .process import WorkerDied, WorkerProcess, WorkerTimeout

# A client that hangs up in the middle of a tool: shorter ones may end, longer ones would only heat the core.
ABANDON_SECONDS = 0.05


class Place:
    """Where one worker stands. It outlives its workers."""

    def __init__(self, extra_tools: tuple[str, ...], start_seconds: float) -> None:
        self._extra_tools = extra_tools
        self._start_seconds = start_seconds
        self._starting: asyncio.Task[None] | None = None
        # What the last worker said it can run.
        self.described: Described | None = None
        self.current: WorkerProcess | None = None
        self.replaced = 0

    async def worker(self) -> WorkerProcess:
        """The worker that stands here; a new one if the last was lost."""
        if self.current is not None and not await self.current.is_ready(patience=0):
            await self.discard("it died while idle")
        while self.current is None:
            if self._starting is None:
                self._starting = asyncio.ensure_future(self._start())
            # Shielded: a client that hangs up must not leave a worker half started.
            await asyncio.shield(self._starting)
        return self.current

    async def discard(self, why: str, **fields: object) -> None:
        worker, self.current = self.current, None
        if worker is not None:
            self.replaced += 1
            write(logging.WARNING, "worker replaced", why=why, worker=worker.pid, **fields)
            await worker.end()

    async def _start(self) -> None:
        started = time.perf_counter()
        try:
            worker = await WorkerProcess.start(self._extra_tools)
            self.described = await self._await_readiness(worker)
            self.current = worker
        finally:
            self._starting = None
        write(logging.DEBUG, "worker started", worker=worker.pid, time_ms=milliseconds_since(started))

    async def _await_readiness(self, worker: WorkerProcess) -> Described:
        """A worker answers once it has loaded everything: a tool's time limit must not run out on that."""
        reply: Reply
        try:
            reply = await worker.call(Describe(), timeout=self._start_seconds)
        except (WorkerDied, WorkerTimeout) as error:
            reply = Failed(f"{type(error).__name__} within {self._start_seconds} s")
        if isinstance(reply, Described):
            return reply
        await worker.end()
        raise RuntimeError(f"A worker could not start: {reply}")


class Pool:
    def __init__(self, settings: Settings) -> None:
        self._limit = settings.workers + settings.queue
        self._queue_limit = settings.queue
        self._places = [Place(settings.extra_tools, settings.start_seconds) for _ in range(settings.workers)]
        self._idle: asyncio.Queue[Place] = asyncio.Queue()
        self._returning: set[asyncio.Task[None]] = set()
        self._admitted = 0
        self._running = 0
        # Moving average of how long a request holds a worker.
        self._seconds = 1.0

    async def start(self) -> Described:
        """Starts all workers; what one can run, all can."""
        await asyncio.gather(*(place.worker() for place in self._places))
        for place in self._places:
            self._idle.put_nowait(place)
        described = self._places[0].described
        if described is None:
            raise RuntimeError("Expected a worker to say what it can run but it did not")
        return described

    async def close(self) -> None:
        for task in self._returning:
            task.cancel()
        await asyncio.gather(*self._returning, return_exceptions=True)
        await asyncio.gather(*(place.current.end() for place in self._places if place.current is not None))

    @contextmanager
    def admit(self) -> Iterator[None]:
        """A place in the queue, or BUSY: taken before the body is read, so that refused bodies are never in memory."""
        if self._admitted >= self._limit:
            waiting = self._admitted - self._running
            seconds = math.ceil(self._seconds * (waiting + 1) / len(self._places))
            message = f"The queue is full: {self._running} running, {waiting} waiting"
            raise Refusal("BUSY", message, retry_after=max(1, seconds))
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    @asynccontextmanager
    async def lease(self) -> AsyncIterator[Place]:
        """A worker's place for one request, first come first served."""
        place = await self._idle.get()
        started = time.perf_counter()
        self._running += 1
        try:
            yield place
        finally:
            self._running -= 1
            self._seconds += 0.2 * (time.perf_counter() - started - self._seconds)
            task = asyncio.ensure_future(self._take_back(place))
            self._returning.add(task)
            task.add_done_callback(self._returning.discard)

    async def _take_back(self, place: Place) -> None:
        try:
            if place.current is not None and not await place.current.is_ready(ABANDON_SECONDS):
                await place.discard("its client hung up")
            (await place.worker()).drop()
        except Exception:
            # The next request tries again.
            write(logging.ERROR, "worker not started")
        self._idle.put_nowait(place)

    @property
    def workers_info(self) -> WorkersInfo:
        return WorkersInfo(len(self._places), self._running, sum(place.replaced for place in self._places))

    @property
    def queue_info(self) -> QueueInfo:
        return QueueInfo(self._admitted - self._running, self._queue_limit)
