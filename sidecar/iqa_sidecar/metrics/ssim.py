"""SSIM of Wang et al. 2004 on luma; the windowed comparison also serves MS-SSIM."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..bands import allocate, band_height, split_rows
from ..picture import Pair, Plane
from ..tool import Result, Tool, reference_of
from .pooling import inside, mean_of, total_of

WINDOW_SIDE = 11
_RADIUS = WINDOW_SIDE // 2
_KERNEL = cv2.getGaussianKernel(WINDOW_SIDE, 1.5, cv2.CV_32F)
# Twice the paper's, because sums and differences of two pictures are compared.
_C1 = np.float32(2 * (0.01 * 255) ** 2)
_C2 = np.float32(2 * (0.03 * 255) ** 2)


def score(pair: Pair, wants_map: bool) -> Result:
    """Mean local similarity over the valid region, without the automatic downsampling of the authors' later code."""
    if pair.box is None and not wants_map:
        return Result(finest_means(pair)[0])
    local = inside(pair, _whole_map(pair), margin=_RADIUS)
    return Result(mean_of(local), np.clip(local, 0, 1) if wants_map else None)


def finest_means(pair: Pair) -> tuple[float, float]:
    """Of the whole pictures at full size: similarity, and its factor of contrast and structure, for MS-SSIM."""

    def compute() -> tuple[float, float]:
        whole = compare(pair.image.luma_bytes, reference_of(pair).luma_bytes)
        return mean_of(whole.similarity), whole.contrast_structure

    return pair.share("ssim means", compute)


def _whole_map(pair: Pair) -> Plane:
    luma, other_luma = pair.image.luma_bytes, reference_of(pair).luma_bytes
    return pair.local_map("ssim", lambda: compare(luma, other_luma).similarity)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The local map wherever the whole window lies inside, and the mean of its factor of contrast and structure."""

    # Of luminance, contrast and structure, or of the last two alone.
    similarity: Plane
    contrast_structure: float


def compare(
    image: NDArray[np.uint8] | Plane, reference: NDArray[np.uint8] | Plane, with_luminance: bool = True
) -> Comparison:
    """From the moments of sum s = x + y and difference d = x - y, which saves one of the five filterings:

    2 μx μy = (μs² - μd²) / 2 and μx² + μy² = (μs² + μd²) / 2; alike 2 σxy and σx² + σy² from the variances of s and d.
    Identical pictures have d = 0 and so exactly 1; swapping the pictures changes the sign of d and so not one bit.
    """
    rows, columns = (side - WINDOW_SIDE + 1 for side in image.shape)
    similarity = np.empty((rows, columns), np.float32)
    structure = 0.0
    work = allocate(5, min(rows, band_height(image.shape[1])) + WINDOW_SIDE - 1, image.shape[1])
    for band in split_rows(rows, image.shape[1]):
        around = slice(band.start, band.stop + WINDOW_SIDE - 1)
        structure += _compare_band(image[around], reference[around], work, similarity[band], with_luminance)
    return Comparison(similarity, structure / similarity.size)


def _compare_band(
    image: NDArray[np.uint8] | Plane,
    reference: NDArray[np.uint8] | Plane,
    work: NDArray[np.float32],
    similarity: Plane,
    with_luminance: bool,
) -> float:
    """Fills the map and returns the sum of its factor of contrast and structure."""
    total, difference, filtered, mean, other_mean = (plane[: len(image)] for plane in work)
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
    structure = total_of(ratio[:, valid])
    if with_luminance:
        _similarity(mean, other_mean, _C1, variance)
        np.multiply(ratio[:, valid], variance[:, valid], out=similarity)
    else:
        np.copyto(similarity, ratio[:, valid])
    return structure


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
    version="1.1.0",
    needs_reference=True,
    min_side=WINDOW_SIDE,
    has_map=True,
    pools_map=True,
    score=score,
)
