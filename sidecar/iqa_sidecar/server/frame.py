"""Reads the body of /v1/measure: length, JSON header, image file, reference file."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import msgspec

from .contract import WHOLE_IMAGE, Header, RequestError

_LENGTH = struct.Struct(">I")
_decode_header = msgspec.json.Decoder(Header).decode


@dataclass(frozen=True, slots=True)
class Frame:
    header: Header
    image: memoryview
    reference: memoryview


def parse_frame(body: bytes | bytearray) -> Frame:
    view = memoryview(body)
    if len(view) < _LENGTH.size:
        raise RequestError("BAD_FRAME", f"Expected {_LENGTH.size} bytes of length but received {len(view)}")
    (header_bytes,) = _LENGTH.unpack_from(view)
    rest = view[_LENGTH.size :]
    if header_bytes > len(rest):
        raise RequestError("BAD_FRAME", f"Expected a header of {header_bytes} bytes but received {len(rest)}")
    header = parse_header(rest[:header_bytes])
    files = rest[header_bytes:]
    expected = header.image_bytes + header.reference_bytes
    if len(files) != expected:
        message = f"Expected {expected} bytes of files after the header but received {len(files)}"
        raise RequestError("BAD_FRAME", message)
    return Frame(header, files[: header.image_bytes], files[header.image_bytes :])


def parse_header(data: bytes | memoryview) -> Header:
    try:
        header = _decode_header(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError("BAD_HEADER", str(error)) from error
    if WHOLE_IMAGE in header.regions:
        message = f"Expected no box for {WHOLE_IMAGE}, which is the whole image - at `$.regions`"
        raise RequestError("BAD_HEADER", message)
    if len(set(header.measurements)) < len(header.measurements):
        raise RequestError("BAD_HEADER", "Expected each region at most once - at `$.measurements`")
    regions = {WHOLE_IMAGE, *header.regions}
    for region in [*header.measurements, *(tool.region for tool in header.tools)]:
        if region not in regions:
            raise RequestError("UNKNOWN_REGION", f"No such region: {region}")
    return header
