"""Colour: saturation, colourfulness and colour cast."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image
from .measurement import Measurement, Values
from .working_size import reduce_image

# Enough pixels for stable means.
_SAMPLES = 40_000
# Gray level above which a channel may be clipped.
_BRIGHTEST = 250

MEASUREMENTS = (
    Measurement("saturation", "fraction", 0, 1, "mean of the largest minus the smallest channel, of full scale"),
    Measurement(
        "colorfulness", "grey levels", 0, None,
        "Hasler and Süsstrunk 2003: 0 grey, 15 slightly, 45 moderately, 80 highly colourful",
    ),
    Measurement(
        "color_cast", "CIELAB units", 0, None,
        "distance from neutral of the light's colour, as far as edges, details and lights agree; null without edges",
    ),
)  # fmt: skip


def measure_color(image: Image) -> Values:
    step = max(1, round((image.width * image.height / _SAMPLES) ** 0.5))
    blue, green, red = image.bgr[::step, ::step].reshape(-1, 3).astype(np.float32).T
    strength = np.maximum(np.maximum(blue, green), red) - np.minimum(np.minimum(blue, green), red)
    return {
        "saturation": float(strength.mean()) / 255,
        "colorfulness": _colorfulness(red - green, (red + green) / 2 - blue),
        "color_cast": _color_cast(reduce_image(image)),
    }


def _colorfulness(red_green: NDArray[np.float32], yellow_blue: NDArray[np.float32]) -> float:
    """√(σ₁² + σ₂²) + 0.3 √(μ₁² + μ₂²)"""
    spread = np.hypot(red_green.std(), yellow_blue.std())
    return float(spread + 0.3 * np.hypot(red_green.mean(), yellow_blue.mean()))


def _color_cast(small: NDArray[np.uint8] | None) -> float | None:
    """The smallest of three estimates of the illuminant's shift from neutral, along their mean direction.

    The estimates are norms of order 6 of first differences, second differences and the pixels themselves (van de
    Weijer et al. 2007). A coloured surface seldom affects all three.
    """
    if small is None:
        return None
    light = np.asarray(cv2.LUT(small, _LINEAR), np.float32)
    across, down = light[1:-1, 2:] - light[1:-1, :-2], light[2:, 1:-1] - light[:-2, 1:-1]
    # Clipped pixels have lost their colour, which also affects differences beside them.
    brightest = cv2.dilate(small, np.ones((3, 3), np.uint8))[1:-1, 1:-1]
    usable = cv2.inRange(brightest, (0, 0, 0), (_BRIGHTEST,) * 3)
    first = cv2.add(cv2.multiply(across, across), cv2.multiply(down, down))
    second = cv2.Laplacian(light, cv2.CV_32F)[1:-1, 1:-1]
    squares = ((first, usable), (cv2.multiply(second, second), usable), (cv2.multiply(light, light), None))
    colours = [_norm(square, mask) for square, mask in squares]
    if not all(colour.any() for colour in colours):
        return None
    shifts = np.array([_shift_from_neutral(colour / colour.mean() / 2) for colour in colours])
    mean = shifts.mean(axis=0)
    return max(0.0, float((shifts @ mean).min() / max(np.hypot(*mean), 1e-9)))


def _norm(square: cv2.typing.MatLike, mask: cv2.typing.MatLike | None) -> NDArray[np.float64]:
    """Norm of order 6 of each channel."""
    sixth_power = cv2.multiply(cv2.multiply(square, square), square)
    return np.asarray(np.array(cv2.mean(sixth_power, mask)[:3]) ** (1 / 6))


def _shift_from_neutral(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB a and b."""
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    pixel = np.minimum(encoded, 1).astype(np.float32).reshape(1, 1, 3)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_BGR2LAB)[0, 0, 1:], np.float64)


_ENCODED = np.arange(256) / 255
# sRGB (IEC 61966-2-1) to linear light.
_LINEAR = np.where(_ENCODED <= 0.04045, _ENCODED / 12.92, ((_ENCODED + 0.055) / 1.055) ** 2.4).astype(np.float32)
