"""MS-GMSD: GMSD with a masking term, at four scales.

References:
    B. Zhang, P. V. Sander, A. Bermak, "Gradient magnitude similarity deviation on multiple scales for color image
    quality assessment", IEEE ICASSP, 2017. https://doi.org/10.1109/ICASSP.2017.7952357
"""

import math

import cv2
import numpy as np

from ..imaging.image import Image, Pair, Plane
from .functional.pooling import variance_of
from .functional.similarity import PREWITT, gradient_energy
from .tool import Result, Tool, require_reference

_CONSTANT = np.float32(170)
# How much the paper's masking term takes off.
_MASKING = 0.5
# Of the squared deviations, from the finest scale to the coarsest.
_WEIGHTS = (0.096, 0.596, 0.289, 0.019)


def score(pair: Pair, _wants_map: bool) -> Result:
    """Root of the weighted sum of the scales' squared deviations; 0 is best."""
    planes = [_planes(side) for side in (pair.image, require_reference(pair))]
    total = 0.0
    for weight, image, reference in zip(_WEIGHTS, *planes, strict=True):
        missing = _compare(gradient_energy(image, PREWITT), gradient_energy(reference, PREWITT))
        total += weight * variance_of(missing)
    return Result(math.sqrt(total))


def _planes(image: Image) -> list[Plane]:
    planes = [image.luma]
    for _ in _WEIGHTS[1:]:
        planes.append(_halve(planes[-1]))
    return planes


def _halve(plane: Plane) -> Plane:
    """Means of 2 × 2 pixels, zeros outside."""
    height, width = plane.shape
    padded = cv2.copyMakeBorder(plane, 0, height % 2, 0, width % 2, cv2.BORDER_CONSTANT, value=0.0)
    return np.asarray(
        cv2.resize(padded, ((width + 1) // 2, (height + 1) // 2), interpolation=cv2.INTER_AREA), np.float32
    )


def _compare(first: Plane, second: Plane) -> Plane:
    """What ((2 - a) g h + c) / (g² + h² - a g h + c) lacks to 1, which deviates as much: (g - h)² over the same.

    From g² and h², overwriting them; exactly 0 where both are equal.
    """
    total = first + second
    np.sqrt(first, out=first)
    np.sqrt(second, out=second)
    total -= np.multiply(first, second) * np.float32(_MASKING)
    total += _CONSTANT
    first -= second
    first *= first
    first /= total
    return first


TOOL = Tool(name="MS-GMSD", version="1.0.1", needs_reference=True, min_side=17, has_map=False, score=score)
