"""The HTTP edge: finds the call, and turns every refusal and every fault into its answer in one place."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import msgspec

from .. import __version__
from ..settings import Settings
from ..workers.messages import Described
from ..workers.pool import Pool
from .asgi import Disconnected, Message, Receive, Send, send_json, send_refusal
from .contract import CONTRACT, MAX_REGIONS, MAX_TOOLS, HealthBody, Limits, Refusal, ToolsBody
from .log import write
from .measure import MeasureCall
from .openapi import build_openapi

Handler = Callable[[Message, Receive, Send], Awaitable[None]]


class App:
    """An ASGI application."""

    def __init__(self, settings: Settings, pool: Pool, described: Described) -> None:
        self._pool = pool
        limits = Limits(settings.max_bytes, settings.max_pixels, MAX_REGIONS, MAX_TOOLS)
        self._tools = msgspec.json.encode(
            ToolsBody(CONTRACT, __version__, described.tools, described.measurements, limits)
        )
        self._openapi = msgspec.json.encode(build_openapi())
        self._routes: dict[str, tuple[str, Handler]] = {
            "/v1/measure": ("POST", MeasureCall(settings, pool, described)),
            "/v1/tools": ("GET", self._list_tools),
            "/v1/health": ("GET", self._report_health),
            "/openapi.json": ("GET", self._show_openapi),
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            await self._find_handler(scope)(scope, receive, send)
        except Refusal as refusal:
            write(logging.INFO, "refused", path=scope["path"], code=refusal.code, reason=refusal.message)
            await send_refusal(send, refusal)
        except Disconnected:
            write(logging.INFO, "client hung up", path=scope["path"])
        except Exception:
            write(logging.ERROR, "failed", path=scope["path"])
            await send_refusal(send, Refusal("INTERNAL", "The sidecar failed; its log says why"))

    def _find_handler(self, scope: Message) -> Handler:
        path, method = scope["path"], scope["method"]
        if path not in self._routes:
            raise Refusal("NOT_FOUND", f"No such call: {path}")
        expected, handler = self._routes[path]
        if method != expected:
            raise Refusal("METHOD_NOT_ALLOWED", f"Expected {expected} for {path} but received {method}")
        return handler

    async def _list_tools(self, _scope: Message, _receive: Receive, send: Send) -> None:
        await send_json(send, self._tools)

    async def _report_health(self, _scope: Message, _receive: Receive, send: Send) -> None:
        body = HealthBody(CONTRACT, "ok", __version__, self._pool.workers_info, self._pool.queue_info)
        await send_json(send, body)

    async def _show_openapi(self, _scope: Message, _receive: Receive, send: Send) -> None:
        await send_json(send, self._openapi)
