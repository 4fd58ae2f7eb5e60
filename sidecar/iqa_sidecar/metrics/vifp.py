"""VIF of Sheikh and Bovik 2006 in the pixel domain (VIFp): how much of the reference's information is left."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Pair, Plane
from ..tool import Result, Tool, reference_of
from .pooling import mean_of, total_of

# Of the eye, in the model of the paper.
_NOISE = np.float32(2)
_TINY = np.float32(1e-10)
_WINDOWS = (17, 9, 5, 3)


def score(pair: Pair, _wants_map: bool) -> Result:
    """Information in the picture over information in the reference, four scales; 1 for the reference itself."""
    luma, other_luma = pair.image.luma, reference_of(pair).luma
    # Squares of what is left are smaller, and so is what float32 loses in E[x²] - μ²; a flat picture is exactly zero.
    level = np.float32(round(mean_of(other_luma)))
    image, reference = luma - level, other_luma - level
    kept = available = 0.0
    for scale, side in enumerate(_WINDOWS):
        kernel = np.asarray(cv2.getGaussianKernel(side, side / 5), np.float32)
        if scale > 0:
            image, reference = _shrink(image, kernel), _shrink(reference, kernel)
        numerator, denominator = _information(image, reference, kernel)
        kept += numerator
        available += denominator
    if available == 0:
        # A flat reference has no information that could be kept.
        return Result(1.0 if np.array_equal(luma, other_luma) else math.nan)
    return Result(kept / available)


def _shrink(plane: Plane, kernel: NDArray[np.float32]) -> Plane:
    return np.ascontiguousarray(_average(plane, kernel)[::2, ::2])


def _information(image: Plane, reference: Plane, kernel: NDArray[np.float32]) -> tuple[float, float]:
    mean, other_mean = _average(image, kernel), _average(reference, kernel)
    variance = _average(image * image, kernel) - mean * mean
    other_variance = _average(reference * reference, kernel) - other_mean * other_mean
    covariance = _average(image * reference, kernel) - mean * other_mean
    np.maximum(variance, 0, out=variance)
    np.maximum(other_variance, 0, out=other_variance)
    # Where the reference has no variance there is nothing to keep; where the picture has none, nothing was kept.
    known = (other_variance >= _TINY) & (variance >= _TINY)
    gain = np.divide(covariance, other_variance, out=np.zeros_like(covariance), where=known)
    residual = variance - gain * covariance
    # A negative gain counts as noise altogether.
    negative = gain < 0
    residual[negative] = variance[negative]
    gain[negative] = 0
    np.maximum(residual, _TINY, out=residual)
    residual += _NOISE
    gain *= gain
    gain *= other_variance
    gain /= residual
    other_variance /= _NOISE
    return total_of(np.log1p(gain)), total_of(np.log1p(other_variance))


def _average(plane: Plane, kernel: NDArray[np.float32]) -> Plane:
    radius = len(kernel) // 2
    filtered = np.asarray(cv2.sepFilter2D(plane, -1, kernel, kernel), np.float32)
    return filtered[radius:-radius, radius:-radius]


TOOL = Tool(name="VIFp", version="1.0.0", needs_reference=True, min_side=41, has_map=False, score=score)
