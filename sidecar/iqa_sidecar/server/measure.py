"""POST /v1/measure: checks and admits a request, waits for a worker, and streams a line as each tool ends."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack

import msgspec

from ..settings import Settings
from ..workers.messages import Described
from ..workers.pool import Pool
from ..workers.session import Session
from .asgi import Message, Receive, Send, find_header, read_body, run_while_connected, start_of
from .clock import milliseconds_since
from .contract import CONTRACT, MEDIA_TYPE, AnyEvent, EndEvent, ErrorEvent, ImageEvent, Problem, Refusal
from .frame import Frame, parse_frame
from .log import write


class MeasureCall:
    def __init__(self, settings: Settings, pool: Pool, described: Described) -> None:
        self._settings = settings
        self._pool = pool
        self._described = described
        self._tool_names = {tool.name for tool in described.tools}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self._check_envelope(scope)
        with ExitStack() as admission:
            admission.enter_context(self._pool.admit())
            body = await read_body(receive, self._settings.max_bytes)
            received = time.perf_counter()
            frame = parse_frame(body)
            self._check_tools(frame)
            if not await run_while_connected(receive, self._answer(frame, received, send, admission)):
                write(logging.INFO, "client hung up", request_id=frame.header.request_id)

    def _check_envelope(self, scope: Message) -> None:
        media_type = (find_header(scope, b"content-type") or "none").split(";")[0].strip().lower()
        if media_type != MEDIA_TYPE:
            raise Refusal("MEDIA_TYPE", f"Expected {MEDIA_TYPE} but received {media_type}")
        # Absent with chunked encoding; read_body counts in any case.
        length = find_header(scope, b"content-length")
        limit = self._settings.max_bytes
        if length is not None and int(length) > limit:
            raise Refusal("TOO_LARGE", f"Expected at most {limit} bytes but received {length}")

    def _check_tools(self, frame: Frame) -> None:
        for tool in frame.header.tools:
            if tool.name not in self._tool_names:
                raise Refusal("UNKNOWN_TOOL", f"No such tool: {tool.name}")

    async def _answer(self, frame: Frame, received: float, send: Send, admission: ExitStack) -> None:
        async with self._pool.lease() as place:
            queue_ms = milliseconds_since(received)
            session = Session(place, frame, self._settings.max_pixels, self._described)
            loaded = await session.load()
            await send(start_of(200, {"content-type": "application/x-ndjson"}))
            try:
                image = ImageEvent(CONTRACT, loaded.width, loaded.height, loaded.channels, queue_ms, loaded.decode_ms)
                await _send_line(send, image)
                async for event in session.events():
                    await _send_line(send, msgspec.structs.replace(event, elapsed_ms=milliseconds_since(received)))
            except Exception:
                write(logging.ERROR, "failed", request_id=frame.header.request_id)
                last: AnyEvent = ErrorEvent(Problem("INTERNAL", "The sidecar failed; its log says why"))
            else:
                last = EndEvent(milliseconds_since(received))
                _log_answer(frame, queue_ms, loaded.decode_ms, last.time_ms)
        # Before the last line: a client that reads it may send its next request at once.
        admission.close()
        await _send_line(send, last, more=False)


async def _send_line(send: Send, event: AnyEvent, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": msgspec.json.encode(event) + b"\n", "more_body": more})


def _log_answer(frame: Frame, queue_ms: float, decode_ms: float, time_ms: float) -> None:
    header = frame.header
    write(
        logging.INFO,
        "answered",
        request_id=header.request_id,
        bytes=header.image_bytes + header.reference_bytes,
        measurements=len(header.measurements),
        tools=len(header.tools),
        queue_ms=queue_ms,
        decode_ms=decode_ms,
        time_ms=time_ms,
    )
