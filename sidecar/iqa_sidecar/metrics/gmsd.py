"""GMSD of Xue et al. 2014: how unevenly the gradients of picture and reference agree."""

import math

import cv2
import numpy as np

from ..picture import Pair, Picture, Plane
from ..tool import Result, Tool, reference_of

# Stabilises the ratio where both gradients are weak; the paper's value for 0..255.
_CONSTANT = np.float32(170)
_SMOOTH = np.full(3, 1 / 3, np.float32)
_DIFFERENCE = np.array([1, 0, -1], np.float32)


def score(pair: Pair, wants_map: bool) -> Result:
    """Standard deviation (n − 1) of the local gradient similarity of eq. 4; 0 is best."""
    similarity = _similarity(_gradient(pair.image), _gradient(reference_of(pair)))
    deviation = float(cv2.meanStdDev(similarity)[1][0, 0]) * math.sqrt(similarity.size / (similarity.size - 1))
    return Result(deviation, similarity if wants_map else None)


def _gradient(picture: Picture) -> Plane:
    """Magnitude of the Prewitt gradient of luma at half size, zeros outside the picture as in the authors' code."""
    luma = picture.half_luma
    across = cv2.sepFilter2D(luma, -1, _DIFFERENCE, _SMOOTH, borderType=cv2.BORDER_CONSTANT)
    down = cv2.sepFilter2D(luma, -1, _SMOOTH, _DIFFERENCE, borderType=cv2.BORDER_CONSTANT)
    return np.asarray(cv2.magnitude(across, down, magnitude=across), np.float32)


def _similarity(image: Plane, reference: Plane) -> Plane:
    """(2 g h + c) / (g² + h² + c)"""
    product = image * reference
    product *= 2
    product += _CONSTANT
    image *= image
    reference *= reference
    image += reference
    image += _CONSTANT
    product /= image
    return product


TOOL = Tool(name="GMSD", version="1.0.0", needs_reference=True, min_side=8, has_map=True, score=score)
