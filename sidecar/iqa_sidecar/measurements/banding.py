"""Banding: gaps in the histogram of posterised, quantised or stretched images."""

import cv2
import numpy as np

from ..imaging.image import Image
from .measurement import Measurement, Values

# Pixels; smaller images have gaps by chance. Above the second number rows are skipped.
_FEWEST_PIXELS = 16_384
_SAMPLES = 500_000

MEASUREMENTS = (
    Measurement(
        "banding", "fraction", 0, 1,
        "levels between a channel's 1st and 99th percentile that no pixel has; null below 16384 pixels",
    ),
)  # fmt: skip


def measure_banding(image: Image) -> Values:
    pixels = image.width * image.height
    if pixels < _FEWEST_PIXELS:
        return {"banding": None}
    rows = image.bgr[:: max(1, pixels // _SAMPLES)]
    return {"banding": sum(_unused_levels(plane) for plane in cv2.split(rows)) / 3}


def _unused_levels(plane: cv2.typing.MatLike) -> float:
    counts = cv2.calcHist([plane], [0], None, [256], [0, 256]).ravel()
    below = np.cumsum(counts) / plane.size
    first, last = np.searchsorted(below, [0.01, 0.99])
    return float(np.mean(counts[first : last + 1] == 0))
