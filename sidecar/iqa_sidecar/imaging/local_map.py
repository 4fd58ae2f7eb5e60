"""Turns a tool's local map into the small gray PNG that travels in its line of the answer."""

from __future__ import annotations

import base64

import cv2
import numpy as np
from numpy.typing import NDArray

from ..server.contract import LocalMap

LONG_SIDE = 256


def encode_map(values: NDArray[np.float32]) -> LocalMap:
    """0..1 becomes 0..255 on a fixed scale, so that two maps can be compared by eye."""
    height, width = values.shape
    scale = LONG_SIDE / max(height, width)
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        values = np.asarray(cv2.resize(values, size, interpolation=cv2.INTER_AREA), np.float32)
    gray = np.rint(np.clip(np.nan_to_num(values, nan=0.0), 0, 1) * 255).astype(np.uint8)
    written, png = cv2.imencode(".png", gray)
    if not written:
        raise RuntimeError(f"Expected a PNG of the {width} x {height} map but OpenCV wrote none")
    return LocalMap("image/png", gray.shape[1], gray.shape[0], base64.b64encode(png.tobytes()).decode())
