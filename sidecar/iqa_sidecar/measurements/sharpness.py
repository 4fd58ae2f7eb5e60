"""Sharpness: how much of the fine detail a further blur would remove.

References:
    F. Crete, T. Dolmiere, P. Ladret, M. Nicolas, "The blur effect: perception and estimation with a new no-reference
    perceptual blur metric", Human Vision and Electronic Imaging, 2007. https://doi.org/10.1117/12.702790
"""

import cv2
import numpy as np

from ..imaging.image import Image
from .measurement import Measurement, Values

_SIDE = 9

MEASUREMENTS = (
    Measurement(
        "sharpness", "fraction", 0, 1,
        "share of the differences between neighbours that a 9-pixel mean removes; falls with blur, rises with noise",
    ),
)  # fmt: skip


def measure_sharpness(image: Image) -> Values:
    """1 - blur of Crete et al. 2007, with both directions summed."""
    if min(image.width, image.height) < _SIDE:
        return {"sharpness": None}
    # Sums of 3 × 3 pixels, because after a strong blur the rounding to gray levels looks like detail.
    luma = cv2.boxFilter(image.luma_bytes, cv2.CV_16U, (3, 3), normalize=False)
    total_across, removed_across = _compare(luma, (_SIDE, 1), axis=1)
    total_down, removed_down = _compare(luma, (1, _SIDE), axis=0)
    total = total_across + total_down
    return {"sharpness": (removed_across + removed_down) / total if total else None}


def _compare(luma: cv2.typing.MatLike, size: tuple[int, int], axis: int) -> tuple[float, float]:
    """Sums of |difference| and of its loss after a blur, as integers scaled by the 9 pixels of the mean."""
    blurred = cv2.boxFilter(luma, cv2.CV_16U, size, normalize=False)
    before = _differences(luma, axis) * np.uint16(_SIDE)
    after = _differences(blurred, axis)
    # Saturates at 0 where the blurred difference is larger.
    removed = cv2.subtract(before, after)
    return _total(before), _total(removed)


def _differences(plane: cv2.typing.MatLike, axis: int) -> cv2.typing.MatLike:
    return cv2.absdiff(plane[:, 1:], plane[:, :-1]) if axis else cv2.absdiff(plane[1:], plane[:-1])


def _total(plane: cv2.typing.MatLike) -> float:
    """Sum of integers in float64: exact in any order."""
    return float(np.sum(cv2.reduce(plane, 0, cv2.REDUCE_SUM, dtype=cv2.CV_64F)))
