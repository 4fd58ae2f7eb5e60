"""Shrinks a picture by an integer factor as the metrics' published code does: block means, zeros outside."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.integer[Any] | np.floating[Any]]

# Rows of blocks at a time: what is being worked on stays in the processor's cache.
_BLOCK_ROWS = 16


def viewing_factor(height: int, width: int) -> int:
    """How many pixels become one so that the shorter side comes near 256, for which the metrics were designed."""
    return max(1, int(min(height, width) / 256 + 0.5))


def block_means(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.float32]:
    """Matlab's conv2(x, ones(f) / f², 'same') at every f-th pixel; for even f a block starts f/2 - 1 before its."""
    if factor == 1:
        return pixels.astype(np.float32)
    height, width = pixels.shape[:2]
    rows, columns = -(-height // factor), -(-width // factor)
    before = (factor - 1) // 2
    # In 16 bits the sums of blocks are exact, and twice as many fit into a register as in float32.
    exact = 255 * factor**2 < 2**16
    scale = factor**2 if exact else 1
    means = np.empty((rows, columns, *pixels.shape[2:]), np.float32)
    padded = np.zeros((_BLOCK_ROWS * factor, columns * factor, *pixels.shape[2:]), np.uint16 if exact else np.float32)
    # A last column that no block reaches is not used, as in the published code.
    used = min(width, columns * factor - before)
    for top in range(0, rows, _BLOCK_ROWS):
        count = min(_BLOCK_ROWS, rows - top)
        first = top * factor - before
        inside = slice(max(0, first), min(height, first + count * factor))
        band = padded[: count * factor]
        filled = slice(inside.start - first, inside.stop - first)
        np.multiply(pixels[inside, :used], band.dtype.type(scale), out=band[filled, before : before + used])
        band[filled.stop :] = 0
        sums = _shrink(band, factor)
        np.multiply(sums, np.float32(1 / scale), out=means[top : top + count])
    return means


def _shrink(band: Numbers, factor: int) -> Numbers:
    """By two as often as possible: OpenCV has fast code for that factor."""
    while factor % 2 == 0:
        band, factor = _shrink_once(band, 2), factor // 2
    return _shrink_once(band, factor) if factor > 1 else band


def _shrink_once(band: Numbers, factor: int) -> Numbers:
    size = (band.shape[1] // factor, band.shape[0] // factor)
    return np.asarray(cv2.resize(band, size, interpolation=cv2.INTER_AREA))
