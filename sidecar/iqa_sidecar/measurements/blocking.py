"""Compression: steps along an 8 × 8 grid, and the file's quality setting."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image
from .measurement import Measurement, Values

_GRID = 8
# Gray levels; larger steps are real edges, which would hide the steps between blocks.
_LARGEST_STEP = 32

MEASUREMENTS = (
    Measurement(
        "blockiness", "ratio", 0, None,
        "excess of the luma steps on the strongest 8 × 8 grid over the steps beside it, relative to those; 0 = no grid",
    ),
    Measurement("jpeg_quality", "IJG quality", 1, 100, "of the file's quantisation tables; null for other formats"),
)  # fmt: skip


def measure_blocking(image: Image, jpeg_quality: int | None) -> tuple[Values, tuple[int, int]]:
    """Returns the values, and the column and row where the strongest grid begins."""
    quality = jpeg_quality if jpeg_quality is not None else image.jpeg_quality
    blockiness, grid = _blockiness(image.luma_bytes)
    return {"blockiness": blockiness, "jpeg_quality": None if quality is None else float(quality)}, grid


def find_grid(luma: NDArray[np.uint8]) -> tuple[int, int]:
    """Column and row where the strongest 8 × 8 grid begins."""
    return _blockiness(luma)[1]


def _blockiness(luma: NDArray[np.uint8]) -> tuple[float | None, tuple[int, int]]:
    if min(luma.shape) < 4 * _GRID:
        return None, (0, 0)
    across, left = _grid_excess(cv2.absdiff(luma[:, 1:], luma[:, :-1]), axis=0)
    down, top = _grid_excess(cv2.absdiff(luma[1:], luma[:-1]), axis=1)
    return (across + down) / 2, (left, top)


def _grid_excess(steps: cv2.typing.MatLike, axis: int) -> tuple[float, int]:
    """How much the steps on the strongest grid exceed those beside it, and where that grid begins."""
    steps = np.minimum(steps, _LARGEST_STEP)
    profile = cv2.reduce(steps, axis, cv2.REDUCE_AVG, dtype=cv2.CV_32F).ravel().astype(np.float64)
    beside = (profile[:-2] + profile[2:]) / 2
    excess = profile[1:-1] - beside
    # A crop moves the grid, so all eight phases are tried; the second best is the level of content and chance.
    phases = [float(excess[phase::_GRID].mean()) for phase in range(_GRID)]
    second, strongest = sorted(phases)[-2:]
    level = float(beside.mean())
    # excess[0] is the step from pixel 1 to pixel 2.
    start = (phases.index(strongest) + 2) % _GRID
    return (max(0.0, strongest - max(0.0, second)) / level if level > 0 else 0.0), start
