"""Decoded images and pairs, with caches for what several tools compute from the same pixels."""

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

# For B, G and R as in Matlab's rgb2gray; the weights of cv2.cvtColor change up to 0.4 % of the pixels by a level.
# The last is added, so that truncation rounds.
_LUMA_WEIGHTS = np.array([[0.114020904255103, 0.587043074451121, 0.298936021293775, 0.5]], np.float32)


class UndecodableError(Exception):
    """The bytes are not a JPEG, PNG or WebP image that can be decoded."""


class TooManyPixelsError(Exception):
    """The header announces more pixels than allowed; nothing was decoded."""


class Image:
    """Immutable pixels. Views are read-only arrays, cached because several tools use them."""

    def __init__(self, pixels: NDArray[np.uint8], jpeg_quality: int | None = None) -> None:
        """`pixels`: rows, columns and channels B G R, or rows and columns of gray levels."""
        self._pixels = _freeze(np.ascontiguousarray(pixels))
        self.height, self.width = pixels.shape[:2]
        self.channels: Literal[1, 3] = 1 if pixels.ndim == 2 else 3
        # 1..100 from the file's quantisation tables, None for formats without them.
        self.jpeg_quality = jpeg_quality
        self._derived: dict[Callable[[Image], Any], Any] = {}

    @classmethod
    def decode(cls, data: bytes | bytearray, max_pixels: int) -> "Image":
        try:
            header = read_header(data)
        except HeaderError as error:
            raise UndecodableError(str(error)) from error
        # Checked before the decoder allocates: a few bytes can announce gigabytes.
        if header.width * header.height > max_pixels:
            raise TooManyPixelsError(
                f"Expected at most {max_pixels} pixels but received {header.width} × {header.height}"
            )
        pixels = _decode_pixels(data, header.channels)
        if pixels is None or pixels.shape[:2] != (header.height, header.width):
            raise UndecodableError("Expected a readable image but its pixels could not be decoded")
        return cls(pixels, header.jpeg_quality)

    def crop(self, box: Box) -> "Image":
        x, y, width, height = box
        if (x, y, width, height) == (0, 0, self.width, self.height):
            return self
        return Image(self._pixels[y : y + height, x : x + width], self.jpeg_quality)

    def derive(self, compute: Callable[["Image"], Derived]) -> Derived:
        """compute(image), cached by function."""
        if compute not in self._derived:
            self._derived[compute] = compute(self)
        result: Derived = self._derived[compute]
        return result

    @cached_property
    def bgr(self) -> NDArray[np.uint8]:
        """Three channels, equal in a gray image."""
        if self.channels == 3:
            return self._pixels
        return _freeze(np.asarray(cv2.cvtColor(self._pixels, cv2.COLOR_GRAY2BGR), np.uint8))

    @cached_property
    def luma_bytes(self) -> NDArray[np.uint8]:
        """Rounded to integers as by Matlab's rgb2gray, which the metrics' published code uses."""
        if self.channels == 1:
            return self._pixels
        luma = np.empty((self.height, self.width), np.uint8)
        # In float32, because OpenCV's integer version is four times slower; in bands that fit into the cache.
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
        """Block means of B, G and R, with a shorter side near 256 pixels."""
        return _freeze(block_means(self.bgr, self.viewing_factor))


@dataclass(frozen=True, slots=True)
class Pair:
    image: Image
    reference: Image | None = None
    # The region to score; pixels outside it only give context. None: the whole image.
    box: Box | None = None
    # Whether to keep local maps for other regions.
    keeps_maps: bool = False
    _shared: dict[Callable[["Pair"], Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def crop(self, box: Box) -> "Pair":
        return Pair(self.image.crop(box), self.reference.crop(box) if self.reference is not None else None)

    def within(self, box: Box) -> "Pair":
        """The same images and caches, scored inside a box."""
        whole = box == (0, 0, self.image.width, self.image.height)
        return replace(self, box=None if whole else box)

    def share(self, compute: Callable[["Pair"], Shared]) -> Shared:
        """compute(pair), cached by function; must not depend on the box."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        result: Shared = self._shared[compute]
        return result

    def store(self, compute: Callable[["Pair"], Shared], result: Shared) -> None:
        """Caches a result of compute(pair) that was obtained in another way."""
        self._shared.setdefault(compute, result)

    def local_map(self, compute: Callable[["Pair"], Shared]) -> Shared:
        """compute(pair), cached only if other regions need it too."""
        return self.share(compute) if self.keeps_maps else compute(self)


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
    # A view, so that the caller's own array stays writable.
    frozen: NDArray[Scalar] = array.view()
    frozen.flags.writeable = False
    return frozen
