"""The OpenAPI document, generated from the structures of the contract."""

from __future__ import annotations

from typing import Any

import msgspec

from .. import __version__
from .contract import (
    MEDIA_TYPE,
    STATUS,
    EndEvent,
    ErrorBody,
    ErrorEvent,
    Header,
    HealthBody,
    ImageEvent,
    MeasurementsEvent,
    ToolEvent,
    ToolsBody,
)

EVENTS = (ImageEvent, MeasurementsEvent, ToolEvent, EndEvent, ErrorEvent)
FRAME = (
    "One frame: uint32 big-endian length N of the header; N bytes of UTF-8 JSON, a `Header`; "
    "`image_bytes` bytes of the image file; `reference_bytes` bytes of the reference file."
)
STREAM = (
    "A line when each tool ends: `image` first, then the results in the order of the request, `end` or `error` last."
)


def build_openapi() -> dict[str, Any]:
    types = (Header, *EVENTS, ErrorBody, ToolsBody, HealthBody)
    _, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {"title": "agentic-iqa sidecar", "version": __version__, "license": {"name": "Apache-2.0"}},
        "paths": {
            "/v1/measure": {"post": _describe_measure()},
            "/v1/tools": {"get": _describe_get("Tools and measurements with versions, and limits", ToolsBody)},
            "/v1/health": {"get": _describe_get("Workers and queue", HealthBody)},
            "/openapi.json": {
                "get": {
                    "summary": "This document",
                    "responses": {
                        "200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {}}}}
                    },
                }
            },
        },
        "components": {"schemas": components},
    }


def _describe_measure() -> dict[str, Any]:
    frame = {"type": "string", "format": "binary", "description": FRAME, "x-frame-header": _refer_to(Header)}
    line = {"oneOf": [_refer_to(event) for event in EVENTS]}
    answer = {"description": STREAM, "content": {"application/x-ndjson": {"schema": line}}}
    return {
        "summary": "Measure an image and run tools on it",
        "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": frame}}},
        "responses": {"200": answer}
        | {str(status): _describe_error(status) for status in sorted(set(STATUS.values()))},
    }


def _describe_get(summary: str, body: type) -> dict[str, Any]:
    content = {"application/json": {"schema": _refer_to(body)}}
    return {"summary": summary, "responses": {"200": {"description": summary, "content": content}}}


def _describe_error(status: int) -> dict[str, Any]:
    codes = ", ".join(code for code, its_status in STATUS.items() if its_status == status)
    answer: dict[str, Any] = {
        "description": codes,
        "content": {"application/json": {"schema": _refer_to(ErrorBody)}},
    }
    if status == STATUS["BUSY"]:
        answer["headers"] = {"Retry-After": {"description": "Whole seconds", "schema": {"type": "integer"}}}
    return answer


def _refer_to(struct: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{struct.__name__}"}
