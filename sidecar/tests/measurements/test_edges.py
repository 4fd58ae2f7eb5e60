"""Edge width follows blur and scale, the sharpest tenth follows the parts in focus, the halo follows sharpening."""

import cv2
import numpy as np
import pytest

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo, value

SIGMAS = (0.6, 1, 1.5, 2.2, 3.2, 4.5, 6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["edge_width_px", "edge_width_sharp_px"])
def test_width_rises_with_blur(name: str, seed: int) -> None:
    sharp = photo(seed)
    assert_rises(name, [sharp, *(images.blur(sharp, sigma) for sigma in SIGMAS)])


def test_an_image_longer_than_16_bits_is_measured_too() -> None:
    ribbon = np.tile(images.blur(step_image()[:64], 2), (1, 70, 1))
    assert ribbon.shape[1] > 2**15
    assert value("edge_width_px", ribbon) == pytest.approx(value("edge_width_px", ribbon[:, :5120]), rel=0.05)


@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0])
def test_width_of_a_blurred_step_is_that_of_its_gaussian(sigma: float) -> None:
    blurred = images.blur(step_image(), sigma)
    assert value("edge_width_px", blurred) == pytest.approx(2.563 * sigma, rel=0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_width_grows_with_the_image(seed: int) -> None:
    small = images.blur(photo(seed), 1)
    large = np.asarray(cv2.resize(small, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), np.uint8)
    assert value("edge_width_px", large) == pytest.approx(2 * value("edge_width_px", small), rel=0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_width_hardly_depends_on_contrast_or_noise(seed: int) -> None:
    blurred = images.blur(photo(seed), 1.5)
    width = value("edge_width_px", blurred)
    assert value("edge_width_px", images.contrast(blurred, 0.5)) == pytest.approx(width, rel=0.1)
    assert value("edge_width_px", images.noise(blurred, 6)) == pytest.approx(width, rel=0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sharp_subject_before_a_blurred_background_is_told_from_blur(seed: int) -> None:
    sharp = photo(seed)
    partly = images.blur(sharp, 3)
    partly[100:284, 128:384] = sharp[100:284, 128:384]
    assert value("edge_width_sharp_px", partly) < 1.3 * value("edge_width_sharp_px", sharp)
    assert value("edge_width_sharp_px", images.blur(sharp, 3)) > 2 * value("edge_width_sharp_px", sharp)


@pytest.mark.parametrize("seed", SEEDS)
def test_halo_rises_with_sharpening_and_not_with_blur(seed: int) -> None:
    sharp = photo(seed)
    values = assert_rises("halo", [images.sharpen(sharp, amount) for amount in (0.5, 1, 2, 4)])
    assert value("halo", sharp) < 0.05 < values[1]
    assert value("halo", images.blur(sharp, 2)) < 0.05


def step_image() -> Pixels:
    """Squares of 64 pixels, two gray levels, tilted so that edges have all sub-pixel offsets."""
    rows, columns = np.indices((384, 512))
    turned = np.cos(0.3) * columns + np.sin(0.3) * rows, np.cos(0.3) * rows - np.sin(0.3) * columns
    squares = (np.floor(turned[0] / 64) + np.floor(turned[1] / 64)) % 2
    return np.asarray((60 + 120 * squares)[..., None].repeat(3, axis=2), np.uint8)
