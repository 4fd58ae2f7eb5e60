"""Banding follows the number of remaining levels."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
def test_rises_as_levels_go(seed: int) -> None:
    values = assert_rises("banding", [photo(seed), *(quantise(photo(seed), step) for step in (2, 4, 8, 16, 32, 64))])
    assert values[0] == 0
    assert values[1:4] == pytest.approx([1 / 2, 3 / 4, 7 / 8], abs=0.03)


def test_stretching_leaves_gaps_and_compression_does_not() -> None:
    assert value("banding", images.contrast(photo(1), 1.25)) == pytest.approx(0.2, abs=0.03)
    assert value("banding", images.jpeg(photo(1), 10)) < 0.05


def test_small_images_have_none() -> None:
    assert measure(Image(photo(1)[:100, :100]), None)["banding"] is None


def quantise(pixels: Pixels, step: int) -> Pixels:
    return np.asarray(pixels // step * step, np.uint8)
