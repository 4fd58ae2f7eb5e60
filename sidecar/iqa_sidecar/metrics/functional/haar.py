"""Haar wavelets at every pixel for HaarPSI: differences of the sums over two halves of a square block.

A band of the image is one long array of rows with a border of zeros: the pixel to the right is one element further,
the one below one stride, and every step is one addition of two shifted views.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane

Flat = NDArray[np.float32]

# The largest block has 8 × 8 pixels: from 3 before its pixel to 4 after it.
_BEFORE, _AFTER = 3, 4


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of one band, and the size of the whole plane."""

    rows: slice
    height: int
    width: int

    @property
    def stride(self) -> int:
        return self.width + _BEFORE + _AFTER

    @property
    def around(self) -> slice:
        """The band's rows with those above and below that its blocks need."""
        return slice(max(0, self.rows.start - _BEFORE), min(self.height, self.rows.stop + _AFTER))

    @property
    def count(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def align(self, blocks: Flat, side: int) -> Flat:
        """Shifts values from the blocks' first pixels to the pixels of the band."""
        start = (_BEFORE + 1 - side // 2) * (self.stride + 1)
        return blocks[start : start + self.count * self.stride - _BEFORE - _AFTER]

    def unfold(self, values: Flat) -> Plane:
        """As a plane, without the border."""
        whole = np.lib.stride_tricks.as_strided(values, (self.count, self.width), (4 * self.stride, 4))
        return np.asarray(whole, np.float32)


def frame_channels(bgr: NDArray[np.float32], weights: NDArray[np.float32], frame: Frame) -> tuple[Flat, ...]:
    """Three weighted sums of B, G and R of the rows around the band, each as one array with border."""
    framed = np.zeros((len(weights), _BEFORE + frame.count + _AFTER, frame.stride), np.float32)
    first = frame.around.start - frame.rows.start + _BEFORE
    cv2.split(cv2.transform(bgr, weights), list(framed[:, first : first + len(bgr), _BEFORE:-_AFTER]))
    return tuple(plane.ravel() for plane in framed)


def haar_responses(values: Flat, frame: Frame, horizontal: bool) -> tuple[Flat, Flat, Flat]:
    """Blocks of 2, 4 and 8 pixels; their sums are 2, 4 and 8 times the wavelets."""
    step, across = (1, frame.stride) if horizontal else (frame.stride, 1)
    two = values[across:] + values[:-across]
    four = two[2 * across :] + two[: -2 * across]
    eight = four[4 * across :] + four[: -4 * across]
    finer = two[step:] - two[:-step]
    half = four[step:] + four[:-step]
    fine = half[2 * step :] - half[: -2 * step]
    half = eight[step:] + eight[:-step]
    half = half[2 * step :] + half[: -2 * step]
    coarse = half[4 * step :] - half[: -4 * step]
    return frame.align(finer, 2), frame.align(fine, 4), frame.align(coarse, 8)


def sum_blocks(values: Flat, frame: Frame) -> Flat:
    """Over 2 × 2 pixels."""
    two = values[frame.stride :] + values[: -frame.stride]
    return frame.align(two[1:] + two[:-1], 2)
