"""Blockiness follows compression, also after a crop; the quality comes from the file or the caller."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("offset", [(0, 0), (3, 5)])
def test_rises_with_compression(offset: tuple[int, int], seed: int) -> None:
    plain = photo(seed)
    top, left = offset
    values = assert_rises(
        "blockiness", [images.jpeg(plain, quality)[top:, left:] for quality in (95, 80, 60, 35, 20, 10, 5)]
    )
    assert values[0] < 0.05
    assert values[-1] > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_other_distortions_have_no_grid(seed: int) -> None:
    plain = photo(seed)
    for pixels in (plain, images.blur(plain, 2), images.noise(plain, 20), images.contrast(plain, 0.4)):
        assert value("blockiness", pixels) < 0.05


def test_quality_of_the_file_or_the_caller() -> None:
    file = Image.decode(images.jpeg_file(photo(1), 40), 10**7)
    assert measure(file, None)["jpeg_quality"] == 40
    assert measure(file, 85)["jpeg_quality"] == 85
    assert measure(Image(np.asarray(file.bgr)), None)["jpeg_quality"] is None
