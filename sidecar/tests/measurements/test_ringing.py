"""Ringing rises with ripples beside edges, but not with grain or blur."""

import cv2
import numpy as np
import pytest

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
def test_rises_with_ripples(seed: int) -> None:
    assert_rises("ringing", [ripple(photo(seed), amount) for amount in (0, 0.75, 1.5, 3, 5)])


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_blur_takes_it_away(seed: int) -> None:
    rippled = ripple(photo(seed), 5)
    assert value("ringing", images.blur(rippled, 2)) < 0.8 * value("ringing", rippled)


def ripple(pixels: Pixels, amount: float) -> Pixels:
    """Adds a damped wave of four pixels' length around edges."""
    y, x = np.mgrid[-12:13, -12:13]
    distance = np.hypot(x, y)
    wave = np.cos(2 * np.pi * distance / 4) * np.exp(-distance / 4)
    wave -= wave.mean()
    values = pixels.astype(np.float32)
    waves = cv2.filter2D(values, -1, wave / np.abs(wave).sum(), borderType=cv2.BORDER_REFLECT)
    return np.clip(np.round(values + amount * waves), 0, 255).astype(np.uint8)
