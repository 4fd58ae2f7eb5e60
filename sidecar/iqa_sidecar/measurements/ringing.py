"""Ringing: ripples beside strong edges, from codecs and resampling filters."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Plane
from .measurement import Measurement, Values

# Gray levels per pixel; and the maximum share of pixels that count as strong edges.
_WEAKEST_SLOPE = 8.0
_STRONGEST_SHARE = 0.05
# Distances in pixels from a strong edge: its flank, the ripples, and beyond them.
_FLANK, _BESIDE, _AWAY = 2, 6, 12
_FEWEST_PIXELS = 100

MEASUREMENTS = (
    Measurement(
        "ringing", "fraction", 0, None,
        "fine detail 3–6 pixels beside strong edges less that 12 pixels away, of the edges' slope; null without both",
    ),
)  # fmt: skip


def measure_ringing(image: Image, smooth: Plane, slope: Plane) -> Values:
    """`smooth`: luma after a Gaussian of σ 1; `slope`: its gradient magnitude."""
    sample = slope[::4, ::4].ravel()
    rank = int((1 - _STRONGEST_SHARE) * (sample.size - 1))
    threshold = max(_WEAKEST_SLOPE, float(np.partition(sample, rank)[rank]))
    strong = (slope > threshold).view(np.uint8) * np.uint8(255)
    flank = _grow(strong, _FLANK)
    near = _grow(flank, _BESIDE - _FLANK)
    # Subtraction instead of "and not": the masks are 0 and 255, and each contains the previous.
    beside = cv2.subtract(near, flank)
    away = cv2.bitwise_not(_grow(near, _AWAY - _BESIDE))
    if min(cv2.countNonZero(mask) for mask in (strong, beside, away)) < _FEWEST_PIXELS:
        return {"ringing": None}
    detail = cv2.absdiff(image.luma, smooth)
    excess = cv2.mean(detail, beside)[0] - cv2.mean(detail, away)[0]
    return {"ringing": max(0.0, excess / cv2.mean(slope, strong)[0])}


def _grow(mask: NDArray[np.uint8], by: int) -> NDArray[np.uint8]:
    side = 2 * by + 1
    return np.asarray(cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_RECT, (side, side))), np.uint8)
