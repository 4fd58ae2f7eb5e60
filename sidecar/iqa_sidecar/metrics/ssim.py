"""SSIM on luma: structural similarity in Gaussian windows; the windowed comparison is also used by MS-SSIM.

References:
    Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, "Image quality assessment: from error visibility to
    structural similarity", IEEE Transactions on Image Processing, 2004. https://doi.org/10.1109/TIP.2003.819861
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from ..imaging.tiling import allocate, fit, split_tiles
from .functional.pooling import inside, mean_of, total_of
from .tool import Result, Tool, require_reference

WINDOW_SIDE = 11
_RADIUS = WINDOW_SIDE // 2
_KERNEL = cv2.getGaussianKernel(WINDOW_SIDE, 1.5, cv2.CV_32F)
# Twice the paper's, because they are used with sums and differences of two images.
_C1 = np.float32(2 * (0.01 * 255) ** 2)
_C2 = np.float32(2 * (0.03 * 255) ** 2)


def score(pair: Pair, wants_map: bool) -> Result:
    """Mean local similarity over the valid region, without the automatic downsampling of the authors' later code."""
    if pair.box is None and not wants_map:
        return Result(finest_means(pair)[0])
    local = inside(pair, pair.local_map(_whole_map), margin=_RADIUS)
    value = finest_means(pair)[0] if pair.box is None else mean_of(local)
    return Result(value, np.clip(local, 0, 1) if wants_map else None)


def finest_means(pair: Pair) -> tuple[float, float]:
    """Of the whole images at full size: similarity, and its contrast-structure factor for MS-SSIM."""
    means = pair.share(_compare_luma)
    return means.similarity, means.contrast_structure


def _compare_luma(pair: Pair) -> Comparison:
    return compare(pair.image.luma_bytes, require_reference(pair).luma_bytes)


def _whole_map(pair: Pair) -> Plane:
    luma, other_luma = pair.image.luma_bytes, require_reference(pair).luma_bytes
    local = np.empty([side - WINDOW_SIDE + 1 for side in luma.shape], np.float32)
    pair.store(_compare_luma, compare(luma, other_luma, local))
    return local


@dataclass(frozen=True, slots=True)
class Comparison:
    """Means over all windows inside the image: of the similarity, and of its contrast-structure factor."""

    similarity: float
    contrast_structure: float


def compare(
    image: NDArray[np.uint8] | Plane,
    reference: NDArray[np.uint8] | Plane,
    local: Plane | None = None,
    with_luminance: bool = True,
) -> Comparison:
    """From the moments of sum s = x + y and difference d = x - y, which saves one of the five filterings:

    2 μx μy = (μs² - μd²) / 2 and μx² + μy² = (μs² + μd²) / 2; alike 2 σxy and σx² + σy² from the variances of s and d.
    Identical images have d = 0 and so exactly 1; swapping the images changes only the sign of d.
    Fills the local map, if given: of the similarity, or of contrast and structure alone.
    """
    rows, columns = (side - WINDOW_SIDE + 1 for side in image.shape)
    similarity = structure = 0.0
    border = WINDOW_SIDE - 1
    work = allocate(5, rows, columns, border)
    for tile in split_tiles(rows, columns):
        around = tuple(slice(part.start, part.stop + border) for part in tile)
        ratio, product = _compare_tile(image[around], reference[around], work)
        structure += total_of(ratio)
        similarity += total_of(product)
        if local is not None:
            np.copyto(local[tile], product if with_luminance else ratio)
    return Comparison(similarity / (rows * columns), structure / (rows * columns))


def _compare_tile(
    image: NDArray[np.uint8] | Plane,
    reference: NDArray[np.uint8] | Plane,
    work: NDArray[np.float32],
) -> tuple[Plane, Plane]:
    """The contrast-structure factor and the similarity, both in `work`."""
    total, difference, filtered, mean, other_mean = fit(work, *image.shape)
    np.copyto(total, image)
    np.copyto(filtered, reference)
    np.subtract(total, filtered, out=difference)
    total += filtered
    valid = slice(_RADIUS, -_RADIUS)
    mean = _filter(total, mean)[valid]
    other_mean = _filter(difference, other_mean)[valid]
    total *= total
    difference *= difference
    variance = _filter(total, filtered)[valid]
    other_variance = _filter(difference, total)[valid]
    mean *= mean
    other_mean *= other_mean
    variance -= mean
    other_variance -= other_mean
    ratio = difference[: len(variance)]
    _similarity(variance, other_variance, _C2, ratio)
    _similarity(mean, other_mean, _C1, variance)
    variance *= ratio
    return ratio[:, valid], variance[:, valid]


def _similarity(total: Plane, difference: Plane, constant: np.float32, out: Plane) -> None:
    """(total - difference + constant) / (total + difference + constant); overwrites `total`."""
    total += constant
    np.subtract(total, difference, out=out)
    total += difference
    out /= total


def _filter(plane: Plane, out: Plane) -> Plane:
    return np.asarray(cv2.sepFilter2D(plane, -1, _KERNEL, _KERNEL, dst=out), np.float32)


TOOL = Tool(
    name="SSIM",
    version="1.1.1",
    needs_reference=True,
    min_side=WINDOW_SIDE,
    has_map=True,
    pools_map=True,
    score=score,
)
