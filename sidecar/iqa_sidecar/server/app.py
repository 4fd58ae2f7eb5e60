"""The HTTP application: routes, and one place that turns every error into its answer."""

from __future__ import annotations

import logging

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from .. import __version__
from ..settings import Settings
from ..workers.messages import Capabilities
from ..workers.pool import Pool
from .contract import (
    CONTRACT,
    MAX_REGIONS,
    MAX_TOOLS,
    STATUS,
    ErrorBody,
    HealthBody,
    Limits,
    Problem,
    RequestError,
    ToolsBody,
)
from .log import write
from .measure import MeasureEndpoint
from .openapi import build_openapi


def build_app(settings: Settings, pool: Pool, capabilities: Capabilities) -> Starlette:
    limits = Limits(settings.max_bytes, settings.max_pixels, MAX_REGIONS, MAX_TOOLS)
    tools = ToolsBody(CONTRACT, __version__, capabilities.tools, capabilities.measurements, limits)
    tools_json, openapi_json = msgspec.json.encode(tools), msgspec.json.encode(build_openapi())

    async def list_tools(_request: Request) -> Response:
        return json_response(tools_json)

    async def report_health(_request: Request) -> Response:
        health = HealthBody(CONTRACT, "ok", __version__, pool.workers_info, pool.queue_info)
        return json_response(msgspec.json.encode(health))

    async def show_openapi(_request: Request) -> Response:
        return json_response(openapi_json)

    app = Starlette(
        routes=[
            Route("/v1/measure", MeasureEndpoint(settings, pool, capabilities), methods=["POST"]),
            Route("/v1/tools", list_tools, methods=["GET"]),
            Route("/v1/health", report_health, methods=["GET"]),
            Route("/openapi.json", show_openapi, methods=["GET"]),
        ],
        exception_handlers={
            RequestError: answer_request_error,
            HTTPException: answer_routing_error,
            ClientDisconnect: answer_disconnect,
            Exception: answer_fault,
        },
    )
    app.router.redirect_slashes = False
    return app


def json_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def answer_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # noqa: S101 - Starlette's handlers are typed with Exception
    write(logging.INFO, "request rejected", path=request.url.path, code=error.code, reason=error.message)
    headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
    body = msgspec.json.encode(ErrorBody(Problem(error.code, error.message)))
    return json_response(body, STATUS[error.code], headers)


def answer_routing_error(request: Request, error: Exception) -> Response:
    path = request.url.path
    if isinstance(error, HTTPException) and error.status_code == STATUS["METHOD_NOT_ALLOWED"]:
        expected = (error.headers or {}).get("Allow", "another method")
        message = f"Expected {expected} for {path} but received {request.method}"
        return answer_request_error(request, RequestError("METHOD_NOT_ALLOWED", message))
    return answer_request_error(request, RequestError("NOT_FOUND", f"No such endpoint: {path}"))


def answer_disconnect(request: Request, _error: Exception) -> Response:
    """The response is discarded: the connection is closed."""
    write(logging.INFO, "client disconnected", path=request.url.path)
    return Response(status_code=400)


def answer_fault(_request: Request, _error: Exception) -> Response:
    """Starlette raises the error again after this answer, and uvicorn logs it."""
    body = msgspec.json.encode(ErrorBody(Problem("INTERNAL", "The sidecar failed; see its log")))
    return json_response(body, STATUS["INTERNAL"])
