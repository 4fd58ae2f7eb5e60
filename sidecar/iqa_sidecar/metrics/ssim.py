"""SSIM of Wang et al. 2004 on luma; the windowed comparison also serves MS-SSIM."""

from dataclasses import dataclass

import cv2
import numpy as np

from ..picture import Pair, Plane
from ..tool import Result, Tool, reference_of
from .pooling import inside, mean_of

WINDOW_SIDE = 11
_RADIUS = WINDOW_SIDE // 2
_KERNEL = cv2.getGaussianKernel(WINDOW_SIDE, 1.5, cv2.CV_32F)
_C1 = np.float32((0.01 * 255) ** 2)
_C2 = np.float32((0.03 * 255) ** 2)


def score(pair: Pair, wants_map: bool) -> Result:
    """Mean local similarity over the valid region, without the automatic downsampling of the authors' later code."""
    local = inside(pair, compare_whole(pair).similarity, margin=_RADIUS)
    return Result(mean_of(local), np.clip(local, 0, 1) if wants_map else None)


@dataclass(frozen=True, slots=True)
class WholeComparison:
    """At full size: the local map, and what MS-SSIM takes of it."""

    similarity: Plane
    contrast_structure: float


def compare_whole(pair: Pair) -> WholeComparison:
    def make() -> WholeComparison:
        local = compare(pair.image.luma, reference_of(pair).luma)
        similarity = local.luminance
        similarity *= local.contrast_structure
        return WholeComparison(similarity, mean_of(local.contrast_structure))

    return pair.share("ssim", make)


@dataclass(frozen=True, slots=True)
class LocalSimilarity:
    """Eq. 6, and the product of eqs. 9 and 10, wherever the whole window lies inside the picture."""

    luminance: Plane
    contrast_structure: Plane


def compare(image: Plane, reference: Plane) -> LocalSimilarity:
    """From the moments of sum s = x + y and difference d = x - y, which saves one of the five filterings:

    2 μx μy = (μs² - μd²) / 2 and μx² + μy² = (μs² + μd²) / 2; alike 2 σxy and σx² + σy² from the variances of s and d.
    Identical pictures have d = 0 and so exactly 1; swapping the pictures changes the sign of d and so not one bit.
    """
    total = image + reference
    difference = image - reference
    total_mean, difference_mean = _filter(total), _filter(difference)
    total *= total
    difference *= difference
    total_variance, difference_variance = _filter(total, total), _filter(difference, difference)
    total_mean *= total_mean
    difference_mean *= difference_mean
    total_variance -= total_mean
    difference_variance -= difference_mean
    return LocalSimilarity(
        luminance=_valid(_similarity(total_mean, difference_mean, 2 * _C1)),
        contrast_structure=_valid(_similarity(total_variance, difference_variance, 2 * _C2)),
    )


def _similarity(total: Plane, difference: Plane, constant: np.float32) -> Plane:
    """(total - difference + constant) / (total + difference + constant); overwrites `total`."""
    total += constant
    ratio = total - difference
    total += difference
    ratio /= total
    return ratio


def _filter(plane: Plane, out: Plane | None = None) -> Plane:
    return np.asarray(cv2.sepFilter2D(plane, -1, _KERNEL, _KERNEL, dst=out), np.float32)


def _valid(plane: Plane) -> Plane:
    return plane[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS]


TOOL = Tool(
    name="SSIM",
    version="1.1.0",
    needs_reference=True,
    min_side=WINDOW_SIDE,
    has_map=True,
    pools_map=True,
    score=score,
)
