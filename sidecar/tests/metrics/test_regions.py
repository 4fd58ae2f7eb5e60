"""Regions: tools pool the local map of the whole image inside the box, or score the crop."""

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from .levels import require

POOLED = sorted(name for name, tool in TOOLS.items() if tool.pools_map)
BOX = (90, 40, 120, 150)


def build_pair(keeps_maps: bool = False) -> Pair:
    photo = images.photo(2)
    damaged = photo.copy()
    damaged[:, 160:] = images.noise(photo, 25)[:, 160:]
    return Pair(Image(damaged), Image(photo), keeps_maps=keeps_maps)


def test_the_tools_with_a_map_pool_it() -> None:
    assert set(POOLED) >= {"SSIM", "GMSD", "FSIM", "VSI", "MDSI", "HaarPSI"}
    assert all(TOOLS[name].has_map for name in POOLED)


@pytest.mark.parametrize("tool", POOLED)
def test_a_box_over_the_whole_image_changes_nothing(tool: str) -> None:
    pair = build_pair()
    everything = pair.within((0, 0, 320, 256))
    assert run_tool(TOOLS[tool], everything, False).value == run_tool(TOOLS[tool], pair, False).value


@pytest.mark.parametrize("tool", POOLED)
def test_the_clean_side_is_better_and_the_damaged_side_worse_than_all(tool: str) -> None:
    pair = build_pair(keeps_maps=True)
    clean, whole, damaged = (
        run_tool(TOOLS[tool], view, False).value
        for view in (pair.within((0, 0, 120, 256)), pair, pair.within((180, 0, 140, 256)))
    )
    # A deviation is largest where both sides meet, so the whole image is not between them.
    if tool in ("GMSD", "MDSI"):
        assert clean < damaged
    else:
        assert clean < whole < damaged if tool == "LPIPS" else clean > whole > damaged


# LPIPS adds five layers of different sizes, each cut before it is enlarged.
@pytest.mark.parametrize("tool", [name for name in POOLED if name != "LPIPS"])
def test_the_map_of_a_region_is_a_part_of_the_whole_map(tool: str) -> None:
    pair = build_pair()
    whole = run_tool(TOOLS[tool], pair, True).map
    part = run_tool(TOOLS[tool], pair.within(BOX), True).map
    assert whole is not None
    assert part is not None
    scale = round(320 / whole.shape[1])
    margin = 5 if tool == "SSIM" else 0
    left, top = (BOX[0] - margin) // scale, (BOX[1] - margin) // scale
    assert part.shape == (BOX[3] // scale, BOX[2] // scale)
    np.testing.assert_array_equal(part, whole[top : top + part.shape[0], left : left + part.shape[1]])


def test_a_mean_is_the_mean_of_the_map_inside() -> None:
    result = run_tool(TOOLS["SSIM"], build_pair().within(BOX), True)
    assert result.map is not None
    assert result.value == pytest.approx(float(result.map.mean()), abs=1e-4)


@pytest.mark.parametrize("tool", POOLED)
def test_kept_maps_give_the_same_values(tool: str) -> None:
    kept = build_pair(keeps_maps=True)
    first = run_tool(TOOLS[tool], kept.within(BOX), False).value
    assert run_tool(TOOLS[tool], kept.within(BOX), False).value == first
    assert run_tool(TOOLS[tool], build_pair().within(BOX), False).value == first


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if tool.min_side > 1])
def test_a_box_too_small_is_rejected(tool: str) -> None:
    require(tool)
    side = TOOLS[tool].min_side
    box = (10, 10, side + 20, side - 1)
    large = images.photo(1, 400, 420)
    pair = Pair(Image(images.blur(large, 1)), Image(large))
    view = pair.within(box) if TOOLS[tool].pools_map else pair.crop(box)
    with pytest.raises(ToolError) as caught:
        run_tool(TOOLS[tool], view, False)
    assert caught.value.code == "REGION_TOO_SMALL"
    assert f"at least {side} pixels" in caught.value.message


def test_a_box_with_too_little_of_a_coarse_map_is_rejected() -> None:
    # Twelve pixels become one at this size: no two values of the map lie in the box.
    large = np.zeros((3072, 3072, 3), np.uint8)
    with pytest.raises(ToolError, match="at least 2 × 2 values of the local map"):
        run_tool(TOOLS["MDSI"], Pair(Image(large), Image(large)).within((1, 1, 16, 16)), False)


@pytest.mark.parametrize("tool", POOLED)
def test_asking_for_the_map_does_not_change_the_value(tool: str) -> None:
    # Large enough for several tiles.
    photo = images.photo(4, 300, 2100)
    pair = Pair(Image(images.jpeg(photo, 30)), Image(photo))
    assert run_tool(TOOLS[tool], pair, True).value == run_tool(TOOLS[tool], pair, False).value
