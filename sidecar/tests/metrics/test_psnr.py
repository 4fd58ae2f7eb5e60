"""PSNR against scikit-image and by hand."""

import math

import numpy as np
import pytest

from iqa_sidecar.metrics.psnr import CAP_DECIBELS

from .. import images
from .levels import value

# scikit-image 0.26 peak_signal_noise_ratio(data_range=255) on the colour pixels of the generated images.
BLURRED = {1: 27.994815, 2: 29.240596}
NOISY = {1: 26.580367, 2: 26.612454}


@pytest.mark.parametrize("seed", [1, 2])
def test_agrees_with_scikit_image(seed: int) -> None:
    photo = images.photo(seed)
    assert value("PSNR", images.blur(photo, 1.5), photo) == pytest.approx(BLURRED[seed], rel=1e-4)
    assert value("PSNR", images.noise(photo, 12), photo) == pytest.approx(NOISY[seed], rel=1e-4)


def test_every_sample_one_step_off_is_48_decibels() -> None:
    assert value("PSNR", images.flat(100), images.flat(101)) == pytest.approx(20 * math.log10(255))


def test_one_different_sample_stays_below_the_cap() -> None:
    pixels = images.photo(1)
    changed = pixels.copy()
    changed[0, 0, 0] ^= np.uint8(128)
    assert value("PSNR", changed, pixels) < CAP_DECIBELS
    assert value("PSNR", pixels, pixels) == CAP_DECIBELS
