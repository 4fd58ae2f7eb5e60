"""The few ASGI pieces the app needs: bodies in, JSON out, and work that stops when the client hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

import msgspec

from .contract import STATUS, ErrorBody, Problem, Refusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# A client that stops sending must not keep its place in the queue.
BODY_SECONDS = 60.0


class Disconnected(Exception):  # noqa: N818 - named after what happened
    """The client hung up before its body was complete."""


def find_header(scope: Message, name: bytes) -> str | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value.decode("latin-1") for key, value in headers if key == name), None)


async def read_body(receive: Receive, max_bytes: int) -> bytearray:
    try:
        return await asyncio.wait_for(_collect_body(receive, max_bytes), BODY_SECONDS)
    except asyncio.TimeoutError as error:
        raise Refusal("BAD_FRAME", f"Expected the whole body within {BODY_SECONDS:.0f} s") from error


async def send_json(send: Send, body: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    fields = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
    await send(start_of(status, fields))
    await send({"type": "http.response.body", "body": data})


async def send_refusal(send: Send, refusal: Refusal) -> None:
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    await send_json(send, ErrorBody(Problem(refusal.code, refusal.message)), STATUS[refusal.code], headers)


def start_of(status: int, headers: dict[str, str]) -> Message:
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


async def run_while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> bool:
    """False when the client hung up first; the work was then cancelled."""
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
        # A refusal's traceback holds this frame, which holds the task, which holds the refusal: with the whole body.
        del working


async def _collect_body(receive: Receive, max_bytes: int) -> bytearray:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise Refusal("TOO_LARGE", f"Expected at most {max_bytes} bytes but received more")
        if not message.get("more_body", False):
            return body


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
