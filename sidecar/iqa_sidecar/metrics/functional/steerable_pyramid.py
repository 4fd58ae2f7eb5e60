"""Steerable pyramid in the pixel domain, with the two of six orientations that VIF needs.

References:
    E. P. Simoncelli, W. T. Freeman, "The steerable pyramid: a flexible architecture for multi-scale derivative
    computation", IEEE ICIP, 1995. https://doi.org/10.1109/ICIP.1995.537667
"""

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane


def build_bands(plane: Plane, levels: int) -> Iterator[tuple[Plane, Plane]]:
    """Vertical and horizontal band of each level, the finest first."""
    low = _filter(plane, _FIRST_LOW)
    for level in range(levels):
        if level > 0:
            low = np.ascontiguousarray(_filter(low, _LOW)[::2, ::2])
        yield _filter(low, _BAND), _filter(low, np.ascontiguousarray(_BAND.T))


def _filter(plane: Plane, kernel: NDArray[np.float32]) -> Plane:
    return np.asarray(cv2.filter2D(plane, -1, kernel, borderType=cv2.BORDER_REFLECT_101), np.float32)


def _mirror(quarter: list[list[float]]) -> NDArray[np.float32]:
    """Expands the upper left quarter of a symmetric filter."""
    part = np.array(quarter)
    upper = np.hstack([part, part[:, -2::-1]])
    return np.vstack([upper, upper[-2::-1]]).astype(np.float32)


# The upper left quarter of the symmetric "sp5" filters, as distributed with pyrtools 1.1 (MIT).
_FIRST_LOW = _mirror(
    [
        [0.00341614, -0.01551246, -0.03848215],
        [-0.01551246, 0.05586982, 0.15925570],
        [-0.03848215, 0.15925570, 0.40304148],
    ]
)
_LOW = 2 * _mirror(
    [
        [0.00085404, -0.00244917, -0.00387812, -0.00944432, -0.00962054],
        [-0.00244917, -0.00523281, -0.00661117, 0.00410600, 0.01002988],
        [-0.00387812, -0.00661117, 0.01396746, 0.03277038, 0.03981393],
        [-0.00944432, 0.00410600, 0.03277038, 0.06426333, 0.08169618],
        [-0.00962054, 0.01002988, 0.03981393, 0.08169618, 0.10096540],
    ]
)
_BAND = _mirror(
    [
        [0.00277643, 0.00496194, 0.01026699, 0.01455399],
        [-0.00986904, -0.00893064, 0.01189859, 0.02755155],
        [-0.01021852, -0.03075356, -0.08226445, -0.11732297],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
_BAND[4:] *= -1
