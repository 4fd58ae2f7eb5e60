"""Pools a local map to one value, inside the region or over the whole image."""

import cv2
import numpy as np

from ...imaging.image import Pair, Plane
from ..tool import Result, ToolError


def inside(pair: Pair, plane: Plane, factor: int = 1, margin: int = 0) -> Plane:
    """The part of a map whose pixels lie in the pair's box. Pixel i of the map is at i · factor + margin."""
    if pair.box is None:
        return plane
    x, y, width, height = pair.box
    rows, columns = (
        slice(max(0, -((margin - start) // factor)), max(0, -((margin - start - length) // factor)))
        for start, length in ((y, height), (x, width))
    )
    part = plane[rows, columns]
    if min(part.shape) < 2:
        raise ToolError(
            "REGION_TOO_SMALL",
            f"Expected at least 2 × 2 values of the local map in the region but received {width} × {height} pixels",
        )
    return part


def mean_of(plane: Plane) -> float:
    return total_of(plane) / plane.size


def total_of(plane: Plane) -> float:
    """In float64. Not cv2.sumElems, whose last bit depends on the memory alignment."""
    return float(np.sum(cv2.reduce(plane, 0, cv2.REDUCE_SUM, dtype=cv2.CV_64F)))


def variance_of(plane: Plane) -> float:
    """Over n, in float64 and half of cv2.meanStdDev's time. For values around 0: zeros give exactly 0."""
    mean, square = (
        float(np.sum(cv2.reduce(plane, 0, kind, dtype=cv2.CV_64F))) / plane.size
        for kind in (cv2.REDUCE_SUM, cv2.REDUCE_SUM2)
    )
    return max(0.0, square - mean**2)


def weighted_mean(pair: Pair, local: Plane, weight: Plane, factor: int, wants_map: bool) -> Result:
    """Σ local · weight / Σ weight; the plain mean if all weights are 0, as in two flat images."""
    local, weight = inside(pair, local, factor), inside(pair, weight, factor)
    total = total_of(weight)
    value = total_of(local * weight) / total if total > 0 else mean_of(local)
    return Result(value, np.clip(local, 0, 1) if wants_map else None)
