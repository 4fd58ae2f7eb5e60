"""Directional blur is distinguished from isotropic blur, and its direction is found."""

import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
def test_isotropic_images_have_no_direction(seed: int) -> None:
    sharp = photo(seed)
    for pixels in (sharp, images.blur(sharp, 1), images.blur(sharp, 4), images.noise(sharp, 15)):
        values = measure(Image(pixels), None)
        assert values["blur_anisotropy"] is not None
        assert values["blur_anisotropy"] < 0.25
        assert values["blur_direction_deg"] is None


@pytest.mark.parametrize("seed", SEEDS)
def test_anisotropy_rises_with_the_length_of_the_motion(seed: int) -> None:
    sharp = photo(seed)
    values = assert_rises("blur_anisotropy", [images.motion_blur(sharp, length, 20) for length in (3, 5, 9, 15)])
    assert values[1] > 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_the_length_follows_the_motion(seed: int) -> None:
    sharp = photo(seed)
    lengths = (7, 9, 12, 16)
    values = assert_rises("motion_blur_px", [images.motion_blur(sharp, length, 20) for length in lengths])
    assert values == pytest.approx(lengths, rel=0.4)
    assert measure(Image(sharp), None)["motion_blur_px"] is None


@pytest.mark.parametrize("degrees", [0, 30, 60, 90, 135, 160])
def test_the_direction_is_found(degrees: int) -> None:
    found = value("blur_direction_deg", images.motion_blur(photo(1), 11, degrees))
    assert abs((found - degrees + 90) % 180 - 90) < 8
