"""The decoded pictures that a worker hands to every tool, with the views that tools share computed once."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from .downsampling import block_means, viewing_factor
from .header import HeaderError, read_header
from .tiling import split_rows

Box = tuple[int, int, int, int]
Plane = NDArray[np.float32]
Scalar = TypeVar("Scalar", bound=np.generic)
Derived = TypeVar("Derived")
Shared = TypeVar("Shared")

# Of B, G and R, as rgb2gray has them; cv2.cvtColor rounds them further and moves up to 0.4 % of the pixels by a level.
# The last is added, so that cutting off rounds.
_LUMA_WEIGHTS = np.array([[0.114020904255103, 0.587043074451121, 0.298936021293775, 0.5]], np.float32)


class UndecodableError(Exception):
    """The bytes are not a picture that this package reads."""


class TooManyPixelsError(Exception):
    """The header announces more pixels than allowed; nothing was decoded."""


class Picture:
    """Immutable pixels. Views are read-only arrays, cached because several tools start from the same one."""

    def __init__(self, pixels: NDArray[np.uint8], jpeg_quality: int | None = None) -> None:
        """Rows of blue, green and red, or of gray levels."""
        self._pixels = _freeze(np.ascontiguousarray(pixels))
        self.height, self.width = pixels.shape[:2]
        self.channels: Literal[1, 3] = 1 if pixels.ndim == 2 else 3
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
        pixels = _decode_pixels(data, header.channels)
        if pixels is None or pixels.shape[:2] != (header.height, header.width):
            raise UndecodableError("Expected a readable picture but its pixels could not be decoded")
        return cls(pixels, header.jpeg_quality)

    def crop(self, box: Box) -> "Picture":
        x, y, width, height = box
        if (x, y, width, height) == (0, 0, self.width, self.height):
            return self
        return Picture(self._pixels[y : y + height, x : x + width], self.jpeg_quality)

    def derive(self, name: str, compute: Callable[["Picture"], Derived]) -> Derived:
        """What several tools need but this module does not know of, computed for the first that asks."""
        if name not in self._derived:
            self._derived[name] = compute(self)
        result: Derived = self._derived[name]
        return result

    @cached_property
    def bgr(self) -> NDArray[np.uint8]:
        """Three channels, equal where the picture is gray."""
        if self.channels == 3:
            return self._pixels
        return _freeze(np.asarray(cv2.cvtColor(self._pixels, cv2.COLOR_GRAY2BGR), np.uint8))

    @cached_property
    def luma_bytes(self) -> NDArray[np.uint8]:
        """Rounded to integers, because the metrics' published code takes it from Matlab's rgb2gray."""
        if self.channels == 1:
            return self._pixels
        luma = np.empty((self.height, self.width), np.uint8)
        # In float32, because OpenCV's integer version is four times slower; in bands that stay in the cache.
        for band in split_rows(self.height, self.width):
            exact = cv2.transform(self._pixels[band].astype(np.float32), _LUMA_WEIGHTS)
            np.copyto(luma[band], exact, casting="unsafe")
        return _freeze(luma)

    @cached_property
    def luma(self) -> Plane:
        """`luma_bytes` as float32, 0..255."""
        return _freeze(self.luma_bytes.astype(np.float32))

    @cached_property
    def half_luma(self) -> Plane:
        """Means of 2 × 2 pixels; an odd last row or column is repeated."""
        return _freeze(block_means(_make_even(self.luma_bytes), 2))

    @property
    def viewing_factor(self) -> int:
        return viewing_factor(self.height, self.width)

    @cached_property
    def reduced(self) -> NDArray[np.float32]:
        """Blue, green and red means of blocks, the shorter side near 256 pixels."""
        return _freeze(block_means(self.bgr, self.viewing_factor))


@dataclass(frozen=True, slots=True)
class Pair:
    image: Picture
    reference: Picture | None = None
    # Only what lies in this part of the pictures counts; the rest is still there for the context it gives.
    box: Box | None = None
    # Whether local maps are needed again, for other regions; otherwise they only take up memory.
    keeps_maps: bool = False
    _shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def crop(self, box: Box) -> "Pair":
        return Pair(self.image.crop(box), self.reference.crop(box) if self.reference is not None else None)

    def within(self, box: Box) -> "Pair":
        """The same pictures, and what tools keep of them, seen through a box."""
        whole = box == (0, 0, self.image.width, self.image.height)
        return replace(self, box=None if whole else box)

    def share(self, name: str, make: Callable[[], Shared]) -> Shared:
        """What another tool needs too."""
        if name not in self._shared:
            self._shared[name] = make()
        kept: Shared = self._shared[name]
        return kept

    def local_map(self, name: str, make: Callable[[], Shared]) -> Shared:
        """What a tool needs again for another region."""
        return self.share(name, make) if self.keeps_maps else make()


def halve(plane: Plane) -> Plane:
    """Means of 2 × 2 pixels; an odd last row or column is repeated."""
    plane = _make_even(plane)
    size = (plane.shape[1] // 2, plane.shape[0] // 2)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _make_even(plane: NDArray[Scalar]) -> NDArray[Scalar]:
    height, width = plane.shape
    return np.pad(plane, ((0, height % 2), (0, width % 2)), "edge") if height % 2 or width % 2 else plane


def _decode_pixels(data: bytes | bytearray, channels: int) -> NDArray[np.uint8] | None:
    kind = cv2.IMREAD_GRAYSCALE if channels == 1 else cv2.IMREAD_COLOR
    try:
        # The service has applied the EXIF orientation already.
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), kind | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        return None
    return None if pixels is None else np.asarray(pixels, np.uint8)


def _freeze(array: NDArray[Scalar]) -> NDArray[Scalar]:
    # A view, so that an array which belongs to the caller stays writable for them.
    frozen: NDArray[Scalar] = array.view()
    frozen.flags.writeable = False
    return frozen
