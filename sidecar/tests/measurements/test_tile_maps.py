"""The maps of blur, noise and blockiness show where an image is distorted, and how much."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.measurements import measure
from iqa_sidecar.measurements.tile_maps import TOOLS
from iqa_sidecar.metrics.registry import run_tool
from iqa_sidecar.metrics.tool import ToolError
from tests.sidecar_process import Sidecar, call

from .. import images
from ..conftest import encode_image
from ..images import Pixels
from ..seeds import SEEDS
from .levels import photo

DISTORT = {
    "edge_width_px": lambda pixels: images.blur(pixels, 3),
    "noise_sigma": lambda pixels: images.noise(pixels, 25),
    "blockiness": lambda pixels: images.jpeg(pixels, 8),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", DISTORT)
def test_the_damaged_half_is_darker(name: str, seed: int) -> None:
    damaged = photo(seed).copy()
    damaged[:, 256:] = DISTORT[name](photo(seed))[:, 256:]
    drawn = draw(name, damaged)
    assert drawn.shape == (12, 16)
    left, right = np.array_split(drawn, 2, axis=1)
    assert float(left.mean()) > 0.8
    assert float(right.mean()) < float(left.mean()) - 0.15


@pytest.mark.parametrize("name", DISTORT)
def test_the_value_is_the_measurement(name: str) -> None:
    result = run_tool(TOOLS[name], Pair(Image(photo(1))), wants_map=False)
    assert result.value == measure(Image(photo(1)), None)[name]
    assert result.map is None


@pytest.mark.parametrize("size", [(64, 64), (65, 97), (300, 70)])
@pytest.mark.parametrize("name", DISTORT)
def test_odd_sizes_are_drawn(name: str, size: tuple[int, int]) -> None:
    drawn = draw(name, images.photo(2, *size))
    assert np.isfinite(drawn).all()
    assert drawn.min() >= 0
    assert drawn.max() <= 1


def test_an_image_without_edges_has_no_blur_to_show() -> None:
    with pytest.raises(ToolError) as caught:
        draw("edge_width_px", images.flat(100))
    assert caught.value.code == "NOT_FINITE"


def test_the_running_sidecar_draws_them(sidecar: Sidecar) -> None:
    image = encode_image(240, 200)
    _image, tool, _end = sidecar.measure(image, tools=[call("noise_sigma", wants_map=True)])
    assert tool["error"] is None
    assert (tool["map"]["width"], tool["map"]["height"]) == (7, 6)


def draw(name: str, pixels: Pixels) -> np.typing.NDArray[np.float32]:
    result = run_tool(TOOLS[name], Pair(Image(pixels)), wants_map=True)
    assert result.map is not None
    return result.map
