"""Colour: zero for gray, rising with saturation; a cast is distinguished from a coloured subject."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
def test_strength_rises_with_saturation(seed: int) -> None:
    for name in ("saturation", "colorfulness"):
        values = assert_rises(name, [saturate(photo(seed), factor) for factor in (0, 0.25, 0.5, 0.75, 1)])
        assert values[0] == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hue", [(-1, 0, 1), (1, 0, -1), (-0.5, 1, -0.5)])
def test_cast_rises_with_coloured_light(hue: tuple[float, float, float], seed: int) -> None:
    plain = saturate(photo(seed), 0.3)
    assert_rises("color_cast", [light(plain, hue, strength) for strength in (0.08, 0.16, 0.24, 0.32, 0.4)])


def test_gray_images_have_no_cast() -> None:
    assert value("color_cast", saturate(photo(1), 0)) < 0.5
    assert measure(Image(images.flat(128)), None)["color_cast"] is None


def test_a_coloured_subject_is_no_cast() -> None:
    plain = saturate(photo(1), 0)
    subject = plain.copy()
    subject[120:300, 150:400] = light(plain, (-1, -0.5, 1), 0.4)[120:300, 150:400]
    assert value("color_cast", subject) < 0.5 * value("color_cast", light(plain, (-1, -0.5, 1), 0.4))


def saturate(pixels: Pixels, factor: float) -> Pixels:
    grey = np.round(pixels.mean(axis=2, keepdims=True))
    return np.asarray(np.round(grey + factor * (pixels - grey)), np.uint8)


def light(pixels: Pixels, hue: tuple[float, float, float], strength: float) -> Pixels:
    """Gains of B, G and R in linear light."""
    linear = (pixels / 255.0) ** 2.2 * (1 + strength * np.array(hue)) * 0.7
    return np.clip(np.round(linear ** (1 / 2.2) * 255), 0, 255).astype(np.uint8)
