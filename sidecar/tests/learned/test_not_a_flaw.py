"""Look-alikes that are not distortions: bokeh, night, texture, black and white; none was in a training set."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.learned import predictors

from .. import images
from ..images import Pixels

# Strengths from 2 on are worse than slight.
MODERATE = 2


@pytest.fixture(autouse=True)
def _there() -> None:
    reason = predictors.unavailable_reason(*predictors.NR_FILES)
    if reason is not None:
        pytest.skip(reason)


def strength(category: str, pixels: Pixels) -> float:
    found = predictors.detect_distortions(Pair(Image(pixels)))[predictors.measurement_name(category)]
    assert found is not None
    return found


def bokeh(photo: Pixels) -> Pixels:
    """Sharp in the middle, far out of focus around it."""
    height, width = photo.shape[:2]
    subject = np.zeros((height, width), np.float32)
    cv2.ellipse(subject, (width // 2, height // 2), (width // 4, height // 3), 0, 0, 360, 1.0, -1)
    share = np.asarray(cv2.GaussianBlur(subject, (0, 0), 2))[..., None]
    return np.asarray(photo * share + images.blur(photo, 6) * (1 - share), np.uint8)


def night(photo: Pixels) -> Pixels:
    """A sixteenth of the light, with forty bright lamps."""
    dark = np.asarray(255 * ((photo / 255) ** 2.2 * 0.06) ** (1 / 2.2), np.float32)
    generator = np.random.default_rng(1)
    height, width = photo.shape[:2]
    for x, y, radius in generator.integers((0, 0, 2), (width, height, 9), (40, 3)).tolist():
        cv2.circle(dark, (x, y), radius, (200, 240, 255), -1)
    return np.asarray(np.clip(cv2.GaussianBlur(dark, (0, 0), 0.7), 0, 255), np.uint8)


def texture(photo: Pixels) -> Pixels:
    """Fibres in one direction, like cloth and grass."""
    fibres = np.random.default_rng(2).normal(0, 1, photo.shape[:2]).astype(np.float32)
    fibres = np.asarray(cv2.GaussianBlur(fibres, (0, 0), sigmaX=0.8, sigmaY=3), np.float32)
    return np.asarray(np.clip(photo * 0.5 + 60 + 28 * (fibres / fibres.std())[..., None], 0, 255), np.uint8)


CASES: list[tuple[str, Callable[[Pixels], Pixels], Callable[[Pixels], Pixels]]] = [
    ("Blurs", bokeh, lambda photo: images.blur(photo, 6)),
    ("Noise", texture, lambda photo: images.noise(photo, 28)),
]


@pytest.mark.parametrize(("category", "made", "flawed"), CASES)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_distortion_is_detected_but_not_its_look_alike(
    category: str, made: Callable[[Pixels], Pixels], flawed: Callable[[Pixels], Pixels], seed: int
) -> None:
    photo = images.photo(seed, 384, 512)
    assert strength(category, made(photo)) < MODERATE
    assert strength(category, flawed(photo)) >= MODERATE


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_night_with_its_lamps_is_not_underexposed(seed: int) -> None:
    assert strength("Brightness change", night(images.photo(seed, 384, 512))) < MODERATE


def without_colour(photo: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY), np.uint8)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_black_and_white_is_not_a_colour_distortion_and_costs_little(seed: int) -> None:
    photo = images.photo(seed, 384, 512)
    gray = without_colour(photo)
    assert strength("Color distortions", gray) < MODERATE
    in_colour, without = (predictors.predict_no_reference(Image(pixels)).quality for pixels in (photo, gray))
    assert without > in_colour - 0.8


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_distortions_are_detected_in_black_and_white(seed: int) -> None:
    photo = images.photo(seed, 384, 512)
    for category, flawed in (("Blurs", images.blur(photo, 4)), ("Noise", images.noise(photo, 60))):
        found = predictors.detect_distortions(Pair(Image(without_colour(flawed))))
        assert max(found, key=lambda name: found[name] or 0) == predictors.measurement_name(category)
        assert strength(category, without_colour(flawed)) >= MODERATE
