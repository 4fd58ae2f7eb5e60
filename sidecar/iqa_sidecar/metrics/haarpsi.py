"""HaarPSI of Reisenhofer et al. 2018: Haar wavelets of two scales compared, weighted by the third, and chroma."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Pair, Picture, Plane
from ..tool import Result, Tool, reference_of
from .pooling import inside, total_of
from .similarity import mix_channels, similarity

_YIQ = np.array([[0.114, 0.587, 0.299], [-0.322, -0.274, 0.596], [0.312, -0.523, 0.211]], np.float32)
_CONSTANT = 30.0
_STEEPNESS = 4.2
_SHRINK = 2


def score(pair: Pair, wants_map: bool) -> Result:
    """The logistic similarities' weighted mean, taken back through the logistic and squared; 1 is best."""
    missing, weight = pair.share("haarpsi", lambda: _compare(pair.image, reference_of(pair)))
    missing, weight = inside(pair, missing, _SHRINK), inside(pair, weight, _SHRINK)
    total = total_of(missing)
    # Without any weight, as in two flat pictures, nothing can be missing either.
    value = _back(_PERFECT - total / total_of(weight)) if total > 0 else 1.0
    return Result(value, _local_map(missing, weight) if wants_map else None)


def _compare(image: Picture, reference: Picture) -> tuple[Plane, Plane]:
    """Σ (logistic(1) - logistic(similarity)) · weight over orientations and chroma, and Σ weight."""
    planes, other_planes = (mix_channels(picture.half, _YIQ) for picture in (image, reference))
    missing, weight = np.zeros_like(planes[0]), np.zeros_like(planes[0])
    for horizontal in (True, False):
        finer, fine, coarse = (_haar(planes[0], side, horizontal) for side in (2, 4, 8))
        other_finer, other_fine, other_coarse = (_haar(other_planes[0], side, horizontal) for side in (2, 4, 8))
        local = similarity(finer, other_finer, _CONSTANT)
        local += similarity(fine, other_fine, _CONSTANT)
        local *= np.float32(0.5)
        strength = np.maximum(coarse, other_coarse, out=coarse)
        weight += strength
        missing += np.multiply(_missing(local), strength, out=local)
    # Pictures without chroma are compared by their luma alone, as the authors do.
    if image.channels == 1 and reference.channels == 1:
        return missing, weight
    local = similarity(_smooth(planes[1]), _smooth(other_planes[1]), _CONSTANT)
    local += similarity(_smooth(planes[2]), _smooth(other_planes[2]), _CONSTANT)
    local *= np.float32(0.5)
    _missing(local)
    local *= weight
    local *= np.float32(0.5)
    missing += local
    weight *= np.float32(1.5)
    return missing, weight


def _haar(plane: Plane, side: int, horizontal: bool) -> Plane:
    """Magnitude of the difference of two half blocks' sums over the side, at every pixel, zeros outside."""
    step = np.repeat(np.array([-1, 1], np.float32), side // 2)
    flat = np.full(side, 1 / side, np.float32)
    row, column = (flat, step) if horizontal else (step, flat)
    result = _filter(plane, row, column, side // 2 - 1)
    return np.abs(result, out=result)


def _smooth(plane: Plane) -> Plane:
    half = np.full(2, 0.5, np.float32)
    result = _filter(plane, half, half, 0)
    return np.abs(result, out=result)


def _filter(plane: Plane, row: NDArray[np.float32], column: NDArray[np.float32], anchor: int) -> Plane:
    return np.asarray(
        cv2.sepFilter2D(plane, -1, row, column, anchor=(anchor, anchor), borderType=cv2.BORDER_CONSTANT), np.float32
    )


def _missing(similarity: Plane) -> Plane:
    """logistic(1) - logistic(x), in place, the logistic being 1 / (1 + exp(-a x)).

    Equal pictures give exactly 0: float32 would not add up logistic(1) exactly.
    """
    similarity *= np.float32(-_STEEPNESS)
    np.exp(similarity, out=similarity)
    similarity += 1
    np.reciprocal(similarity, out=similarity)
    np.subtract(_PERFECT_ROUNDED, similarity, out=similarity)
    return similarity


def _back(mean: float) -> float:
    return float((math.log(mean / (1 - mean)) / _STEEPNESS) ** 2)


def _local_map(missing: Plane, weight: Plane) -> Plane:
    mean = _PERFECT_ROUNDED - np.divide(missing, weight, out=np.zeros_like(missing), where=weight > 0)
    return np.asarray(np.clip((np.log(mean / (1 - mean)) / np.float32(_STEEPNESS)) ** 2, 0, 1), np.float32)


_PERFECT = 1 / (1 + math.exp(-_STEEPNESS))
# As numpy computes it for an array of ones, to the last bit.
_PERFECT_ROUNDED = np.reciprocal(np.exp(np.full(64, -_STEEPNESS, np.float32)) + np.float32(1))[0]


TOOL = Tool(
    name="HaarPSI", version="1.0.0", needs_reference=True, min_side=16, has_map=True, pools_map=True, score=score
)
