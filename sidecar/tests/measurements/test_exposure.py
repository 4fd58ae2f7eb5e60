"""Exposure: known values on known histograms, and the direction of each change."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import assert_rises, photo


def test_known_histogram() -> None:
    pixels = np.vstack([images.flat(0, 10, 100), images.flat(255, 30, 100), images.flat(100, 60, 100)])
    values = measure(Image(pixels), None)
    assert values["mean_luminance"] == pytest.approx(0.3 * 255 + 0.6 * 100)
    assert values["shadow_clipping"] == pytest.approx(0.1)
    assert values["highlight_clipping"] == pytest.approx(0.3)
    assert values["dynamic_range"] == 255
    assert (values["black_level"], values["white_level"]) == (0, 255)
    assert values["rms_contrast"] == pytest.approx(np.std([0] * 1 + [255] * 3 + [100] * 6) / 255)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_rises_with_its_cause(seed: int) -> None:
    plain = photo(seed)
    assert_rises("mean_luminance", [shift(plain, by) for by in (-90, -40, 0, 40, 90)])
    assert_rises("highlight_clipping", [shift(plain, by) for by in (0, 40, 80, 120)])
    assert_rises("shadow_clipping", [shift(plain, -by) for by in (40, 80, 120)])
    assert_rises("black_level", [images.contrast(plain, factor) for factor in (0.9, 0.6, 0.3, 0.15)])
    assert_rises("white_level", [images.contrast(plain, factor) for factor in (0.15, 0.3, 0.6, 0.9)])
    for name in ("rms_contrast", "dynamic_range"):
        assert_rises(name, [images.contrast(plain, factor) for factor in (0.15, 0.3, 0.6, 0.9)])


def shift(pixels: Pixels, by: int) -> Pixels:
    return np.clip(pixels.astype(np.int16) + by, 0, 255).astype(np.uint8)
