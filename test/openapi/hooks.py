"""What a schema cannot say: files are real images, boxes lie inside them, names are those of tools and back ends.

Every case keeps what Schemathesis broke on purpose; the rest is made good, so that a refusal has one cause.
"""

from __future__ import annotations

import base64
import functools
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.adapter import responses

# Schemathesis 4.32 rewrites prefixItems of answers to the notation of Draft 7 and then refuses it as no Draft 2020-12.
responses.to_json_schema = functools.partial(responses.to_json_schema, convert_prefix_items=False)

WIDTH, HEIGHT = 48, 40
TOOLS = ("NIQE", "BRISQUE", "SSIM", "PSNR", "GMSD", "MS-SSIM")


def make_png(shift: int) -> bytes:
    """A image of WIDTH × HEIGHT with edges and texture, in the smallest PNG that decoders take."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def pixel(x: int, y: int) -> bytes:
        texture = (x * 7919 + y * 104729 + shift * 31) % 23
        return bytes((60 + 3 * x + texture, 200 if (x // 9 + y // 7) % 2 else 60 + texture, 220 - 4 * y + texture % 7))

    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(WIDTH)) for y in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


EXAMPLES = Path(__file__).parents[2] / "docs"
# Image and reference of one size each.
PAIRS = [
    (make_png(0), make_png(3)),
    ((EXAMPLES / "example.jpg").read_bytes(), (EXAMPLES / "example-original.jpg").read_bytes()),
]


# Routes that take images.
DOORS = ("/assess", "/compare")

# What a path parameter may name; every second case takes one of them.
NAMES = {
    "/tools/{name}": ("SSIM", "psnr", "NIQE"),
    "/schemas/{name}": ("PlannerOutput", "Assessment", "Comparison"),
    "/errors/{code}": ("IQA_BUSY", "IQA_INPUT_INVALID"),
    # scripts/contract.ts has it assessed beforehand.
    "/assess/{id}/resume": ("00000000-0000-4000-8000-000000000001",),
}
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@schemathesis.hook
def map_path_parameters(
    context: schemathesis.HookContext, path_parameters: dict[str, Any] | None
) -> dict[str, Any] | None:
    names = NAMES.get(context.operation.path, ())
    for parameter, value in (path_parameters or {}).items():
        draw = zlib.crc32(str(value).encode(errors="replace"))
        # What is no UUID is wrong on purpose.
        if names and draw % 2 == 0 and (parameter != "id" or UUID.fullmatch(str(value))):
            path_parameters = {parameter: names[draw // 2 % len(names)]}
    return path_parameters


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:  # noqa: ARG001 (Schemathesis passes by name)
    """Forms send an empty text for what was left out, so that one is no wrong value."""
    is_form = case.path in DOORS and case.media_type == "multipart/form-data" and isinstance(case.body, dict)
    return not is_form or not any(value in ("", [""]) for name, value in case.body.items() if name != "query")


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:  # noqa: ARG001
    if case.path not in DOORS or not isinstance(case.body, dict):
        return
    body = dict(case.body)
    draw = zlib.crc32(repr(sorted(body.items())).encode(errors="replace"))
    if draw % 3 == 0 and case.path == "/assess":
        case.headers = {**(case.headers or {}), "accept": "text/event-stream"}
    # The rarer pair is the larger one.
    image, reference = PAIRS[draw % 7 == 0]
    replace_file(body, "image", image)
    replace_file(body, "reference", reference)
    if isinstance(body.get("images"), list):
        body["images"] = [replaced(value, image if index else reference) for index, value in enumerate(body["images"])]
    component = case.meta.components.get(ParameterLocation.BODY) if case.meta else None
    if component is None or component.mode == GenerationMode.POSITIVE:
        make_sense(body)
    case.body = body
    # Otherwise the bytes of a image, which no JSON Schema describes, would make every case a wrong one.
    case._record_starting_state()
    mend_header(case)


def mend_header(case: schemathesis.Case) -> None:
    """Where Schemathesis is about another part, it fills this header with a value that spoils every case."""
    about = getattr(case.meta.phase.data, "parameter_location", None) if case.meta else None
    headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != "x-assessment-id"}
    if about != ParameterLocation.HEADER and len(headers) < len(case.headers or {}):
        case.headers = headers


def replace_file(body: dict[str, Any], field: str, image: bytes) -> None:
    if field in body:
        body[field] = replaced(body[field], image)


def replaced(value: Any, image: bytes) -> Any:
    """Only what has the form of a file: anything else is what the case is about."""
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str) and value["base64"]:
        return {"base64": base64.b64encode(image).decode()}
    return image if isinstance(value, bytes) or type(value).__name__ in ("Binary", "File") else value


def make_sense(body: dict[str, Any]) -> None:
    if "backend" in body:
        body["backend"] = "auto"
    if isinstance(body.get("maps"), list):
        body["maps"] = [TOOLS[index % len(TOOLS)] for index in range(len(body["maps"]))]
    if isinstance(body.get("regions"), list):
        body["regions"] = [
            {"name": f"thing {index}", "box": fit(region)} for index, region in enumerate(body["regions"])
        ]


def fit(region: dict[str, Any]) -> list[int]:
    x, y, width, height = (int(number) for number in region["box"])
    left, top = x % (WIDTH - 1), y % (HEIGHT - 1)
    return [left, top, 1 + (width - 1) % (WIDTH - left), 1 + (height - 1) % (HEIGHT - top)]
