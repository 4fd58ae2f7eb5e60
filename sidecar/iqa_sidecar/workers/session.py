"""One request's work: drives a worker command by command, and goes on with a fresh one when it hangs or dies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator

from ..server.clock import milliseconds_since
from ..server.contract import MeasurementsEvent, Refusal, ToolErrorCode, ToolEvent, ToolProblem
from ..server.frame import Frame
from .messages import Described, Load, Loaded, Measure, Measured, Ran, Refused, Reply, Run
from .pool import Place
from .process import WorkerDied, WorkerProcess, WorkerTimeout

# The contract limits tools only; a picture within the pixel limit takes a second or two.
LOAD_SECONDS = 30.0
# A worker may die of something that was not the tool's fault, the kernel's memory killer for one.
ATTEMPTS = 2


class Session:
    def __init__(self, place: Place, frame: Frame, max_pixels: int, described: Described) -> None:
        header = frame.header
        self._place = place
        self._frame = frame
        self._described = described
        self._timeout = header.tool_timeout_ms / 1000
        self._load = Load(
            header.image_bytes,
            header.reference_bytes,
            header.regions,
            header.jpeg_quality,
            max_pixels,
            list(dict.fromkeys(tool.name for tool in header.tools)),
        )
        # The worker that holds our pictures.
        self._loaded: WorkerProcess | None = None

    async def load(self) -> Loaded:
        """Decodes the pictures; raises Refusal when that cannot be done."""
        for _ in range(ATTEMPTS):
            try:
                reply = await self._load_into(await self._place.worker())
            except (WorkerDied, WorkerTimeout) as error:
                await self._discard(error, "decoding")
                continue
            if isinstance(reply, Loaded):
                return reply
            if isinstance(reply, Refused):
                raise Refusal(reply.code, reply.message)
            raise RuntimeError(f"Expected decoded pictures but received {reply}")
        raise Refusal("UNDECODABLE_IMAGE", f"The decoder crashed or hung {ATTEMPTS} times")

    async def events(self) -> AsyncIterator[MeasurementsEvent | ToolEvent]:
        """The lines of the answer as they are ready, in the order asked."""
        header = self._frame.header
        uses = Counter([*header.measurements, *(tool.region for tool in header.tools)])
        for region in header.measurements:
            uses[region] -= 1
            yield await self._ask(Measure(region, last=uses[region] == 0))
        for tool in header.tools:
            uses[tool.region] -= 1
            yield await self._ask(Run(tool.name, tool.region, tool.map, last=uses[tool.region] == 0))

    async def _ask(self, command: Measure | Run) -> MeasurementsEvent | ToolEvent:
        started = time.perf_counter()
        what = command.tool if isinstance(command, Run) else "measurements"
        for _ in range(ATTEMPTS):
            try:
                worker = await self._place.worker()
                if worker is not self._loaded:
                    await self._load_into(worker)
                reply = await worker.call(command, timeout=self._timeout)
            except WorkerTimeout as error:
                await self._discard(error, what)
                message = f"{what} took longer than {self._frame.header.tool_timeout_ms} ms"
                return self._failure(command, started, "TOOL_TIMEOUT", message)
            except WorkerDied as error:
                await self._discard(error, what)
                continue
            if isinstance(reply, Measured | Ran):
                return reply.event
            raise RuntimeError(f"Expected a result of {what} but received {reply}")
        return self._failure(command, started, "TOOL_CRASHED", f"The worker died {ATTEMPTS} times while running {what}")

    async def _load_into(self, worker: WorkerProcess) -> Reply:
        reply = await worker.call(self._load, self._frame.image, self._frame.reference, timeout=LOAD_SECONDS)
        self._loaded = worker
        return reply

    async def _discard(self, error: WorkerDied | WorkerTimeout, what: str) -> None:
        why = "it took too long" if isinstance(error, WorkerTimeout) else "it died"
        await self._place.discard(why, task=what, request_id=self._frame.header.request_id)

    def _failure(
        self, command: Measure | Run, started: float, code: ToolErrorCode, message: str
    ) -> MeasurementsEvent | ToolEvent:
        problem = ToolProblem(code, message)
        elapsed = milliseconds_since(started)
        if isinstance(command, Measure):
            version = self._described.measurements.version
            return MeasurementsEvent(command.region, {}, None, version, elapsed, problem)
        version = next(tool.version for tool in self._described.tools if tool.name == command.tool)
        return ToolEvent(command.tool, command.region, None, version, elapsed, None, problem)
