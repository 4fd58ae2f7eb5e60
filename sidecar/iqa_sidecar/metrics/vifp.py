"""VIFp: visual information fidelity in the pixel domain, the share of the reference's information that is left.

References:
    H. R. Sheikh, A. C. Bovik, "Image information and visual quality", IEEE Transactions on Image Processing, 2006.
    https://doi.org/10.1109/TIP.2005.859378
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from ..imaging.tiling import allocate, fit, split_rows, split_tiles
from .functional.pooling import total_of
from .tool import Result, Tool, require_reference

# Bytes at full size, float32 at smaller scales.
Source = NDArray[np.uint8] | Plane

# Variance of the visual noise in the paper's model.
_NOISE = np.float32(2)
# Smaller variances count as zero.
_TINY = 1e-10
_WINDOWS = (17, 9, 5, 3)
# More would multiply more zeros, fewer would need more calls.
_ROWS_AT_ONCE = 4


def score(pair: Pair, _wants_map: bool) -> Result:
    """Information in the image over information in the reference, four scales; 1 for the reference itself."""
    luma, other_luma = pair.image.luma_bytes, require_reference(pair).luma_bytes
    # Subtracting a constant reduces float32 errors of E[x²] - μ²; a flat image is exactly zero.
    level = np.float32(round(cv2.mean(other_luma)[0]))
    image: Source = luma
    reference: Source = other_luma
    kept = available = 0.0
    for scale, side in enumerate(_WINDOWS):
        kernel = np.asarray(cv2.getGaussianKernel(side, side / 5), np.float32)
        if scale > 0:
            image, reference = _shrink(image, kernel, level), _shrink(reference, kernel, level)
            level = np.float32(0)
        numerator, denominator = _information(image, reference, kernel, level)
        kept += numerator
        available += denominator
    if available == 0:
        # A flat reference has no information.
        return Result(1.0 if np.array_equal(luma, other_luma) else math.nan)
    return Result(kept / available)


def _shrink(plane: Source, kernel: NDArray[np.float32], level: np.float32) -> Plane:
    """Filters, and takes every second pixel of every second row."""
    radius = len(kernel) // 2
    rows, columns = (-(-(side - 2 * radius) // 2) for side in plane.shape)
    result = np.empty((rows, columns), np.float32)
    taps = np.ascontiguousarray(kernel.T)
    for band in split_rows(rows, 2 * columns):
        around = plane[2 * band.start : 2 * band.stop - 1 + 2 * radius].astype(np.float32)
        around -= level
        kept = _filter_every_second_row(around, kernel)
        result[band] = cv2.filter2D(kept, -1, taps)[:, radius:-radius:2]
    return result


def _filter_every_second_row(rows: Plane, kernel: NDArray[np.float32]) -> Plane:
    """Filters the columns, a few rows per matrix product: OpenCV would compute every row."""
    side = len(kernel)
    matrix = np.zeros((_ROWS_AT_ONCE, 2 * (_ROWS_AT_ONCE - 1) + side), np.float32)
    for row, taps in enumerate(matrix):
        taps[2 * row : 2 * row + side] = kernel[:, 0]
    result = np.empty(((len(rows) - side) // 2 + 1, rows.shape[1]), np.float32)
    for top in range(0, len(result), _ROWS_AT_ONCE):
        out = result[top : top + _ROWS_AT_ONCE]
        inputs = rows[2 * top : 2 * (top + len(out) - 1) + side]
        np.matmul(matrix[: len(out), : len(inputs)], inputs, out=out)
    return result


def _information(
    image: Source, reference: Source, kernel: NDArray[np.float32], level: np.float32
) -> tuple[float, float]:
    border = len(kernel) - 1
    rows, columns = (side - border for side in image.shape)
    work = allocate(8, rows, columns, border)
    kept = available = 0.0
    for tile in split_tiles(rows, columns):
        around = tuple(slice(part.start, part.stop + border) for part in tile)
        centred, other_centred, *planes = fit(work, *image[around].shape)
        for plane, source in ((centred, image), (other_centred, reference)):
            # In two steps, because numpy widens bytes slowly inside an expression.
            np.copyto(plane, source[around])
            plane -= level
        numerator, denominator = _tile_information(centred, other_centred, kernel, planes)
        kept += numerator
        available += denominator
    return kept, available


def _tile_information(
    image: Plane, reference: Plane, kernel: NDArray[np.float32], work: list[Plane]
) -> tuple[float, float]:
    radius = len(kernel) // 2
    valid = slice(radius, -radius)
    taps = np.ascontiguousarray(kernel.T)
    product, *planes = work

    def average(plane: Plane, out: Plane) -> Plane:
        # Two one-dimensional filters: a fifth faster than cv2.sepFilter2D with such long kernels.
        cv2.filter2D(plane, -1, taps, dst=out)
        return np.asarray(cv2.filter2D(out, -1, kernel, dst=out), np.float32)[valid]

    mean, other_mean = average(image, planes[0]), average(reference, planes[1])
    variance = average(np.multiply(image, image, out=product), planes[2])
    other_variance = average(np.multiply(reference, reference, out=product), planes[3])
    covariance = average(np.multiply(image, reference, out=product), planes[4])
    scratch = product[: len(mean)]
    covariance -= np.multiply(mean, other_mean, out=scratch)
    mean *= mean
    other_mean *= other_mean
    variance -= mean
    other_variance -= other_mean
    _drop_negative(other_variance)
    # Where the reference has no variance, the gain only has to be finite.
    cv2.threshold(other_variance, _TINY, 1, cv2.THRESH_BINARY_INV, dst=scratch)
    scratch += other_variance
    gain = np.divide(covariance, scratch, out=mean)
    # A negative gain counts as noise only.
    _drop_negative(gain)
    # The subtrahend is never negative, so a variance rounded below zero needs no clipping before.
    variance -= np.multiply(gain, covariance, out=scratch)
    _drop_negative(variance)
    variance += _NOISE
    gain *= gain
    gain *= other_variance
    gain /= variance
    other_variance *= 1 / _NOISE
    return _sum_of_logarithms(gain, valid), _sum_of_logarithms(other_variance, valid)


def _drop_negative(values: Plane) -> None:
    """Four times faster than np.maximum."""
    cv2.threshold(values, 0, 0, cv2.THRESH_TOZERO, dst=values)


def _sum_of_logarithms(values: Plane, columns: slice) -> float:
    """Σ ln(1 + x), as logarithms of products of four or more factors, which variances of bytes cannot overflow.

    In place and on whole arrays, which is faster.
    """
    values += 1
    for _ in range(2):
        half = len(values) // 2
        if half == 0:
            break
        if len(values) % 2:
            values[0] *= values[-1]
        values = np.multiply(values[:half], values[half : 2 * half], out=values[:half])
    return total_of(np.log(values, out=values)[:, columns])


TOOL = Tool(name="VIFp", version="1.0.2", needs_reference=True, min_side=41, has_map=False, score=score)
