"""Haze: bright veils in which no part of the image is dark."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image
from .measurement import Measurement, Values
from .working_size import reduce_image

# A further reduction, and the neighbourhood in reduced pixels that should contain something dark.
_FACTOR = 3
_NEIGHBOURHOOD = 7
# Share of the haziest pixels; their mean colour is the veil's.
_VEIL_SHARE = 0.005

MEASUREMENTS = (
    Measurement(
        "haze", "fraction", 0, 1,
        "share of the light that is veil, by the dark channel of He et al. 2009; snow and pale skies read high too",
    ),
)  # fmt: skip


def measure_haze(image: Image) -> Values:
    """Mean dark channel relative to the veil's colour."""
    reduced = reduce_image(image)
    if reduced is None:
        return {"haze": None}
    size = (reduced.shape[1] // _FACTOR, reduced.shape[0] // _FACTOR)
    small = np.asarray(cv2.resize(reduced, size, interpolation=cv2.INTER_AREA), np.uint8)
    dark = _dark_channel(small).ravel()
    count = max(1, round(_VEIL_SHARE * dark.size))
    haziest = np.argpartition(dark, dark.size - count)[-count:]
    veil = small.reshape(-1, 3)[haziest].mean(axis=0, dtype=np.float64)
    if veil.min() < 1:
        return {"haze": 0.0}
    # Saturates where a pixel is brighter than the veil.
    relative = cv2.transform(small, np.diag(255 / veil))
    return {"haze": float(_dark_channel(np.asarray(relative, np.uint8)).mean()) / 255}


def _dark_channel(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    blue, green, red = cv2.split(pixels)
    square = cv2.getStructuringElement(cv2.MORPH_RECT, (_NEIGHBOURHOOD, _NEIGHBOURHOOD))
    return np.asarray(cv2.erode(cv2.min(cv2.min(blue, green), red), square), np.uint8)
