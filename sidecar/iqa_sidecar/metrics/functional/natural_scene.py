"""Natural-scene statistics for NIQE and BRISQUE: normalised luma, neighbour products, fitted distributions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane
from ...imaging.tiling import split_rows

Vector = NDArray[np.float64]


def normalise(luma: Plane, border: int) -> Plane:
    """MSCN coefficients (x - μ) / (σ + 1) under a 7 × 7 Gaussian of σ 7/6; `border` is cv2's rule outside."""
    rows, columns = luma.shape
    result = np.empty((rows, columns), np.float32)
    for band in split_rows(rows, columns):
        first, stop = max(0, band.start - _RADIUS), min(rows, band.stop + _RADIUS)
        above, below = _RADIUS - (band.start - first), _RADIUS - (stop - band.stop)
        padded = cv2.copyMakeBorder(luma[first:stop], above, below, _RADIUS, _RADIUS, border, value=0.0)
        _normalise_band(np.asarray(padded, np.float32), result[band])
    return result


def _normalise_band(padded: Plane, out: Plane) -> None:
    # Around mid-gray the squares, and with them float32 errors of E[x²] - μ², are four times smaller.
    padded -= 128
    mean = _filter(padded)
    np.subtract(padded[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS], mean, out=out)
    padded *= padded
    deviation = _filter(padded)
    mean *= mean
    deviation -= mean
    np.abs(deviation, out=deviation)
    cv2.sqrt(deviation, deviation)
    deviation += 1
    out /= deviation


def neighbour_products(mscn: Plane, above: Plane, block_width: int) -> Iterator[Plane]:
    """Products with the left, upper, upper left and upper right neighbour, wrapping around inside each block.

    `above`: the row above the first; `block_width`: columns per block. The products share one array.
    """
    product, left, right = np.empty_like(mscn), _shift(mscn, block_width, 1), _shift(mscn, block_width, -1)
    yield np.multiply(mscn, left, out=product)
    beyond = above[None]
    for neighbour, over in (
        (mscn, beyond),
        (left, _shift(beyond, block_width, 1)),
        (right, _shift(beyond, block_width, -1)),
    ):
        np.multiply(mscn[1:], neighbour[:-1], out=product[1:])
        np.multiply(mscn[:1], over, out=product[:1])
        yield product


def _shift(rows: Plane, block_width: int, step: int) -> Plane:
    """Each block's columns rotated by one."""
    result = np.empty_like(rows)
    if step > 0:
        result[:, 1:] = rows[:, :-1]
        result[:, ::block_width] = rows[:, block_width - 1 :: block_width]
    else:
        result[:, :-1] = rows[:, 1:]
        result[:, block_width - 1 :: block_width] = rows[:, ::block_width]
    return result


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


def sum_sides(values: Plane, block_width: int) -> NDArray[np.float64]:
    """For each block: number of values, of negative and of positive ones, Σ|x|, Σx², Σx² of the negative ones.

    Sums of several bands of a block can be added.
    """
    size = np.abs(values)
    below = np.less(values, 0)
    absolute = _sum_blocks(size, block_width, cv2.REDUCE_SUM)
    square = _sum_blocks(size, block_width, cv2.REDUCE_SUM2)
    # |x| - x is -2x where x is negative, and 0 elsewhere: far faster than indexing.
    size -= values
    left_square = _sum_blocks(size, block_width, cv2.REDUCE_SUM2) / 4
    left_count, right_count = _count_blocks(below, block_width), _count_blocks(np.greater(values, 0), block_width)
    count = np.full(len(square), float(values.shape[0] * block_width))
    return np.array([count, left_count, right_count, absolute, square, left_square])


def fit_asymmetric(sums: NDArray[np.float64]) -> AsymmetricFit:
    """Moment matching of Lasmar et al. 2009, from `sum_sides`. NaN for a block without both signs."""
    count, left_count, right_count, absolute, square, left_square = sums
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
    result = np.empty((height, width), np.float32)
    below = 2 * height + 4 - plane.shape[0]
    padded = np.asarray(cv2.copyMakeBorder(plane, 3, below, 0, 0, cv2.BORDER_REFLECT), np.float32)
    for band in split_rows(height, 2 * width):
        rows = _decimate_rows(padded[2 * band.start : 2 * band.stop + 6])
        # The columns are filtered everywhere and used at every second place: still faster than a transposition.
        wide = cv2.copyMakeBorder(rows, 0, 0, 3, 4, cv2.BORDER_REFLECT)
        result[band] = cv2.filter2D(wide, -1, _BICUBIC_TAPS, anchor=(3, 0))[:, 3 : 3 + 2 * width : 2]
    return result


def _decimate_rows(padded: Plane) -> Plane:
    """Eight symmetric taps on every second row."""
    height = (len(padded) - 6) // 2
    result = np.zeros((height, padded.shape[1]), np.float32)
    for tap, weight in enumerate(_BICUBIC):
        pair = padded[tap : tap + 2 * height - 1 : 2] + padded[7 - tap : 7 - tap + 2 * height - 1 : 2]
        pair *= weight
        result += pair
    return result


def _filter(padded: Plane) -> Plane:
    filtered = np.asarray(cv2.sepFilter2D(padded, -1, _KERNEL, _KERNEL), np.float32)
    return filtered[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS]


def _sum_blocks(values: Plane, block_width: int, kind: int) -> Vector:
    """Block sums of x or x²: down the columns first, with cv2.reduce."""
    columns = np.asarray(cv2.reduce(values, 0, kind))
    return np.asarray(columns.reshape(-1, block_width).sum(axis=1, dtype=np.float64))


def _count_blocks(mask: NDArray[np.bool_], block_width: int) -> Vector:
    """Adds bytes, at most 255 rows at a time against overflow: many times faster than widening them."""
    total = np.zeros(mask.shape[1] // block_width)
    for top in range(0, mask.shape[0], 255):
        columns = np.add.reduce(mask[top : top + 255].view(np.uint8), axis=0, dtype=np.uint8)
        total += columns.reshape(-1, block_width).sum(axis=1, dtype=np.float64)
    return total


def _gaussian_kernel() -> NDArray[np.float32]:
    """Rounded to multiples of 2⁻¹⁶ that add up to 1, so that in float32 a flat area equals its own mean exactly.

    Otherwise rounding errors would decide the sign of its coefficients.
    """
    steps = np.round(cv2.getGaussianKernel(2 * _RADIUS + 1, 7 / 6, cv2.CV_64F) * 2**16)
    steps[_RADIUS] += 2**16 - steps.sum()
    return np.asarray(steps / 2**16, np.float32)


_RADIUS = 3
_KERNEL = _gaussian_kernel()
# Keys' cubic (a = -1/2) at 1.75, 1.25, 0.75 and 0.25 pixels of the small image, halved.
_BICUBIC = np.array([-3, -9, 29, 111], np.float32) / 256
_BICUBIC_TAPS = np.concatenate([_BICUBIC, _BICUBIC[::-1]])[None]
# Candidate shapes: 0.2, 0.201 … 10 as in the authors' code, and NaN for blocks without statistics.
_ALPHAS = [step / 1000 for step in range(200, 10_001)]
_GAMMAS = np.array([[math.gamma(order / alpha) for order in (1, 2, 3)] for alpha in _ALPHAS]).T
_MOMENTS = _GAMMAS[1] ** 2 / (_GAMMAS[0] * _GAMMAS[2])
_SHAPES = np.append(_ALPHAS, np.nan)
_SCALES = np.append(np.sqrt(_GAMMAS[0] / _GAMMAS[2]), np.nan)
_MEAN_FACTORS = np.append(_GAMMAS[1] / _GAMMAS[0], np.nan)
