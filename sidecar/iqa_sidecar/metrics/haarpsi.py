"""HaarPSI: similarity of Haar wavelets of two scales and of chroma, weighted by the third scale.

References:
    R. Reisenhofer, S. Bosse, G. Kutyniok, T. Wiegand, "A Haar wavelet-based perceptual similarity index for image
    quality assessment", Signal Processing: Image Communication, 2018. https://doi.org/10.1016/j.image.2017.11.001
"""

import math
from collections.abc import Iterator

import numpy as np

from ..imaging.downsampling import block_means
from ..imaging.image import Pair, Plane
from ..imaging.tiling import split_rows
from .functional.haar import Flat, Frame, frame_channels, haar_responses, sum_blocks
from .functional.pooling import inside, total_of
from .tool import Result, Tool, require_reference

_YIQ = np.array([[0.114, 0.587, 0.299], [-0.322, -0.274, 0.596], [0.312, -0.523, 0.211]], np.float32)
_CONSTANT = 30.0
_STEEPNESS = 4.2
_SHRINK = 2


def score(pair: Pair, wants_map: bool) -> Result:
    """The weighted mean of the logistic similarities, through the inverse logistic and squared; 1 is best."""
    if pair.box is None:
        bands = list(_compare(pair)) if wants_map else _compare(pair)
        missing, weight = np.sum([[total_of(plane) for plane in band] for band in bands], axis=0)
        local = np.concatenate([_local_map(*band) for band in bands]) if wants_map else None
        return Result(_value(missing, weight), local)
    whole = pair.local_map(_whole_maps)
    lacking, strength = (inside(pair, plane, _SHRINK) for plane in whole)
    local = _local_map(lacking, strength) if wants_map else None
    return Result(_value(total_of(lacking), total_of(strength)), local)


def _value(missing: float, weight: float) -> float:
    # All weights are 0 in two flat images.
    if not missing > 0:
        return 1.0
    mean = _PERFECT - missing / weight
    return float((math.log(mean / (1 - mean)) / _STEEPNESS) ** 2)


def _whole_maps(pair: Pair) -> tuple[Plane, Plane]:
    missing, weight = (np.concatenate(bands) for bands in zip(*_compare(pair), strict=True))
    return missing, weight


def _compare(pair: Pair) -> Iterator[tuple[Plane, Plane]]:
    """Band by band: Σ (logistic(1) - logistic(similarity)) · weight over orientations and chroma, and Σ weight."""
    image, reference = pair.image, require_reference(pair)
    height, width = (-(-side // _SHRINK) for side in (image.height, image.width))
    # Gray images are compared by luma only, as the authors do.
    with_chroma = image.channels == 3 or reference.channels == 3
    for rows in split_rows(height, width):
        frame = Frame(rows, height, width)
        around = slice(_SHRINK * frame.around.start, _SHRINK * frame.around.stop)
        planes, others = (
            frame_channels(block_means(each.bgr[around], _SHRINK), _YIQ, frame) for each in (image, reference)
        )
        missing, weight = _compare_band(planes, others, frame, with_chroma)
        yield frame.unfold(missing), frame.unfold(weight)


def _compare_band(
    planes: tuple[Flat, ...], others: tuple[Flat, ...], frame: Frame, with_chroma: bool
) -> tuple[Flat, Flat]:
    missing, weight = _compare_wavelets(planes[0], others[0], frame, horizontal=True)
    local, strength = _compare_wavelets(planes[0], others[0], frame, horizontal=False)
    missing += local
    weight += strength
    if with_chroma:
        first, second = (
            _similarity(sum_blocks(planes[index], frame), sum_blocks(others[index], frame), 16 * _CONSTANT)
            for index in (1, 2)
        )
        first += second
        weight *= np.float32(0.5)
        missing += np.multiply(_missing(first), weight, out=first)
        weight *= 3
    return missing, weight


def _compare_wavelets(luma: Flat, other_luma: Flat, frame: Frame, horizontal: bool) -> tuple[Flat, Flat]:
    finer, fine, coarse = haar_responses(luma, frame, horizontal)
    other_finer, other_fine, other_coarse = haar_responses(other_luma, frame, horizontal)
    # The constant is for wavelets; the sums are 2 and 4 times as large.
    local = _similarity(finer, other_finer, 4 * _CONSTANT)
    local += _similarity(fine, other_fine, 16 * _CONSTANT)
    strength = np.maximum(np.abs(coarse, out=coarse), np.abs(other_coarse, out=other_coarse), out=coarse)
    return np.multiply(_missing(local), strength, out=local), strength


def _similarity(first: Flat, second: Flat, constant: float) -> Flat:
    """(2 |a b| + c) / (a² + b² + c)"""
    result = first * second
    np.abs(result, out=result)
    result *= 2
    result += np.float32(constant)
    squares = first * first
    squares += second * second
    squares += np.float32(constant)
    result /= squares
    return result


def _missing(sum_of_two: Flat) -> Flat:
    """logistic(1) - logistic(x), in place, x being half the sum and the logistic 1 / (1 + exp(-a x)).

    Equal images give exactly 0, which a float32 sum of logistic(1) would not.
    """
    sum_of_two *= np.float32(-_STEEPNESS / 2)
    np.exp(sum_of_two, out=sum_of_two)
    sum_of_two += 1
    np.reciprocal(sum_of_two, out=sum_of_two)
    np.subtract(_PERFECT_ROUNDED, sum_of_two, out=sum_of_two)
    return sum_of_two


def _local_map(missing: Plane, weight: Plane) -> Plane:
    mean = _PERFECT_ROUNDED - np.divide(missing, weight, out=np.zeros_like(missing), where=weight > 0)
    return np.asarray(np.clip((np.log(mean / (1 - mean)) / np.float32(_STEEPNESS)) ** 2, 0, 1), np.float32)


_PERFECT = 1 / (1 + math.exp(-_STEEPNESS))
# Computed by numpy for an array of ones, to have the same last bit.
_PERFECT_ROUNDED = np.reciprocal(np.exp(np.full(64, 2, np.float32) * np.float32(-_STEEPNESS / 2)) + np.float32(1))[0]

TOOL = Tool(
    name="HaarPSI", version="1.0.0", needs_reference=True, min_side=16, has_map=True, pools_map=True, score=score
)
