"""The HTTP API of a running sidecar: the answer's lines and every error."""

from __future__ import annotations

import base64
import json
import struct
import time
from collections.abc import Iterator

import cv2
import httpx
import msgspec
import numpy as np
import pytest

from iqa_sidecar.server.contract import AnyEvent
from tests.conftest import StartSidecar, encode_image
from tests.sidecar_process import ROOT, Sidecar, build_frame, call


def read_code(response: httpx.Response) -> tuple[int, str]:
    body = response.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message"}
    return response.status_code, body["error"]["code"]


def test_lines_come_in_the_order_asked(sidecar: Sidecar, image: bytes, reference: bytes) -> None:
    lines = sidecar.measure(
        image,
        reference,
        regions={"Corner": [0, 0, 200, 190]},
        measurements=["Corner", "Global"],
        tools=[call("SSIM", "Corner"), call("PSNR"), call("PSNR", "Corner")],
    )
    assert [line["event"] for line in lines] == ["image", *["measurements"] * 2, *["tool"] * 3, "end"]
    assert [line.get("region") for line in lines[1:-1]] == ["Corner", "Global", "Corner", "Global", "Corner"]
    assert [line["tool"] for line in lines[3:-1]] == ["SSIM", "PSNR", "PSNR"]
    for line in lines:
        msgspec.convert(line, AnyEvent)
    assert (lines[0]["width"], lines[0]["height"], lines[0]["channels"]) == (240, 200, 3)
    assert all(line["error"] is None and line["value"] is not None for line in lines[3:-1])
    assert lines[4]["value"] != lines[5]["value"]
    assert lines[1]["values"].keys() == lines[1]["reference_values"].keys() != set()


def test_times_are_measured(sidecar: Sidecar, image: bytes) -> None:
    started = time.monotonic()
    first, brief, end = sidecar.measure(image, tools=[call("BRIEF")])
    waited = 1000 * (time.monotonic() - started)
    assert first["queue_ms"] > 0
    assert first["decode_ms"] > 0
    assert brief["time_ms"] >= 300
    assert brief["time_ms"] + first["decode_ms"] + first["queue_ms"] <= end["time_ms"] <= waited


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_formats(sidecar: Sidecar, suffix: str) -> None:
    lines = sidecar.measure(encode_image(64, 48, suffix), measurements=["Global"])
    assert (lines[0]["width"], lines[0]["height"]) == (64, 48)
    assert lines[1]["error"] is None
    assert lines[1]["reference_values"] is None


def test_gray_image_has_one_channel(sidecar: Sidecar) -> None:
    gray = cv2.imencode(".png", np.full((16, 16), 7, np.uint8))[1].tobytes()
    assert sidecar.measure(gray)[0]["channels"] == 1


def test_one_failing_tool_does_not_stop_the_next(sidecar: Sidecar, image: bytes) -> None:
    tools = [
        call("FAIL"),
        call("INFINITE"),
        call("BRIEF", wants_map=True),
        call("SSIM", "Tiny"),
        call("PROCESS"),
    ]
    lines = sidecar.measure(image, image, regions={"Tiny": [3, 3, 2, 2]}, tools=tools)[1:-1]
    codes = [line["error"] and line["error"]["code"] for line in lines]
    assert codes == ["TOOL_FAILED", "NOT_FINITE", "MAP_UNSUPPORTED", "REGION_TOO_SMALL", None]
    assert [line["value"] is None for line in lines] == [True] * 4 + [False]
    assert "on purpose" in lines[0]["error"]["message"]


def test_reference_required(sidecar: Sidecar, image: bytes) -> None:
    _, line, _ = sidecar.measure(image, tools=[call("PSNR")])
    assert line["error"]["code"] == "REFERENCE_REQUIRED"


def test_map_is_a_small_gray_png_on_a_fixed_scale(sidecar: Sidecar, image: bytes) -> None:
    _, with_map, without_map, _ = sidecar.measure(image, tools=[call("RAMP", wants_map=True), call("RAMP")])
    assert without_map["map"] is None
    local_map = with_map["map"]
    data = base64.b64decode(local_map["base64"])
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert local_map["media_type"] == "image/png"
    assert pixels is not None
    assert pixels.shape == (128, 256) == (local_map["height"], local_map["width"])
    # The ramp runs from -0.5 to 1.5: a quarter is clipped on each side.
    assert pixels[:, :63].max() == 0
    assert pixels[:, 193:].min() == 255
    assert abs(int(pixels[64, 128]) - 128) <= 2


def test_grid_is_the_map_in_nine_numbers(sidecar: Sidecar, image: bytes) -> None:
    tools = [call("RAMP", wants_grid=True), call("RAMP", wants_map=True), call("PROCESS", wants_grid=True)]
    _, grid, no_grid, unsupported, _ = sidecar.measure(image, tools=tools)
    assert (grid["map"], no_grid["grid"]) == (None, None)
    # 1 - ramp: clipped to 1 on the left, half in the middle, clipped to 0 on the right.
    left, middle, right = grid["grid"][:3]
    assert grid["grid"] == [left, middle, right] * 3
    assert (left, middle, right) == (pytest.approx(0.98, abs=0.02), 0.5, pytest.approx(1 - left))
    assert unsupported["error"]["code"] == "MAP_UNSUPPORTED"
    assert unsupported["grid"] is None


@pytest.mark.parametrize(
    "row", json.loads((ROOT / "contract" / "headers-invalid.json").read_text()), ids=lambda row: row["why"]
)
def test_invalid_headers_are_refused(sidecar: Sidecar, row: dict[str, object]) -> None:
    data = json.dumps(row["header"]).encode()
    status, code = read_code(sidecar.post(struct.pack(">I", len(data)) + data + b"i" * 68))
    assert code == row["code"]
    assert status == (400 if code == "BAD_HEADER" else 422)


def test_errors(sidecar: Sidecar, image: bytes) -> None:
    assert read_code(sidecar.post(b"\0")) == (400, "BAD_FRAME")
    assert read_code(sidecar.post(build_frame(image), "image/png")) == (415, "MEDIA_TYPE")
    assert read_code(sidecar.post(build_frame(b"not an image"))) == (422, "UNDECODABLE_IMAGE")
    assert read_code(sidecar.post(build_frame(image[:200]))) == (422, "UNDECODABLE_IMAGE")
    assert read_code(sidecar.post(build_frame(image, b"not an image"))) == (422, "UNDECODABLE_REFERENCE")
    assert read_code(sidecar.post(build_frame(image, encode_image(64, 48)))) == (422, "SIZE_MISMATCH")
    outside = {"Edge": [200, 0, 41, 10]}
    assert read_code(sidecar.post(build_frame(image, regions=outside))) == (422, "REGION_OUTSIDE")
    assert read_code(sidecar.client.get("/")) == (404, "NOT_FOUND")
    assert read_code(sidecar.client.get("/v1/measure")) == (405, "METHOD_NOT_ALLOWED")
    assert read_code(sidecar.client.post("/v1/tools")) == (405, "METHOD_NOT_ALLOWED")


def test_region_up_to_the_edge_is_inside(sidecar: Sidecar, image: bytes) -> None:
    lines = sidecar.measure(image, regions={"All": [0, 0, 240, 200]}, tools=[call("PROCESS", "All")])
    assert lines[1]["error"] is None


def test_media_type_may_have_parameters(sidecar: Sidecar, image: bytes) -> None:
    response = sidecar.post(build_frame(image), "Application/vnd.agentic-iqa.measure; v=1")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/x-ndjson"


def test_limits(start_sidecar: StartSidecar, image: bytes) -> None:
    limited = start_sidecar("--workers", "1", "--max-bytes", "100000", "--max-pixels", "10000")
    assert read_code(limited.post(build_frame(image))) == (413, "TOO_LARGE")
    assert read_code(limited.post(build_frame(b"x" * 100_000))) == (413, "TOO_LARGE")
    # Far more than the socket buffers hold: the answer must reach a client that is still sending.
    assert read_code(limited.post(build_frame(b"x" * 20_000_000))) == (413, "TOO_LARGE")

    def chunks() -> Iterator[bytes]:
        for _ in range(50):
            yield b"x" * 10_000

    headers = {"content-type": "application/vnd.agentic-iqa.measure"}
    chunked = limited.client.post("/v1/measure", content=chunks(), headers=headers)
    assert read_code(chunked) == (413, "TOO_LARGE")
    assert limited.measure(encode_image(100, 100))[0]["width"] == 100
