"""Measurements of one image's pixels, each documented in its module."""

import cv2
import numpy as np

from ..imaging.image import Image
from . import banding, blocking, color, direction, edges, exposure, haze, jpeg_traces, noise, ringing, sharpness
from .edge_profiles import find_edges
from .measurement import Measurement, Values

__all__ = ["CATALOGUE", "VERSION", "Measurement", "Values", "measure"]

# Incremented by every change that can alter a value.
VERSION = "1.3.0"

CATALOGUE: tuple[Measurement, ...] = (
    *edges.MEASUREMENTS,
    *direction.MEASUREMENTS,
    *sharpness.MEASUREMENTS,
    *noise.MEASUREMENTS,
    *blocking.MEASUREMENTS,
    *jpeg_traces.MEASUREMENTS,
    *ringing.MEASUREMENTS,
    *banding.MEASUREMENTS,
    *exposure.MEASUREMENTS,
    *haze.MEASUREMENTS,
    *color.MEASUREMENTS,
)


def measure(image: Image, jpeg_quality: int | None) -> Values:
    """Every measurement of the catalogue, None where it is not defined for these pixels; never NaN."""
    # Cached, because the learned tools use them too.
    values = image.derive(_measure_pixels)
    quality = jpeg_quality if jpeg_quality is not None else image.jpeg_quality
    return values | {"jpeg_quality": None if quality is None else float(quality)}


def _measure_pixels(image: Image) -> Values:
    noise_values = noise.measure_noise(image)
    smooth = np.asarray(cv2.GaussianBlur(image.luma, (7, 7), 1), np.float32)
    found, slope = find_edges(smooth, noise_values["noise_sigma"] or 0)
    blocking_values, grid = blocking.measure_blocking(image, None)
    return {
        **edges.measure_edges(image, found),
        **direction.measure_direction(image, smooth, found),
        **sharpness.measure_sharpness(image),
        **noise_values,
        **blocking_values,
        **jpeg_traces.measure_jpeg_traces(image.luma_bytes, grid),
        **ringing.measure_ringing(image, smooth, slope),
        **banding.measure_banding(image),
        **exposure.measure_exposure(image),
        **haze.measure_haze(image),
        **color.measure_color(image),
    }
