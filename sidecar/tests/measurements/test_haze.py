"""Haze rises with a veil and is near zero if every neighbourhood has something dark."""

import numpy as np
import pytest

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo, value


@pytest.mark.parametrize("seed", SEEDS)
def test_rises_with_a_veil(seed: int) -> None:
    assert_rises("haze", [veil(photo(seed), share) for share in (0, 0.15, 0.3, 0.45, 0.6, 0.75)])


def test_known_images() -> None:
    stripes = np.tile(np.repeat([0, 200], 4), (256, 40))[..., None].repeat(3, axis=2).astype(np.uint8)
    assert value("haze", stripes) < 0.1
    assert value("haze", images.flat(200)) == pytest.approx(1, abs=0.01)


def veil(pixels: Pixels, share: float) -> Pixels:
    return np.round(pixels * (1 - share) + share * np.array([225, 228, 232])).astype(np.uint8)
