"""NIQE against the direct float64 version, and its reaction to distortions."""

import json
from importlib import resources

import numpy as np
import pytest

from .. import images
from ..seeds import SEEDS
from . import oracles
from .levels import LEVELS, assert_rising, graded, value

PRISTINE = json.loads(resources.files("iqa_sidecar.data").joinpath("niqe_pristine.json").read_text("utf-8"))


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 301, 411)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for image in (photo, images.noise(photo, 12)):
        expected = oracles.niqe(oracles.luma(image), np.array(PRISTINE["mean"]), np.array(PRISTINE["covariance"]))
        # α moves in steps of 0.001 and the inverted covariance of few blocks magnifies a step.
        assert value("NIQE", image) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distortion", ["blur", "noise"])
def test_rises_with_each_level(distortion: str, seed: int) -> None:
    assert_rising([value("NIQE", image) for image in graded(distortion, images.photo(seed, 384, 480))])


@pytest.mark.parametrize("seed", SEEDS)
def test_rises_with_compression_once_it_shows(seed: int) -> None:
    # Weak compression smooths the grain of the generated photos, which improves NIQE.
    assert set(LEVELS["jpeg"][1][2:]) == {35, 20, 10, 5}
    assert_rising([value("NIQE", image) for image in graded("jpeg", images.photo(seed, 384, 480))[3:]])


def test_flat_blocks_are_left_out() -> None:
    photo = images.photo(1, 288, 384)
    half_flat = photo.copy()
    half_flat[:96] = 255
    # The row of blocks at the seam changes a little; without the rule the value would not be finite.
    assert value("NIQE", half_flat) == pytest.approx(value("NIQE", photo[96:]), rel=0.2)
