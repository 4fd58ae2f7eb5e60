"""Converts a tool's local map to what an answer carries: a small 8-bit gray PNG, or a grid of 3 × 3 numbers."""

from __future__ import annotations

import base64
import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..server.contract import LocalMap

LONG_SIDE = 256
GRID_SIDE = 3


def quantize_map(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """0..1 becomes 0..255 on a fixed scale, so that maps can be compared; at most 256 pixels a side."""
    height, width = values.shape
    scale = LONG_SIDE / max(height, width)
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        values = np.asarray(cv2.resize(values, size, interpolation=cv2.INTER_AREA), np.float32)
    return np.asarray(np.rint(np.clip(np.nan_to_num(values, nan=0.0), 0, 1) * 255), np.uint8)


def encode_map(gray: NDArray[np.uint8]) -> LocalMap:
    height, width = gray.shape
    written, png = cv2.imencode(".png", gray)
    if not written:
        raise RuntimeError(f"Expected a PNG of the {width} x {height} map but OpenCV wrote none")
    return LocalMap("image/png", width, height, base64.b64encode(png.tobytes()).decode())


def reduce_to_grid(gray: NDArray[np.uint8]) -> list[float]:
    """Mean of 1 - quality in each ninth, row by row from the upper left, to 4 digits.

    A pixel counts for the cell that its centre is in. A cell without a pixel, in a map narrower than 3, is 0.
    """
    height, width = gray.shape
    rows, columns = _cell_indices(height), _cell_indices(width)
    sums, counts = np.zeros((GRID_SIDE, GRID_SIDE)), np.zeros((GRID_SIDE, GRID_SIDE))
    np.add.at(sums, (rows[:, None], columns), 255.0 - gray)
    np.add.at(counts, (rows[:, None], columns), 1)
    means = sums / np.maximum(1, counts) / 255
    # Halves round up, as in JavaScript.
    return [math.floor(mean * 1e4 + 0.5) / 1e4 for mean in means.ravel().tolist()]


def _cell_indices(side: int) -> NDArray[np.int64]:
    indices = np.floor(GRID_SIDE * (np.arange(side) + 0.5) / side).astype(np.int64)
    return np.asarray(np.minimum(GRID_SIDE - 1, indices), np.int64)
