"""SSIM against scikit-image, and its local map."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from .levels import value

# scikit-image 0.26 structural_similarity(gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)
# on the rounded luma of the generated images.
BLURRED = {1: 0.857762, 2: 0.865985}
NOISY = {1: 0.724421, 2: 0.707630}
FADED = {1: 0.927342, 2: 0.926164}


@pytest.mark.parametrize("seed", [1, 2])
def test_agrees_with_scikit_image(seed: int) -> None:
    photo = images.photo(seed)
    assert value("SSIM", images.blur(photo, 1.5), photo) == pytest.approx(BLURRED[seed], abs=2e-4)
    assert value("SSIM", images.noise(photo, 12), photo) == pytest.approx(NOISY[seed], abs=2e-4)
    assert value("SSIM", images.contrast(photo, 0.6), photo) == pytest.approx(FADED[seed], abs=2e-4)


def test_the_map_shows_where_the_image_suffered() -> None:
    photo = images.photo(1)
    damaged = photo.copy()
    damaged[:, 160:] = images.noise(photo, 30)[:, 160:]
    result = run_tool(TOOLS["SSIM"], Pair(Image(damaged), Image(photo)), wants_map=True)
    assert result.map is not None
    assert result.map.shape == (246, 310)
    assert result.map.dtype == np.float32
    assert result.map.min() >= 0
    assert result.map.max() <= 1
    assert result.map[:, :140].mean() > 0.99
    assert result.map[:, 170:].mean() < 0.7


def test_asking_for_the_map_does_not_change_the_value() -> None:
    pair = Pair(Image(images.blur(images.photo(1), 2)), Image(images.photo(1)))
    assert run_tool(TOOLS["SSIM"], pair, wants_map=True).value == run_tool(TOOLS["SSIM"], pair, wants_map=False).value
