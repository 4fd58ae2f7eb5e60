"""GMSD of Xue et al. 2014: how unevenly the gradients of picture and reference agree."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Pair, Picture, Plane
from ..tool import Result, Tool, reference_of

# Stabilises the ratio where both gradients are weak; the paper's value for 0..255.
_CONSTANT = np.float32(170)
_SMOOTH = np.full(3, 1 / 3, np.float32)
_DIFFERENCE = np.array([1, 0, -1], np.float32)


def score(pair: Pair, wants_map: bool) -> Result:
    """Standard deviation (n - 1) of the local gradient similarity of eq. 4; 0 is best."""
    similarity = _similarity(_gradient_energy(pair.image), _gradient_energy(reference_of(pair)))
    deviation = float(cv2.meanStdDev(similarity)[1][0, 0]) * math.sqrt(similarity.size / (similarity.size - 1))
    return Result(deviation, similarity if wants_map else None)


def _gradient_energy(picture: Picture) -> Plane:
    """Square of the Prewitt gradient of luma at half size, zeros outside the picture as in the authors' code."""
    luma = picture.half_luma
    across = _filter(luma, _DIFFERENCE, _SMOOTH)
    down = _filter(luma, _SMOOTH, _DIFFERENCE)
    # Not cv2.magnitude: its last bit depends on where the array lies in memory.
    across *= across
    down *= down
    across += down
    return across


def _filter(plane: Plane, row: NDArray[np.float32], column: NDArray[np.float32]) -> Plane:
    return np.asarray(cv2.sepFilter2D(plane, -1, row, column, borderType=cv2.BORDER_CONSTANT), np.float32)


def _similarity(image: Plane, reference: Plane) -> Plane:
    """(2 g h + c) / (g² + h² + c) from g² and h²; overwrites `image`."""
    similarity = image * reference
    np.sqrt(similarity, out=similarity)
    similarity *= 2
    similarity += _CONSTANT
    image += reference
    image += _CONSTANT
    similarity /= image
    return similarity


TOOL = Tool(name="GMSD", version="1.0.0", needs_reference=True, min_side=8, has_map=True, score=score)
