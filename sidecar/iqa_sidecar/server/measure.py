"""POST /v1/measure: checks and admits a request, waits for a worker, and streams a line when each tool ends."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

import msgspec
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..settings import Settings
from ..workers.messages import Capabilities, Loaded
from ..workers.pool import Pool
from ..workers.session import Session
from .clock import milliseconds_since
from .contract import CONTRACT, MEDIA_TYPE, AnyEvent, EndEvent, ErrorEvent, ImageEvent, Problem, RequestError
from .frame import Frame, parse_frame
from .log import write
from .requests import read_body, run_while_connected


class MeasureEndpoint:
    """An ASGI application: the status is known only after decoding, and a disconnect must cancel the running tool."""

    def __init__(self, settings: Settings, pool: Pool, capabilities: Capabilities) -> None:
        self._settings = settings
        self._pool = pool
        self._capabilities = capabilities
        self._tool_names = {tool.name for tool in capabilities.tools}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self._check_headers(request)
        async with AsyncExitStack() as resources:
            # A slot is taken before the body is read: rejected bodies are never in memory.
            resources.enter_context(self._pool.admit())
            body = await read_body(request, self._settings.max_bytes)
            received = time.perf_counter()
            frame = parse_frame(body)
            self._check_tools(frame)
            if not await run_while_connected(receive, self._answer(frame, received, send, resources)):
                write(logging.INFO, "client disconnected", request_id=frame.header.request_id)

    def _check_headers(self, request: Request) -> None:
        media_type = request.headers.get("content-type", "none").split(";")[0].strip().lower()
        if media_type != MEDIA_TYPE:
            raise RequestError("MEDIA_TYPE", f"Expected {MEDIA_TYPE} but received {media_type}")
        # Absent with chunked encoding; read_body counts in any case.
        length = request.headers.get("content-length")
        limit = self._settings.max_bytes
        if length is not None and int(length) > limit:
            raise RequestError("TOO_LARGE", f"Expected at most {limit} bytes but received {length}")

    def _check_tools(self, frame: Frame) -> None:
        for tool in frame.header.tools:
            if tool.name not in self._tool_names:
                raise RequestError("UNKNOWN_TOOL", f"No such tool: {tool.name}")

    async def _answer(self, frame: Frame, received: float, send: Send, resources: AsyncExitStack) -> None:
        slot = await resources.enter_async_context(self._pool.lease())
        queue_ms = milliseconds_since(received)
        session = Session(slot, frame, self._settings.max_pixels, self._capabilities)
        loaded = await session.load()
        async with aclosing(self._lines(session, loaded, frame, received, queue_ms, resources)) as lines:
            await StreamingResponse(lines, media_type="application/x-ndjson").stream_response(send)

    async def _lines(
        self,
        session: Session,
        loaded: Loaded,
        frame: Frame,
        received: float,
        queue_ms: float,
        resources: AsyncExitStack,
    ) -> AsyncGenerator[bytes, None]:
        last: AnyEvent
        try:
            yield _encode_line(
                ImageEvent(CONTRACT, loaded.width, loaded.height, loaded.channels, queue_ms, loaded.decode_ms)
            )
            async for event in session.events():
                yield _encode_line(msgspec.structs.replace(event, elapsed_ms=milliseconds_since(received)))
        except Exception:
            write(logging.ERROR, "request failed", request_id=frame.header.request_id)
            last = ErrorEvent(Problem("INTERNAL", "The sidecar failed; see its log"))
        else:
            last = EndEvent(milliseconds_since(received))
            _log_answer(frame, queue_ms, loaded.decode_ms, last.time_ms)
        # Released before the last line: a client that reads it may send its next request at once.
        await resources.aclose()
        yield _encode_line(last)


def _encode_line(event: AnyEvent) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def _log_answer(frame: Frame, queue_ms: float, decode_ms: float, time_ms: float) -> None:
    header = frame.header
    write(
        logging.INFO,
        "request answered",
        request_id=header.request_id,
        bytes=header.image_bytes + header.reference_bytes,
        measurements=len(header.measurements),
        tools=len(header.tools),
        queue_ms=queue_ms,
        decode_ms=decode_ms,
        time_ms=time_ms,
    )
