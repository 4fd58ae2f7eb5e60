"""BRISQUE's features against the direct float64 version, its regression by hand, and the fitted model's behaviour."""

from pathlib import Path

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics import brisque
from iqa_sidecar.metrics.brisque import Regression, create_tool, features
from iqa_sidecar.metrics.registry import TOOLS

from .. import images
from ..seeds import SEEDS
from . import oracles
from .levels import assert_rising, graded, value


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_features_agree_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for image in (photo, images.blur(photo, 1.5), images.noise(photo, 12)):
        # Shapes are found in steps of 0.001.
        np.testing.assert_allclose(
            features(Image(image)), oracles.brisque_features(oracles.luma(image)), rtol=2e-3, atol=2e-3
        )


def test_a_black_image_has_no_features() -> None:
    assert np.isnan(features(Image(images.flat(0)))).any()


def test_the_regression_sums_its_kernels(tmp_path: Path) -> None:
    file = tmp_path / "regression.npz"
    vectors = np.zeros((2, 36), np.float32)
    vectors[1, 0] = 1
    np.savez(
        file,
        support_vectors=vectors,
        dual_coefficients=np.array([3.0, -2.0]),
        intercept=np.array(10.0),
        gamma=np.array(0.5),
        feature_minimum=np.zeros(36),
        feature_maximum=np.full(36, 4.0),
    )
    regression = Regression.load(file)
    # In the middle of every range, the scaled features are all 0.
    assert regression.predict(np.full(36, 2.0)) == pytest.approx(10 + 3 - 2 * np.exp(-0.5))


def test_values_are_clipped_to_0_and_100() -> None:
    nothing = np.zeros((1, 36), np.float32)
    for intercept, expected in ((-20.0, 0.0), (130.0, 100.0)):
        regression = Regression(nothing, np.zeros(1), intercept, 1.0, np.zeros(36), np.ones(36))
        assert create_tool(regression).score(Pair(Image(images.photo(1))), False).value == expected


def test_the_installed_model_is_registered_and_reacts() -> None:
    assert TOOLS["BRISQUE"] is brisque.TOOL
    photo = images.photo(1, 384, 480)
    plain = value("BRISQUE", photo)
    for distortion in ("blur", "noise", "jpeg"):
        assert value("BRISQUE", graded(distortion, photo)[-1]) > plain + 10


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("distortion", ["blur", "noise"])
def test_the_installed_model_rises_with_visible_levels(distortion: str, seed: int) -> None:
    # Weak levels are hidden by the grain of the generated photos.
    assert_rising([value("BRISQUE", image) for image in graded(distortion, images.photo(seed, 384, 480))[3:]])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_installed_model_rises_until_its_scale_ends(seed: int) -> None:
    photo = images.photo(seed, 384, 480)
    assert_rising([value("BRISQUE", image) for image in graded("noise", photo)[3:]])
    blurred = [value("BRISQUE", image) for image in graded("blur", photo)[3:]]
    assert_rising(blurred[:-1])
    # Beyond a width of three pixels the regression is flat, on some photos it falls by less than a point.
    assert blurred[-1] > blurred[-2] - 1
    # Between qualities 10 and 5 it is not monotone on four photos of ten.
    assert_rising([value("BRISQUE", image) for image in graded("jpeg", photo)[0:6:5]])
