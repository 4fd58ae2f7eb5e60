"""Shrinks an image by an integer factor with block means, as the metrics' published code does."""

import cv2
import numpy as np
from numpy.typing import NDArray

from .tiling import split_rows

# Rows of blocks at a time, so that the working set fits into the processor's cache.
_BLOCK_ROWS = 16


def viewing_factor(height: int, width: int) -> int:
    """The factor that brings the shorter side near 256, the size for which the metrics were designed."""
    return max(1, int(min(height, width) / 256 + 0.5))


def shrink_to(pixels: NDArray[np.uint8], max_pixels: int) -> NDArray[np.uint8]:
    """Shrinks by area to about `max_pixels`; smaller images are returned unchanged."""
    height, width = pixels.shape[:2]
    scale = (max_pixels / (width * height)) ** 0.5
    if scale >= 1:
        return pixels
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def block_means(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.float32]:
    """Matlab's conv2(x, ones(f) / f², 'same') at every f-th pixel; for even f, blocks start f/2 - 1 before it."""
    if factor == 1:
        return pixels.astype(np.float32)
    if factor == 2 and pixels.ndim == 2 and not pixels.shape[0] % 2 and not pixels.shape[1] % 2:
        return _halve_bytes(np.ascontiguousarray(pixels))
    # OpenCV halves 16-bit integers fast, and they hold the sums of such small blocks exactly.
    return _halve_repeatedly(pixels, factor) if factor in (2, 4, 8, 16) else _add_rows(pixels, factor)


def _halve_bytes(plane: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Reads two neighbours as one 16-bit integer: faster than widening each byte."""
    rows, columns = plane.shape[0] // 2, plane.shape[1] // 2
    means = np.empty((rows, columns), np.float32)
    pairs = plane.view(np.uint16)
    for band in split_rows(rows, columns):
        upper, lower = pairs[2 * band.start : 2 * band.stop : 2], pairs[2 * band.start + 1 : 2 * band.stop : 2]
        total = upper & 255
        part = upper >> 8
        total += part
        total += np.bitwise_and(lower, 255, out=part)
        total += np.right_shift(lower, 8, out=part)
        np.multiply(total, np.float32(0.25), out=means[band])
    return means


def _halve_repeatedly(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.float32]:
    height, width = pixels.shape[:2]
    rows, columns, before = _block_grid(height, width, factor)
    means = np.empty((rows, columns, *pixels.shape[2:]), np.float32)
    padded = np.zeros((_BLOCK_ROWS * factor, columns * factor, *pixels.shape[2:]), np.uint16)
    # As in the published code, a last column outside all blocks is not used.
    used = min(width, columns * factor - before)
    for top in range(0, rows, _BLOCK_ROWS):
        count = min(_BLOCK_ROWS, rows - top)
        first = top * factor - before
        inside = slice(max(0, first), min(height, first + count * factor))
        band = padded[: count * factor]
        filled = slice(inside.start - first, inside.stop - first)
        # Two steps, because numpy vectorises each but not both together.
        np.copyto(band[filled, before : before + used], pixels[inside, :used])
        band[filled] *= np.uint16(factor**2)
        band[filled.stop :] = 0
        while len(band) > count:
            band = cv2.resize(band, (band.shape[1] // 2, len(band) // 2), interpolation=cv2.INTER_AREA)
        np.multiply(band, np.float32(1 / factor**2), out=means[top : top + count])
    return means


def _add_rows(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.float32]:
    """For any factor: sums whole rows first, then columns."""
    height, width = pixels.shape[:2]
    rows, columns, before = _block_grid(height, width, factor)
    flat = pixels.reshape(height, -1)
    sums = np.zeros((rows, columns * factor, *pixels.shape[2:]), np.float32)
    used = min(width, columns * factor - before)
    for row in range(rows):
        first = row * factor - before
        block = flat[max(0, first) : min(height, first + factor)]
        total = cv2.reduce(block, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32F).reshape(width, *pixels.shape[2:])
        np.multiply(total[:used], np.float32(1 / factor), out=sums[row, before : before + used])
    return np.asarray(cv2.resize(sums, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _block_grid(height: int, width: int, factor: int) -> tuple[int, int, int]:
    """Rows and columns of blocks, and how many pixels before the image the first one begins."""
    return -(-height // factor), -(-width // factor), (factor - 1) // 2
