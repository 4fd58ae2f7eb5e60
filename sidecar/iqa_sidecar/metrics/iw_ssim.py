"""IW-SSIM: MS-SSIM on a Laplacian pyramid, each pixel weighted by its information content.

References:
    Z. Wang, Q. Li, "Information content weighting for perceptual image quality assessment",
    IEEE Transactions on Image Processing, 2011. https://doi.org/10.1109/TIP.2010.2092435
"""

import math

import cv2
import numpy as np

from ..imaging.image import Pair, Plane
from .functional.information import find_information
from .functional.pooling import mean_of, total_of
from .ssim import WINDOW_SIDE, compare
from .tool import Result, Tool, require_reference

# The exponents of MS-SSIM, from the finest scale to the coarsest.
_WEIGHTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])
_SCALES = len(_WEIGHTS)
# Doubles every level's values, as the pyramid of the authors' toolbox does.
_KERNEL = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16 / math.sqrt(2))


def score(pair: Pair, _wants_map: bool) -> Result:
    """Product of the scales' weighted means, each to its exponent; 1 is best."""
    bands, other_bands = _pyramid(pair.image.luma), _pyramid(require_reference(pair).luma)
    logarithm = 0.0
    for level, exponent in enumerate(_WEIGHTS / _WEIGHTS.sum()):
        image, reference = bands[level], other_bands[level]
        last = level == _SCALES - 1
        if last:
            mean = compare(image, reference).similarity
        else:
            similarity = np.empty([side - WINDOW_SIDE + 1 for side in image.shape], np.float32)
            compare(image, reference, similarity, with_luminance=False)
            # The parent is the next coarser band, except for the last one, which is not a difference.
            parent = other_bands[level + 1] if level < _SCALES - 2 else None
            weight = find_information(image, reference, parent, margin=WINDOW_SIDE // 2)
            total = total_of(weight)
            mean = total_of(similarity * weight) / total if total > 0 else mean_of(similarity)
        # Opposite structures have a negative mean, of which the authors take the magnitude.
        logarithm += exponent * math.log(abs(mean)) if mean else -math.inf
    return Result(math.exp(logarithm))


def _pyramid(plane: Plane) -> list[Plane]:
    bands = []
    for _ in range(_SCALES - 1):
        low = cv2.sepFilter2D(plane, -1, _KERNEL, _KERNEL, borderType=cv2.BORDER_REFLECT_101)[::2, ::2]
        bands.append(plane - _expand(np.ascontiguousarray(low, np.float32), *plane.shape))
        plane = np.ascontiguousarray(low, np.float32)
    return [*bands, plane]


def _expand(low: Plane, height: int, width: int) -> Plane:
    sparse = np.zeros((2 * low.shape[0], 2 * low.shape[1]), np.float32)
    sparse[::2, ::2] = low
    filtered = cv2.sepFilter2D(sparse, -1, _KERNEL, _KERNEL, borderType=cv2.BORDER_REFLECT_101)
    return np.asarray(filtered[:height, :width], np.float32)


# The smallest side whose fifth scale (halved four times, rounded up) holds one window.
_MIN_SIDE = (WINDOW_SIDE - 1) * 2 ** (_SCALES - 1) + 1

TOOL = Tool(name="IW-SSIM", version="1.0.1", needs_reference=True, min_side=_MIN_SIDE, has_map=False, score=score)
