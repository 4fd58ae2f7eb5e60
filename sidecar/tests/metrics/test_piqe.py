"""PIQE against the direct float64 version, its reaction to distortions, and its map of blocks."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from ..seeds import SEEDS
from . import oracles
from .levels import assert_rising, graded, value


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185), (3, 90, 200)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for image in (photo, images.blur(photo, 1.5), images.noise(photo, 12), images.jpeg(photo, 15)):
        assert value("PIQE", image) == pytest.approx(oracles.piqe(oracles.luma(image)), rel=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_rises_with_blur_and_compression_once_they_show(seed: int) -> None:
    photo = images.photo(seed, 384, 480)
    for distortion in ("blur", "jpeg"):
        # Weak levels smooth the grain of the generated photos, which PIQE takes for noise; 100 is the end of its scale.
        values = [value("PIQE", image) for image in graded(distortion, photo)[3:]]
        assert_rising([one for one in values if one < 100])
        assert values == sorted(values)
        assert values[0] < values[-1]


def test_an_image_without_any_structure_left_is_the_worst() -> None:
    smooth = images.blur(images.photo(1), 20)
    assert value("PIQE", smooth) == 100


def test_the_map_has_a_place_for_each_block_and_shows_where() -> None:
    photo = images.photo(1, 250, 320)
    partly = photo.copy()
    partly[:, 160:] = images.jpeg(photo, 5)[:, 160:]
    result = run_tool(TOOLS["PIQE"], Pair(Image(partly)), wants_map=True)
    assert result.map is not None
    assert result.map.shape == (16, 20)
    assert float(np.mean(result.map[:, :10])) > float(np.mean(result.map[:, 10:])) + 0.1


def test_a_flat_image_is_refused() -> None:
    with pytest.raises(ToolError) as caught:
        value("PIQE", images.flat(77))
    assert caught.value.code == "NOT_FINITE"
