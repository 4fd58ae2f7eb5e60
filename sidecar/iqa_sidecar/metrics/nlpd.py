"""NLPD: distance of two Laplacian pyramids, each value divided by the local activity.

References:
    V. Laparra, J. Ballé, A. Berardino, E. P. Simoncelli, "Perceptual image quality assessment using a normalized
    Laplacian pyramid", Human Vision and Electronic Imaging, 2016.
    https://doi.org/10.2352/ISSN.2470-1173.2016.16.HVEI-103
"""

import math

import cv2
import numpy as np

from ..imaging.image import Pair, Plane
from .functional.pooling import total_of
from .tool import Result, Tool, require_reference

_LEVELS = 6
_KERNEL = np.array([0.05, 0.25, 0.4, 0.25, 0.05], np.float32)
# For each level, fitted by the authors to natural images: the constant, and the weights of the neighbours above, to the
# left, to the right and below.
_NORMALISATION = (
    (0.0248, 0.1015, 0.1460, 0.1493, 0.1011),
    (0.0185, 0.0837, 0.1846, 0.1986, 0.0757),
    (0.0179, 0.0467, 0.2243, 0.2138, 0.0477),
    (0.0191, 0.0, 0.2616, 0.2503, 0.0),
    (0.0220, 0.0, 0.2552, 0.2598, 0.0),
    (0.2782, 0.0, 0.0717, 0.2215, 0.0),
)


def score(pair: Pair, _wants_map: bool) -> Result:
    """Mean over the levels of the root mean squared difference; 0 is best."""
    image, reference = (
        np.multiply(side.luma_bytes, np.float32(1 / 255), dtype=np.float32)
        for side in (pair.image, require_reference(pair))
    )
    distance = 0.0
    for level in range(_LEVELS):
        if level == _LEVELS - 1:
            band, other_band = image, reference
        else:
            (image, band), (reference, other_band) = _split(image), _split(reference)
        difference = _normalise(band, level)
        difference -= _normalise(other_band, level)
        difference *= difference
        distance += math.sqrt(total_of(difference) / difference.size)
    return Result(distance / _LEVELS)


def _split(plane: Plane) -> tuple[Plane, Plane]:
    """The next level, and its difference from this one."""
    low = np.asarray(cv2.sepFilter2D(plane, -1, _KERNEL, _KERNEL, borderType=cv2.BORDER_REFLECT), np.float32)
    low = np.ascontiguousarray(low[::2, ::2])
    tall = _double(low)[: plane.shape[0]]
    wide = _double(np.ascontiguousarray(tall.T))[: plane.shape[1]]
    return low, plane - wide.T


def _double(plane: Plane) -> Plane:
    """Inserts zeros between the rows and smooths with the kernel; the edge rows are repeated once."""
    padded = np.concatenate([plane[:1], plane, plane[-1:]])
    side, centre, between = 2 * _KERNEL[0], 2 * _KERNEL[2], 2 * _KERNEL[1]
    result = np.empty((2 * len(plane), plane.shape[1]), np.float32)
    np.multiply(plane, centre, out=result[::2])
    result[::2] += (padded[:-2] + padded[2:]) * side
    np.add(plane, padded[2:], out=result[1::2])
    result[1::2] *= between
    return result


def _normalise(band: Plane, level: int) -> Plane:
    constant, above, left, right, below = _NORMALISATION[level]
    kernel = np.array([[0, above, 0], [left, 0, right], [0, below, 0]], np.float32)
    activity = np.asarray(cv2.filter2D(np.abs(band), -1, kernel, borderType=cv2.BORDER_CONSTANT), np.float32)
    activity += np.float32(constant)
    return np.divide(band, activity, out=activity)


TOOL = Tool(name="NLPD", version="1.0.0", needs_reference=True, min_side=32, has_map=False, score=score)
