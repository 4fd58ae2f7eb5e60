"""The wire contract, version 1 (docs/sidecar-contract.md): every structure that crosses the HTTP edge."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

CONTRACT: Final = 1
MEDIA_TYPE = "application/vnd.agentic-iqa.measure"
WHOLE_IMAGE = "Global"
MAX_REGIONS = 32
MAX_TOOLS = 256

ToolErrorCode = Literal[
    "TOOL_UNAVAILABLE",
    "REFERENCE_REQUIRED",
    "REGION_TOO_SMALL",
    "NOT_FINITE",
    "MAP_UNSUPPORTED",
    "TOOL_TIMEOUT",
    "TOOL_CRASHED",
    "TOOL_FAILED",
]
RequestErrorCode = Literal[
    "BAD_FRAME",
    "BAD_HEADER",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "TOO_LARGE",
    "MEDIA_TYPE",
    "UNKNOWN_TOOL",
    "UNKNOWN_REGION",
    "REGION_OUTSIDE",
    "UNDECODABLE_IMAGE",
    "UNDECODABLE_REFERENCE",
    "SIZE_MISMATCH",
    "BUSY",
    "INTERNAL",
]
STATUS: dict[RequestErrorCode, int] = {
    "BAD_FRAME": 400,
    "BAD_HEADER": 400,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "TOO_LARGE": 413,
    "MEDIA_TYPE": 415,
    "UNKNOWN_TOOL": 422,
    "UNKNOWN_REGION": 422,
    "REGION_OUTSIDE": 422,
    "UNDECODABLE_IMAGE": 422,
    "UNDECODABLE_REFERENCE": 422,
    "SIZE_MISMATCH": 422,
    "BUSY": 503,
    "INTERNAL": 500,
}

NotNegative = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Box = tuple[NotNegative, NotNegative, Positive, Positive]
Milliseconds = Annotated[float, Meta(ge=0)]


class RequestError(Exception):
    """The request cannot be answered; becomes an HTTP status with an ErrorBody."""

    def __init__(self, code: RequestErrorCode, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after


class Wire(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all structures: a typo must not silently change what is measured."""


# ---- request


class ToolCall(Wire, frozen=True):
    name: str
    region: str
    map: bool
    grid: bool = False


class Header(Wire, frozen=True):
    contract: Literal[1]
    request_id: str | None
    image_bytes: Positive
    reference_bytes: NotNegative
    regions: Annotated[dict[str, Box], Meta(max_length=MAX_REGIONS)]
    measurements: list[str]
    tools: Annotated[list[ToolCall], Meta(max_length=MAX_TOOLS)]
    jpeg_quality: Annotated[int, Meta(ge=1, le=100)] | None
    tool_timeout_ms: Annotated[int, Meta(ge=100, le=600_000)]


# ---- answer


class ToolProblem(Wire, frozen=True):
    code: ToolErrorCode
    message: str


class Problem(Wire, frozen=True):
    code: RequestErrorCode
    message: str


class ErrorBody(Wire, frozen=True):
    error: Problem


class Event(Wire, frozen=True, tag_field="event"):
    """One line of the answer."""


class ImageEvent(Event, frozen=True, tag="image"):
    contract: Literal[1]
    width: Positive
    height: Positive
    channels: Literal[1, 3]
    queue_ms: Milliseconds
    decode_ms: Milliseconds


class MeasurementsEvent(Event, frozen=True, tag="measurements"):
    """With an error, `values` is empty."""

    region: str
    values: dict[str, float | None]
    reference_values: dict[str, float | None] | None
    version: str
    time_ms: Milliseconds
    error: ToolProblem | None
    # Set by the server when it sends the line; a worker does not know when the request arrived.
    elapsed_ms: Milliseconds = 0.0


class LocalMap(Wire, frozen=True):
    """Local quality, 8-bit gray: 0 is 0.0 and 255 is 1.0 (perfect). The long side has at most 256 pixels."""

    media_type: Literal["image/png"]
    width: Positive
    height: Positive
    base64: str


class ToolEvent(Event, frozen=True, tag="tool"):
    tool: str
    region: str
    value: float | None
    version: str
    time_ms: Milliseconds
    map: LocalMap | None
    # The local map in 3 × 3 cells, row by row from the upper left: 0 (nothing wrong) to 1 (as bad as the map can show).
    grid: Annotated[list[Annotated[float, Meta(ge=0, le=1)]], Meta(min_length=9, max_length=9)] | None
    error: ToolProblem | None
    elapsed_ms: Milliseconds = 0.0


class EndEvent(Event, frozen=True, tag="end"):
    time_ms: Milliseconds


class ErrorEvent(Event, frozen=True, tag="error"):
    error: Problem


AnyEvent = ImageEvent | MeasurementsEvent | ToolEvent | EndEvent | ErrorEvent


# ---- capabilities


class ToolInfo(Wire, frozen=True):
    """A tool that cannot run, for example because its weights are missing, is listed with the reason."""

    name: str
    version: str
    needs_reference: bool
    min_side: NotNegative
    has_map: bool
    available: bool
    reason: str | None


class MeasurementInfo(Wire, frozen=True):
    name: str
    unit: str
    minimum: float | None
    maximum: float | None
    description: str


class MeasurementsInfo(Wire, frozen=True):
    version: str
    catalogue: list[MeasurementInfo]


class Limits(Wire, frozen=True):
    max_bytes: Positive
    max_pixels: Positive
    max_regions: Positive
    max_tools: Positive


class ToolsBody(Wire, frozen=True):
    contract: Literal[1]
    engine: str
    tools: list[ToolInfo]
    measurements: MeasurementsInfo
    limits: Limits


# ---- health


class WorkersInfo(Wire, frozen=True):
    """`replaced` counts the workers lost to a timeout, a crash or a disconnect."""

    total: Positive
    busy: NotNegative
    replaced: NotNegative


class QueueInfo(Wire, frozen=True):
    waiting: NotNegative
    limit: NotNegative


class HealthBody(Wire, frozen=True):
    contract: Literal[1]
    status: Literal["ok"]
    version: str
    workers: WorkersInfo
    queue: QueueInfo
