"""Compression: steps along an 8 × 8 grid, and the quality setting that the file tells."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Picture
from .measurement import Measurement, Values

_GRID = 8
# Grey levels; steps of real edges are larger than those between blocks and would hide them.
_LARGEST_STEP = 32

MEASUREMENTS = (
    Measurement(
        "blockiness", "ratio", 0, None,
        "excess of the luma steps on the strongest 8 × 8 grid over the steps beside it, relative to those; 0 = no grid",
    ),
    Measurement("jpeg_quality", "IJG quality", 1, 100, "of the file's quantisation tables; null for other formats"),
)  # fmt: skip


def measure_blocking(picture: Picture, jpeg_quality: int | None) -> Values:
    quality = jpeg_quality if jpeg_quality is not None else picture.jpeg_quality
    return {"blockiness": _blockiness(picture.luma_bytes), "jpeg_quality": None if quality is None else float(quality)}


def _blockiness(luma: NDArray[np.uint8]) -> float | None:
    if min(luma.shape) < 4 * _GRID:
        return None
    across = _grid_excess(cv2.absdiff(luma[:, 1:], luma[:, :-1]), axis=0)
    down = _grid_excess(cv2.absdiff(luma[1:], luma[:-1]), axis=1)
    return (across + down) / 2


def _grid_excess(steps: cv2.typing.MatLike, axis: int) -> float:
    steps = np.minimum(steps, _LARGEST_STEP)
    profile = cv2.reduce(steps, axis, cv2.REDUCE_AVG, dtype=cv2.CV_32F).ravel().astype(np.float64)
    beside = (profile[:-2] + profile[2:]) / 2
    excess = profile[1:-1] - beside
    # A crop moves the grid, so all eight phases are tried; the runner-up is what chance and content alone reach.
    phases = sorted(float(excess[phase::_GRID].mean()) for phase in range(_GRID))
    level = float(beside.mean())
    return max(0.0, phases[-1] - max(0.0, phases[-2])) / level if level > 0 else 0.0
