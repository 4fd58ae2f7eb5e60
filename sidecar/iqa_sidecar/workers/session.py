"""Runs one request: sends a worker command after command, and continues with a new worker if it hangs or dies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator

from ..server.clock import milliseconds_since
from ..server.contract import MeasurementsEvent, RequestError, ToolErrorCode, ToolEvent, ToolProblem
from ..server.frame import Frame
from .messages import Capabilities, Load, Loaded, Measure, Measured, Ran, Rejected, Reply, Run
from .pool import WorkerSlot
from .process import WorkerDiedError, WorkerProcess, WorkerTimeoutError

# Decoding has no limit in the contract; an image within the pixel limit takes a second or two.
LOAD_SECONDS = 30.0
# A worker may die for a reason other than the tool, such as the kernel's out-of-memory killer.
ATTEMPTS = 2


class Session:
    def __init__(self, slot: WorkerSlot, frame: Frame, max_pixels: int, capabilities: Capabilities) -> None:
        header = frame.header
        self._slot = slot
        self._frame = frame
        self._capabilities = capabilities
        self._timeout = header.tool_timeout_ms / 1000
        self._load = Load(
            header.image_bytes,
            header.reference_bytes,
            header.regions,
            header.jpeg_quality,
            max_pixels,
            list(dict.fromkeys(tool.name for tool in header.tools)),
        )
        # The worker that holds the images.
        self._loaded: WorkerProcess | None = None

    async def load(self) -> Loaded:
        """Decodes the images; raises RequestError if they cannot be decoded."""
        for _ in range(ATTEMPTS):
            try:
                reply = await self._load_into(await self._slot.worker())
            except (WorkerDiedError, WorkerTimeoutError) as error:
                await self._replace_worker(error, "decoding")
                continue
            if isinstance(reply, Loaded):
                return reply
            if isinstance(reply, Rejected):
                raise RequestError(reply.code, reply.message)
            raise RuntimeError(f"Expected decoded images but received {reply}")
        raise RequestError("UNDECODABLE_IMAGE", f"The decoder crashed or hung {ATTEMPTS} times")

    async def events(self) -> AsyncIterator[MeasurementsEvent | ToolEvent]:
        """The lines of the answer when each is ready, in the order of the request."""
        header = self._frame.header
        uses = Counter([*header.measurements, *(tool.region for tool in header.tools)])
        for region in header.measurements:
            uses[region] -= 1
            yield await self._ask(Measure(region, last=uses[region] == 0))
        for tool in header.tools:
            uses[tool.region] -= 1
            yield await self._ask(Run(tool.name, tool.region, tool.map, tool.grid, last=uses[tool.region] == 0))

    async def _ask(self, command: Measure | Run) -> MeasurementsEvent | ToolEvent:
        started = time.perf_counter()
        what = command.tool if isinstance(command, Run) else "measurements"
        for _ in range(ATTEMPTS):
            try:
                worker = await self._slot.worker()
                if worker is not self._loaded:
                    await self._load_into(worker)
                reply = await worker.call(command, timeout=self._timeout)
            except WorkerTimeoutError as error:
                await self._replace_worker(error, what)
                message = f"{what} took longer than {self._frame.header.tool_timeout_ms} ms"
                return self._build_failure(command, started, "TOOL_TIMEOUT", message)
            except WorkerDiedError as error:
                await self._replace_worker(error, what)
                continue
            if isinstance(reply, Measured | Ran):
                return reply.event
            raise RuntimeError(f"Expected a result of {what} but received {reply}")
        return self._build_failure(
            command, started, "TOOL_CRASHED", f"The worker died {ATTEMPTS} times while running {what}"
        )

    async def _load_into(self, worker: WorkerProcess) -> Reply:
        reply = await worker.call(self._load, self._frame.image, self._frame.reference, timeout=LOAD_SECONDS)
        self._loaded = worker
        return reply

    async def _replace_worker(self, error: WorkerDiedError | WorkerTimeoutError, what: str) -> None:
        why = "it took too long" if isinstance(error, WorkerTimeoutError) else "it died"
        await self._slot.replace(why, task=what, request_id=self._frame.header.request_id)

    def _build_failure(
        self, command: Measure | Run, started: float, code: ToolErrorCode, message: str
    ) -> MeasurementsEvent | ToolEvent:
        problem = ToolProblem(code, message)
        elapsed = milliseconds_since(started)
        if isinstance(command, Measure):
            version = self._capabilities.measurements.version
            return MeasurementsEvent(command.region, {}, None, version, elapsed, problem)
        version = next(tool.version for tool in self._capabilities.tools if tool.name == command.tool)
        return ToolEvent(command.tool, command.region, None, version, elapsed, None, None, problem)
