"""Reads format, size, channels and JPEG quality from a file's header, before any decoder runs."""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .jpeg_quality import estimate_jpeg_quality

# Progressive files have about ten scans.
MAX_SCANS = 100


class HeaderError(ValueError):
    """Not a JPEG, PNG or WebP file, or its header is broken."""


@dataclass(frozen=True, slots=True)
class ImageHeader:
    width: int
    height: int
    channels: int
    jpeg_quality: int | None = None


def read_header(data: bytes | bytearray) -> ImageHeader:
    try:
        header = _read_known_format(data)
    except HeaderError:
        raise
    except (struct.error, IndexError, ValueError) as error:
        raise HeaderError("Expected a complete image header but the file ends inside it") from error
    if header.width < 1 or header.height < 1:
        raise HeaderError(f"Expected an image with pixels but its header says {header.width} × {header.height}")
    return header


def _read_known_format(data: bytes | bytearray) -> ImageHeader:
    if data[:3] == b"\xff\xd8\xff":
        return _read_jpeg(data)
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        width, height, _depth, colour_type = struct.unpack_from(">IIBB", data, 16)
        return ImageHeader(width, height, channels=1 if colour_type in (0, 4) else 3)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _read_webp(data)
    raise HeaderError("Expected a JPEG, PNG or WebP file but its first bytes are of another format")


def _read_jpeg(data: bytes | bytearray) -> ImageHeader:
    """Walks the segments up to the first scan; the frame header (SOFn) and the tables come before it."""
    tables: dict[int, NDArray[np.int64]] = {}
    frame: tuple[int, int, int] | None = None
    position = 2
    while True:
        if data[position] != 0xFF:
            raise HeaderError("Expected a JPEG marker but the segments do not follow each other")
        marker = data[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a segment
            position += 2
            continue
        if marker in (0xD9, 0xDA):  # end of image, start of scan
            break
        (length,) = struct.unpack_from(">H", data, position + 2)
        body = data[position + 4 : position + 2 + length]
        if marker == 0xDB:
            _read_quantisation_tables(body, tables)
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            _precision, height, width, components = struct.unpack_from(">BHHB", body)
            frame = (width, height, 1 if components == 1 else 3)
        position += 2 + length
    # Each scan takes a pass over all pixels but only twenty bytes: an attack on decoding time.
    if data.count(b"\xff\xda", position) > MAX_SCANS:
        raise HeaderError(f"Expected at most {MAX_SCANS} scans in a JPEG but received more")
    if frame is None:
        raise HeaderError("Expected a JPEG frame header but the file has none before its pixels")
    return ImageHeader(*frame, jpeg_quality=estimate_jpeg_quality(tables[0]) if 0 in tables else None)


def _read_quantisation_tables(body: bytes | bytearray, tables: dict[int, NDArray[np.int64]]) -> None:
    position = 0
    while position < len(body):
        wide, index = body[position] >> 4, body[position] & 15
        size = 128 if wide else 64
        entries = np.frombuffer(body, ">u2" if wide else np.uint8, 64, position + 1)
        tables[index] = entries.astype(np.int64)
        position += 1 + size


def _read_webp(data: bytes | bytearray) -> ImageHeader:
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
    else:
        raise HeaderError("Expected a WebP image but its first chunk is of another kind")
    return ImageHeader(width, height, channels=3)
