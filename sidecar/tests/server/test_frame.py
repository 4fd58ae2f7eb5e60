"""Frames: valid fixtures are accepted, invalid ones are rejected, and lengths must match."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from iqa_sidecar.server.contract import RequestError
from iqa_sidecar.server.frame import parse_frame
from tests.sidecar_process import ROOT, build_frame

VALID = json.loads((ROOT / "contract" / "headers-valid.json").read_text())
# Unknown tools are rejected later, by the endpoint.
INVALID = [
    row for row in json.loads((ROOT / "contract" / "headers-invalid.json").read_text()) if row["code"] != "UNKNOWN_TOOL"
]


def encode_frame(header: Any, files: bytes = b"") -> bytes:
    data = json.dumps(header).encode()
    return struct.pack(">I", len(data)) + data + files


@pytest.mark.parametrize("row", VALID, ids=[row["why"] for row in VALID])
def test_valid_header(row: dict[str, Any]) -> None:
    header = row["header"]
    image, reference = b"i" * header["image_bytes"], b"r" * header["reference_bytes"]
    frame = parse_frame(encode_frame(header, image + reference))
    assert (bytes(frame.image), bytes(frame.reference)) == (image, reference)
    assert frame.header.request_id == header["request_id"]
    assert {name: list(box) for name, box in frame.header.regions.items()} == header["regions"]


@pytest.mark.parametrize("row", INVALID, ids=[row["why"] for row in INVALID])
def test_invalid_header(row: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as refused:
        parse_frame(encode_frame(row["header"], b"i" * 68))
    assert refused.value.code == row["code"]


@pytest.mark.parametrize("data", [b"", b"\0\0\0", b"\0\0\0\5ab", b"\xff\xff\xff\xff{}"])
def test_length_that_does_not_fit(data: bytes) -> None:
    with pytest.raises(RequestError) as refused:
        parse_frame(data)
    assert refused.value.code == "BAD_FRAME"


@pytest.mark.parametrize("data", [b"", b"{", b'{"contract":1}', b"\xff\xfe", b'"\xff"'])
def test_header_that_is_not_json(data: bytes) -> None:
    with pytest.raises(RequestError) as refused:
        parse_frame(struct.pack(">I", len(data)) + data)
    assert refused.value.code == "BAD_HEADER"


@given(image=some.binary(min_size=1, max_size=50), reference=some.binary(max_size=50), surplus=some.integers(-50, 50))
def test_files_must_have_the_announced_lengths(image: bytes, reference: bytes, surplus: int) -> None:
    body = build_frame(image, reference)
    if surplus == 0:
        frame = parse_frame(body)
        assert (bytes(frame.image), bytes(frame.reference)) == (image, reference)
        return
    damaged = body + b"x" * surplus if surplus > 0 else body[:surplus]
    with pytest.raises(RequestError):
        parse_frame(damaged)


@given(some.binary(max_size=200))
def test_random_bytes_are_rejected(data: bytes) -> None:
    with pytest.raises(RequestError):
        parse_frame(data)
