"""A small copy of the picture for measurements of colour, which need no detail; made once for all of them."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Picture

# Pixels; geometric mean of the sides, about.
_SIDE = 256


def reduce_picture(picture: Picture) -> NDArray[np.uint8] | None:
    """Means of squares of whole pixels; None for ribbons narrower than three such squares."""
    return picture.derive("reduced", _reduce)


def _reduce(picture: Picture) -> NDArray[np.uint8] | None:
    factor = max(1, round((picture.width * picture.height) ** 0.5 / _SIDE))
    if min(picture.width, picture.height) < 3 * factor:
        return None
    size = (picture.width // factor, picture.height // factor)
    return np.asarray(cv2.resize(picture.bgr, size, interpolation=cv2.INTER_AREA), np.uint8)
