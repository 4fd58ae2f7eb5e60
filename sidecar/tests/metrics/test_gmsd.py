"""GMSD against the direct float64 version, and its local map."""

import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from . import oracles
from .levels import value


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, 0.6)):
        expected = oracles.gmsd(oracles.luma(distorted), oracles.luma(photo))
        assert value("GMSD", distorted, photo) == pytest.approx(expected, abs=1e-4)


def test_the_map_is_half_the_size_and_low_where_edges_were_lost() -> None:
    photo = images.photo(1)
    damaged = photo.copy()
    damaged[:, 160:] = images.blur(photo, 3)[:, 160:]
    result = run_tool(TOOLS["GMSD"], Pair(Image(damaged), Image(photo)), wants_map=True)
    assert result.map is not None
    assert result.map.shape == (128, 160)
    assert result.map.min() >= 0
    assert result.map.max() <= 1
    assert result.map[:, :70].mean() > 0.99
    assert result.map[:, 90:].mean() < 0.97
