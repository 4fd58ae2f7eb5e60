"""The decoded pictures that a worker hands to every tool, with the views that tools share computed once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from .image_header import HeaderError, read_header

Box = tuple[int, int, int, int]
Plane = NDArray[np.float32]
Scalar = TypeVar("Scalar", bound=np.generic)
Derived = TypeVar("Derived")

# Of B, G and R, as rgb2gray has them; cv2.cvtColor rounds them further and moves up to 0.4 % of the pixels by a level.
_LUMA_WEIGHTS = np.array([[0.114020904255103, 0.587043074451121, 0.298936021293775]], np.float32)


class UndecodableError(Exception):
    """The bytes are not a picture that this package reads."""


class TooManyPixelsError(Exception):
    """The header announces more pixels than allowed; nothing was decoded."""


class Picture:
    """Immutable pixels. Views are read-only arrays, cached because several tools start from the same one."""

    def __init__(self, bgr: NDArray[np.uint8], channels: int = 3, jpeg_quality: int | None = None) -> None:
        self.bgr = _freeze(np.ascontiguousarray(bgr))
        self.height, self.width = bgr.shape[:2]
        # Of the file, before conversion: 1 (gray) or 3.
        self.channels = channels
        # 1..100 from the file's own quantisation tables, None for formats without them.
        self.jpeg_quality = jpeg_quality
        self._derived: dict[str, Any] = {}

    @classmethod
    def decode(cls, data: bytes | bytearray, max_pixels: int) -> "Picture":
        try:
            header = read_header(data)
        except HeaderError as error:
            raise UndecodableError(str(error)) from error
        # Before the decoder allocates: a few bytes can announce gigabytes.
        if header.width * header.height > max_pixels:
            raise TooManyPixelsError(
                f"Expected at most {max_pixels} pixels but received {header.width} × {header.height}"
            )
        bgr = _decode_pixels(data)
        if bgr is None or bgr.shape != (header.height, header.width, 3):
            raise UndecodableError("Expected a readable picture but its pixels could not be decoded")
        return cls(bgr, header.channels, header.jpeg_quality)

    def crop(self, box: Box) -> "Picture":
        x, y, width, height = box
        if (x, y, width, height) == (0, 0, self.width, self.height):
            return self
        return Picture(self.bgr[y : y + height, x : x + width], self.channels, self.jpeg_quality)

    def derive(self, name: str, compute: Callable[["Picture"], Derived]) -> Derived:
        """What several tools need but this module does not know of, computed for the first that asks."""
        if name not in self._derived:
            self._derived[name] = compute(self)
        result: Derived = self._derived[name]
        return result

    @cached_property
    def luma_bytes(self) -> NDArray[np.uint8]:
        """Rounded to integers, because the metrics' published code takes it from Matlab's rgb2gray."""
        return _freeze(np.asarray(cv2.transform(self.bgr, _LUMA_WEIGHTS), np.uint8))

    @cached_property
    def luma(self) -> Plane:
        """`luma_bytes` as float32, 0..255."""
        return _freeze(self.luma_bytes.astype(np.float32))

    @cached_property
    def half_luma(self) -> Plane:
        return _freeze(halve(self.luma))


@dataclass(frozen=True, slots=True)
class Pair:
    image: Picture
    reference: Picture | None = None

    def crop(self, box: Box) -> "Pair":
        return Pair(self.image.crop(box), self.reference.crop(box) if self.reference is not None else None)


def halve(plane: Plane) -> Plane:
    """Means of 2 × 2 pixels; an odd last row or column is repeated."""
    height, width = plane.shape
    if height % 2 or width % 2:
        plane = np.asarray(cv2.copyMakeBorder(plane, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE), np.float32)
    size = ((width + 1) // 2, (height + 1) // 2)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _decode_pixels(data: bytes | bytearray) -> NDArray[np.uint8] | None:
    try:
        # The service has applied the EXIF orientation already; IMREAD_COLOR turns gray into three equal channels.
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        return None
    return None if pixels is None else np.asarray(pixels, np.uint8)


def _freeze(array: NDArray[Scalar]) -> NDArray[Scalar]:
    # A view, so that an array which belongs to the caller stays writable for them.
    frozen: NDArray[Scalar] = array.view()
    frozen.flags.writeable = False
    return frozen
