"""Physical statistics of one picture's pixels: the numbers beside the tools' scores, each documented in its module."""

import cv2
import numpy as np

from ..picture import Picture
from . import banding, blocking, color, direction, edges, exposure, noise, sharpness
from .edge_profiles import find_edges
from .measurement import Measurement, Values

__all__ = ["CATALOGUE", "VERSION", "Measurement", "measure"]

# Raised by every change that can alter a value.
VERSION = "1.0.0"

CATALOGUE: tuple[Measurement, ...] = (
    *edges.MEASUREMENTS,
    *direction.MEASUREMENTS,
    *sharpness.MEASUREMENTS,
    *noise.MEASUREMENTS,
    *blocking.MEASUREMENTS,
    *banding.MEASUREMENTS,
    *exposure.MEASUREMENTS,
    *color.MEASUREMENTS,
)


def measure(picture: Picture, jpeg_quality: int | None) -> Values:
    """Every measurement of the catalogue, None where it is not defined for these pixels; never NaN."""
    noise_values = noise.measure_noise(picture)
    smooth = np.asarray(cv2.GaussianBlur(picture.luma, (7, 7), 1), np.float32)
    found = find_edges(smooth, noise_values["noise_sigma"] or 0)
    values: Values = {
        **edges.measure_edges(picture, found),
        **direction.measure_direction(picture, smooth, found),
        **sharpness.measure_sharpness(picture),
        **noise_values,
        **blocking.measure_blocking(picture, jpeg_quality),
        **banding.measure_banding(picture),
        **exposure.measure_exposure(picture),
        **color.measure_color(picture),
    }
    return values
