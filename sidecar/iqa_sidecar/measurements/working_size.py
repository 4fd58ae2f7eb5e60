"""A small copy of the image for colour measurements, which need no detail; cached."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image

# Pixels; approximate geometric mean of the sides.
_SIDE = 256


def reduce_image(image: Image) -> NDArray[np.uint8] | None:
    """Block means; None for images narrower than three blocks."""
    return image.derive(_reduce)


def _reduce(image: Image) -> NDArray[np.uint8] | None:
    factor = max(1, round((image.width * image.height) ** 0.5 / _SIDE))
    if min(image.width, image.height) < 3 * factor:
        return None
    size = (image.width // factor, image.height // factor)
    return np.asarray(cv2.resize(image.bgr, size, interpolation=cv2.INTER_AREA), np.uint8)
