"""Noise is measured in gray levels for any content; impulses are counted separately."""

import pytest

from .. import images
from ..seeds import SEEDS
from .levels import assert_rises, photo, value

SIGMAS = (3, 6, 10, 15, 22, 30)
# No block of this image is smooth; its texture adds to weak noise.
TEXTURED = {7}


@pytest.mark.parametrize("seed", SEEDS)
def test_luma_noise_is_its_standard_deviation(seed: int) -> None:
    plain = images.photo(seed, 384, 512, grain=0)
    values = assert_rises("noise_sigma", [plain, *(images.gray_noise(plain, sigma) for sigma in SIGMAS)])
    if seed not in TEXTURED:
        assert values[0] < 1.5
        assert values[1:] == pytest.approx(SIGMAS, rel=0.15)


@pytest.mark.parametrize("seed", SEEDS)
def test_chroma_noise_rises_with_coloured_noise_only(seed: int) -> None:
    plain = photo(seed)
    values = assert_rises("chroma_noise_sigma", [plain, *(images.noise(plain, sigma) for sigma in SIGMAS)])
    # Independent noise of σ in R, G and B has 0.64 σ in Cb and Cr.
    assert values[1:] == pytest.approx([0.64 * sigma for sigma in SIGMAS], rel=0.15)
    assert value("chroma_noise_sigma", images.gray_noise(plain, 10)) < 1.5


@pytest.mark.parametrize("seed", SEEDS)
def test_blur_removes_noise(seed: int) -> None:
    assert value("noise_sigma", images.blur(images.noise(photo(seed), 20), 2)) < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_are_counted(seed: int) -> None:
    plain = photo(seed)
    fractions = (0.002, 0.005, 0.01, 0.03, 0.1, 0.2)
    values = assert_rises("impulse_fraction", [plain, *(images.impulses(plain, fraction) for fraction in fractions)])
    assert values[0] < 0.001
    assert values[1:5] == pytest.approx(fractions[:4], rel=0.25)


@pytest.mark.parametrize("seed", SEEDS)
def test_white_noise_and_compression_are_not_impulses(seed: int) -> None:
    plain = photo(seed)
    for pixels in (images.noise(plain, 10), images.noise(plain, 40), images.jpeg(plain, 10)):
        assert value("impulse_fraction", pixels) < 0.001
