"""MS-SSIM against the direct float64 version."""

import pytest

from .. import images
from . import oracles
from .levels import value


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, 0.6)):
        expected = oracles.ms_ssim(oracles.luma(distorted), oracles.luma(photo))
        assert value("MS-SSIM", distorted, photo) == pytest.approx(expected, abs=1e-4)


def test_opposite_structures_are_below_zero() -> None:
    photo = images.photo(1)
    assert value("MS-SSIM", 255 - photo, photo) < -0.5
