"""Natural-scene statistics that NIQE and BRISQUE share: normalised luma, neighbour products, fitted distributions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Plane

Vector = NDArray[np.float64]


def normalise(luma: Plane, border: int) -> Plane:
    """MSCN coefficients (x - μ) / (σ + 1) under a 7 × 7 Gaussian of σ 7/6; `border` is cv2's rule outside."""
    padded = np.asarray(cv2.copyMakeBorder(luma, _RADIUS, _RADIUS, _RADIUS, _RADIUS, border, value=0.0), np.float32)
    # Around mid-grey the squares are four times smaller, and so is what float32 loses in E[x²] - μ².
    padded -= 128
    mean = _filter(padded)
    centred = padded[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS] - mean
    padded *= padded
    deviation = _filter(padded)
    mean *= mean
    deviation -= mean
    np.abs(deviation, out=deviation)
    np.sqrt(deviation, out=deviation)
    deviation += 1
    centred /= deviation
    return centred


def neighbour_products(mscn: Plane, block_width: int) -> Iterator[Plane]:
    """Products with the left, upper, upper left and upper right neighbour, wrapping around inside each block.

    The rows are those of one row of blocks, each block `block_width` columns wide. Every product is a new array.
    """
    left, right = np.empty_like(mscn), np.empty_like(mscn)
    left[:, 1:] = mscn[:, :-1]
    left[:, ::block_width] = mscn[:, block_width - 1 :: block_width]
    right[:, :-1] = mscn[:, 1:]
    right[:, block_width - 1 :: block_width] = mscn[:, ::block_width]
    yield mscn * left
    for neighbour in (mscn, left, right):
        product = np.empty_like(mscn)
        np.multiply(mscn[1:], neighbour[:-1], out=product[1:])
        np.multiply(mscn[0], neighbour[-1], out=product[0])
        yield product


@dataclass(frozen=True, slots=True)
class AsymmetricFit:
    """Asymmetric generalised Gaussians, one per block: shape α and the deviations of either side, σl and σr."""

    shape: Vector
    left: Vector
    right: Vector
    # β / σ = √(Γ(1/α) / Γ(3/α))
    scale: Vector
    # (βr - βl) · Γ(2/α) / Γ(1/α)
    mean: Vector


def fit_asymmetric(values: Plane, block_width: int) -> AsymmetricFit:
    """Moment matching of Lasmar et al. 2009. Overwrites `values`. A block without one of the signs gives NaN."""
    count = values.shape[0] * block_width
    negative = np.minimum(values, 0)
    left_count = _count_blocks(values < 0, block_width)
    right_count = _count_blocks(values > 0, block_width)
    absolute = _sum_blocks(values, block_width) - 2 * _sum_blocks(negative, block_width)
    values *= values
    negative *= negative
    square, left_square = _sum_blocks(values, block_width), _sum_blocks(negative, block_width)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.sqrt(left_square / left_count)
        right = np.sqrt((square - left_square) / right_count)
        ratio = left / right
        moment = (absolute / count) ** 2 / (square / count)
        moment *= (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    nearest = _nearest_shape(moment)
    scale = _SCALES[nearest]
    return AsymmetricFit(_SHAPES[nearest], left, right, scale, (right - left) * scale * _MEAN_FACTORS[nearest])


def fit_symmetric(values: Plane) -> tuple[float, float]:
    """Shape α and variance of a generalised Gaussian (Sharifi and Leon-Garcia 1995); NaN without any variance."""
    variance = cv2.norm(values, cv2.NORM_L2SQR) / values.size
    absolute = cv2.norm(values, cv2.NORM_L1) / values.size
    moment = absolute**2 / variance if variance > 0 else math.nan
    return float(_SHAPES[_nearest_shape(np.array([moment]))[0]]), variance


def _nearest_shape(moment: Vector) -> NDArray[np.intp]:
    """Index of the α whose E|x|² / E[x²] is nearest, or of the NaN at the end of the tables."""
    above = np.clip(np.searchsorted(_MOMENTS, moment), 1, len(_MOMENTS) - 1)
    nearest = above - (moment - _MOMENTS[above - 1] < _MOMENTS[above] - moment)
    return np.where(np.isfinite(moment), nearest, len(_MOMENTS))


def halve_bicubic(plane: Plane) -> Plane:
    """Half size by the antialiased bicubic filter of Matlab's imresize, mirrored at the edges; odd sides round up."""
    height, width = ((side + 1) // 2 for side in plane.shape)
    below, right = 2 * height + 3 - plane.shape[0] + 1, 2 * width + 3 - plane.shape[1] + 1
    padded = np.asarray(cv2.copyMakeBorder(plane, 3, below, 3, right, cv2.BORDER_REFLECT), np.float32)
    rows = _decimate(padded, height)
    return np.ascontiguousarray(_decimate(np.ascontiguousarray(rows.T), width).T)


def _decimate(padded: Plane, height: int) -> Plane:
    """Eight symmetric taps on every second row."""
    result = np.zeros((height, padded.shape[1]), np.float32)
    for tap, weight in enumerate(_BICUBIC):
        pair = padded[tap : tap + 2 * height : 2] + padded[7 - tap : 7 - tap + 2 * height : 2]
        pair *= weight
        result += pair
    return result


def _filter(padded: Plane) -> Plane:
    filtered = np.asarray(cv2.sepFilter2D(padded, -1, _KERNEL, _KERNEL), np.float32)
    return filtered[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS]


def _sum_blocks(values: Plane, block_width: int) -> Vector:
    columns = values.sum(axis=0).reshape(-1, block_width)
    return np.asarray(columns.sum(axis=1, dtype=np.float64))


def _count_blocks(mask: NDArray[np.bool_], block_width: int) -> Vector:
    """Adds bytes, 255 rows at a time so that none overflows: many times faster than widening each."""
    total = np.zeros(mask.shape[1] // block_width)
    for top in range(0, mask.shape[0], 255):
        columns = np.add.reduce(mask[top : top + 255].view(np.uint8), axis=0, dtype=np.uint8)
        total += columns.reshape(-1, block_width).sum(axis=1, dtype=np.float64)
    return total


def _gaussian_kernel() -> NDArray[np.float32]:
    """Rounded to multiples of 2⁻¹⁶ that add up to 1, so that in float32 a flat area equals its own mean exactly.

    Otherwise rounding errors alone would decide on which side of zero its coefficients are counted.
    """
    steps = np.round(cv2.getGaussianKernel(2 * _RADIUS + 1, 7 / 6, cv2.CV_64F) * 2**16)
    steps[_RADIUS] += 2**16 - steps.sum()
    return np.asarray(steps / 2**16, np.float32)


_RADIUS = 3
_KERNEL = _gaussian_kernel()
# Keys' cubic (a = -1/2) at 1.75, 1.25, 0.75 and 0.25 pixels of the small picture, halved.
_BICUBIC = np.array([-3, -9, 29, 111], np.float32) / 256
# The shapes that a fit chooses from: 0.2, 0.201 .. 10 as in the authors' code, and NaN for blocks without statistics.
_ALPHAS = [step / 1000 for step in range(200, 10_001)]
_GAMMAS = np.array([[math.gamma(order / alpha) for order in (1, 2, 3)] for alpha in _ALPHAS]).T
_MOMENTS = _GAMMAS[1] ** 2 / (_GAMMAS[0] * _GAMMAS[2])
_SHAPES = np.append(_ALPHAS, np.nan)
_SCALES = np.append(np.sqrt(_GAMMAS[0] / _GAMMAS[2]), np.nan)
_MEAN_FACTORS = np.append(_GAMMAS[1] / _GAMMAS[0], np.nan)
