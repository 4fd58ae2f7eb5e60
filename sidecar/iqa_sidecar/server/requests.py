"""Reads a request body within limits, and runs work that stops when the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.types import Receive

from .contract import RequestError

# A client that stops sending must not keep its slot.
BODY_SECONDS = 60.0


async def read_body(request: Request, max_bytes: int) -> bytearray:
    """Raises RequestError, or starlette's ClientDisconnect."""
    try:
        return await asyncio.wait_for(_collect_body(request, max_bytes), BODY_SECONDS)
    except asyncio.TimeoutError as error:
        raise RequestError("BAD_FRAME", f"Expected the whole body within {BODY_SECONDS:.0f} s") from error


async def run_while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> bool:
    """False when the client disconnected first; the work was then cancelled."""
    working = asyncio.ensure_future(work)
    listening = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({working, listening}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        working.result()
        return True
    finally:
        working.cancel()
        listening.cancel()
        await asyncio.gather(working, listening, return_exceptions=True)
        # An error's traceback holds this frame, the frame the task, the task the error: a cycle with the whole body.
        del working


async def _collect_body(request: Request, max_bytes: int) -> bytearray:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise RequestError("TOO_LARGE", f"Expected at most {max_bytes} bytes but received more")
    return body


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
