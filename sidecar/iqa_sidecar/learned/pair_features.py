"""Features of a pair: differences of luma, chroma, local contrast and gradients at four scales."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.downsampling import shrink_to
from ..imaging.image import Image, Pair, Plane
from ..metrics.tool import require_reference
from ..networks.features import LARGEST_PIXELS

Numbers = dict[str, float]

# Squared gray levels; stabilises ratios of small variances.
_STABILIZER = np.float32(20.0)
_SCALES = 4


def compare_images(pair: Pair) -> NDArray[np.float32]:
    """The features in the order of `PAIR_FEATURES`."""
    return pair.share(_compare_in_order)


def _compare_in_order(pair: Pair) -> NDArray[np.float32]:
    numbers = _compare(pair)
    return np.array([numbers[name] for name in PAIR_FEATURES], np.float32)


def _compare(pair: Pair) -> Numbers:
    image, reference = _planes(pair.image), _planes(require_reference(pair))
    numbers: Numbers = {}
    for name, ours, theirs in zip(("luma", "blue", "red"), image, reference, strict=True):
        numbers |= {f"{name}_{key}": value for key, value in _shifts(ours, theirs).items()}
    numbers |= _errors(image[0], reference[0])
    numbers |= _chroma(image[1:], reference[1:])
    ours, theirs = image[0], reference[0]
    for scale in range(_SCALES):
        numbers |= {f"{key}_{scale}": value for key, value in _structure(ours, theirs).items()}
        ours, theirs = _halve(ours), _halve(theirs)
    return numbers


def _planes(image: Image) -> list[Plane]:
    """Luma, blue and red difference, 0..255."""
    pixels = shrink_to(image.bgr, LARGEST_PIXELS)
    ycc = cv2.cvtColor(pixels.astype(np.float32), cv2.COLOR_BGR2YCrCb)
    luma, red, blue = cv2.split(ycc)
    return [np.asarray(luma, np.float32), np.asarray(blue, np.float32), np.asarray(red, np.float32)]


def _shifts(ours: Plane, theirs: Plane) -> Numbers:
    """Regression of the image on its reference: zero residual if only brightness, contrast or saturation changed."""
    our_mean, our_deviation = (float(value[0, 0]) for value in cv2.meanStdDev(ours))
    their_mean, their_deviation = (float(value[0, 0]) for value in cv2.meanStdDev(theirs))
    covariance = float(np.mean(ours * theirs, dtype=np.float64)) - our_mean * their_mean
    variance = their_deviation**2 + 1.0
    slope = covariance / variance
    residual = max(0.0, our_deviation**2 - slope * slope * variance)
    return {
        "shift": (our_mean - their_mean) / 16,
        "spread": float(np.log((our_deviation + 1) / (their_deviation + 1))),
        "slope": slope,
        "residual": float(np.log1p(residual)),
    }


def _errors(ours: Plane, theirs: Plane) -> Numbers:
    error = ours - theirs
    coarse = np.asarray(cv2.blur(error, (17, 17), borderType=cv2.BORDER_REFLECT), np.float32)
    size = np.abs(error)
    low, high = np.percentile(size[::2, ::2], (50, 99))
    return {
        "error_coarse": float(np.log1p(np.mean(coarse * coarse, dtype=np.float64))),
        "error_fine": float(np.log1p(np.mean((error - coarse) ** 2, dtype=np.float64))),
        "error_peak": float(np.log((high + 1) / (low + 1))),
        "error_area": float(np.mean(size > 6)),
    }


def _chroma(ours: list[Plane], theirs: list[Plane]) -> Numbers:
    blue, red = (np.asarray(cv2.blur(a - b, (5, 5)), np.float32) for a, b in zip(ours, theirs, strict=True))
    distance = np.sqrt(blue * blue + red * red)
    # Saturation: distance from gray.
    saturation = [np.sqrt((b - 128) ** 2 + (r - 128) ** 2) for b, r in (ours, theirs)]
    return {
        "chroma_distance": float(np.log1p(np.mean(distance, dtype=np.float64))),
        "chroma_peak": float(np.log1p(np.percentile(distance[::2, ::2], 99))),
        "chroma_vivid": float(np.log((saturation[0].mean() + 1) / (saturation[1].mean() + 1))),
    }


def _structure(ours: Plane, theirs: Plane) -> Numbers:
    """Local contrast lost and added, and the similarity of local structure and of gradients."""
    our_energy, their_energy, cross = (
        _local_variance(a, b) for a, b in ((ours, ours), (theirs, theirs), (ours, theirs))
    )
    change = 0.5 * np.log((our_energy + _STABILIZER) / (their_energy + _STABILIZER))
    similarity = (2 * cross + _STABILIZER) / (our_energy + their_energy + _STABILIZER)
    ours_slope, theirs_slope = _slope(ours), _slope(theirs)
    gradients = (2 * ours_slope * theirs_slope + 170) / (ours_slope**2 + theirs_slope**2 + 170)
    return {
        "lost": float(np.mean(np.maximum(-change, 0))),
        "added": float(np.mean(np.maximum(change, 0))),
        "similarity": _to_log_distance(float(np.mean(similarity))),
        "similarity_worst": _to_log_distance(float(np.percentile(similarity[::2, ::2], 5))),
        "gradients": _to_log_distance(float(np.mean(gradients))),
        "gradients_uneven": float(np.sqrt(np.std(gradients))),
    }


def _local_variance(left: Plane, right: Plane) -> Plane:
    product = _local_mean(left * right) - _local_mean(left) * _local_mean(right)
    return np.asarray(np.maximum(product, 0) if left is right else product, np.float32)


def _local_mean(plane: Plane) -> Plane:
    return np.asarray(cv2.blur(plane, (7, 7), borderType=cv2.BORDER_REFLECT), np.float32)


def _slope(plane: Plane) -> Plane:
    across = cv2.Scharr(plane, cv2.CV_32F, 1, 0, scale=1 / 16)
    down = cv2.Scharr(plane, cv2.CV_32F, 0, 1, scale=1 / 16)
    return np.asarray(cv2.sqrt(across * across + down * down), np.float32)


def _to_log_distance(similarity: float) -> float:
    """The distance from 1 on a logarithmic scale, because most similarities are close to 1."""
    return float(-np.log(max(1.002 - similarity, 1e-3)))


def _halve(plane: Plane) -> Plane:
    size = (max(1, plane.shape[1] // 2), max(1, plane.shape[0] // 2))
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


_STRUCTURE_KEYS = ("lost", "added", "similarity", "similarity_worst", "gradients", "gradients_uneven")
_GROUPS = (
    tuple(f"{plane}_{key}" for plane in ("luma", "blue", "red") for key in ("shift", "spread", "slope", "residual")),
    ("error_coarse", "error_fine", "error_peak", "error_area", "chroma_distance", "chroma_peak", "chroma_vivid"),
    *(tuple(f"{key}_{scale}" for key in _STRUCTURE_KEYS) for scale in range(_SCALES)),
)
PAIR_FEATURES = tuple(name for group in _GROUPS for name in group)
# The first feature of each kernel group.
GROUP_STARTS = tuple(PAIR_FEATURES.index(group[0]) for group in _GROUPS)
