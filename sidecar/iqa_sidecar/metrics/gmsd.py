"""GMSD: standard deviation of the local gradient similarity.

References:
    W. Xue, L. Zhang, X. Mou, A. C. Bovik, "Gradient magnitude similarity deviation: a highly efficient perceptual
    image quality index", IEEE Transactions on Image Processing, 2014. https://doi.org/10.1109/TIP.2013.2293423
"""

import math

import numpy as np

from ..imaging.image import Image, Pair, Plane
from ..imaging.tiling import split_rows
from .functional.pooling import inside, variance_of
from .functional.similarity import PREWITT, gradient_energy, missing_of_squares
from .tool import Result, Tool, require_reference

# Stabilises the ratio where both gradients are weak; the paper's value for 0..255.
_CONSTANT = 170.0
_SHRINK = 2


def score(pair: Pair, wants_map: bool) -> Result:
    """Standard deviation (n - 1) of the local gradient similarity of eq. 4; 0 is best."""
    whole = pair.local_map(_compare)
    missing = inside(pair, whole, _SHRINK)
    # 1 - similarity has the same deviation, and is exactly 0 for equal images.
    deviation = math.sqrt(variance_of(missing) * missing.size / (missing.size - 1))
    return Result(deviation, 1 - missing if wants_map else None)


def _compare(pair: Pair) -> Plane:
    image, reference = pair.image, require_reference(pair)
    first, second = _half(image), _half(reference)
    missing = np.empty_like(first)
    for rows in split_rows(*first.shape):
        energy, other_energy = (gradient_energy(plane, PREWITT, rows) for plane in (first, second))
        missing_of_squares(energy, other_energy, _CONSTANT, missing[rows])
    return missing


def _half(image: Image) -> Plane:
    """Means of 2 × 2 pixels of luma, with zeros outside as in the authors' code (halves an odd last row or column)."""
    half = image.half_luma
    if image.height % 2 or image.width % 2:
        half = half.copy()
        half[-1] *= np.float32(0.5 if image.height % 2 else 1)
        half[:, -1] *= np.float32(0.5 if image.width % 2 else 1)
    return half


TOOL = Tool(name="GMSD", version="1.1.2", needs_reference=True, min_side=8, has_map=True, pools_map=True, score=score)
