"""PSNR: the logarithm of the mean squared error."""

import math

import cv2

from ..imaging.image import Pair
from .tool import Result, Tool, require_reference

# Identical images have infinite PSNR; differences above 100 dB are invisible.
CAP_DECIBELS = 100.0


def score(pair: Pair, _wants_map: bool) -> Result:
    """10 · log10(255² / MSE), the mean taken over all pixels and the three colour channels."""
    image, reference = pair.image.bgr, require_reference(pair).bgr
    squared_error = cv2.norm(image, reference, cv2.NORM_L2SQR) / image.size
    if squared_error == 0:
        return Result(CAP_DECIBELS)
    return Result(min(CAP_DECIBELS, 10 * math.log10(255.0**2 / squared_error)))


TOOL = Tool(name="PSNR", version="1.0.0", needs_reference=True, min_side=1, has_map=False, score=score)
