"""JPEG quality is estimated from pixels, also after a crop, and not in uncompressed images."""

import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..seeds import SEEDS
from .levels import photo, value

QUALITIES = (92, 85, 75, 60, 45, 30, 20, 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_quality_is_found_in_the_pixels(seed: int) -> None:
    for quality in QUALITIES:
        assert value("jpeg_quality_estimate", images.jpeg(photo(seed), quality)) == pytest.approx(quality, abs=1)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_a_crop_moves_the_grid(seed: int) -> None:
    assert value("jpeg_quality_estimate", images.jpeg(photo(seed), 40)[3:, 5:]) == pytest.approx(40, abs=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_pixels_that_were_never_compressed_show_none(seed: int) -> None:
    plain = photo(seed)
    for pixels in (plain, images.blur(plain, 2), images.noise(images.jpeg(plain, 40), 20)):
        assert measure(Image(pixels), None)["jpeg_quality_estimate"] is None
