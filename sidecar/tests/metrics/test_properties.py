"""Properties of every metric: identity, symmetry, monotonicity, determinism, and unusual images."""

import math

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from ..images import Pixels
from ..seeds import SEEDS
from .levels import LEVELS, assert_rising, graded, require, value

# Best value, and the sign that makes larger mean worse.
FULL_REFERENCE = {
    "PSNR": (100.0, -1),
    "SSIM": (1.0, -1),
    "MS-SSIM": (1.0, -1),
    "GMSD": (0.0, 1),
    "FSIM": (1.0, -1),
    "VSI": (1.0, -1),
    "MDSI": (0.0, 1),
    "HaarPSI": (1.0, -1),
    "VIFp": (1.0, -1),
    "VIF": (1.0, -1),
    "MS-GMSD": (0.0, 1),
    "CW-SSIM": (1.0, -1),
    "NLPD": (0.0, 1),
    "IW-SSIM": (1.0, -1),
    "MAD": (0.0, 1),
    "LPIPS": (0.0, 1),
}
# Tested on small images in its own tests.
SLOW = {"DISTS"}
# Monotonicity is in their own tests, because it does not hold for all levels.
NO_REFERENCE = {"NIQE", "BRISQUE", "PIQE"}
# Tested in tests/learned.
LEARNED = {"PanelIQA", "PanelIQA-R", "LiteIQA"}
# By definition: lost and added structure count differently.
NOT_SYMMETRIC = {"MDSI", "VIFp", "VIF", "IW-SSIM", "MAD"}
# Exactly the best value while errors are invisible.
HAS_THRESHOLD = {"MAD"}
# Not defined for a flat reference, which has no information.
NEED_STRUCTURE = {"VIFp", "VIF"}

UNUSUAL_IMAGES: dict[str, Pixels] = {
    "black": images.flat(0),
    "white": images.flat(255),
    "grey": images.flat(128),
    "tiny": images.photo(1)[:8, :8],
    "one pixel": images.photo(1)[:1, :1],
    "one row": images.photo(1)[:1],
    "one column": images.photo(1)[:, :1],
    "ribbon": images.photo(1, 16, 4000),
    "odd sides": images.photo(1, 257, 193),
    "half black": np.vstack([images.flat(0), images.photo(1)]),
}


def test_full_reference_tools_are_the_ones_that_need_it() -> None:
    tried = set(TOOLS) - LEARNED
    assert {name for name in tried if TOOLS[name].needs_reference} == set(FULL_REFERENCE) | SLOW
    assert tried == set(FULL_REFERENCE) | SLOW | NO_REFERENCE


IDENTITY_CASES = [
    (tool, kind)
    for tool in FULL_REFERENCE
    for kind, pixels in {"photo": images.photo(3), **UNUSUAL_IMAGES}.items()
    if min(pixels.shape[:2]) >= TOOLS[tool].min_side
]


@pytest.mark.parametrize(("tool", "kind"), IDENTITY_CASES)
def test_identity_is_exactly_the_best_value(tool: str, kind: str) -> None:
    pixels = UNUSUAL_IMAGES.get(kind, images.photo(3))
    assert value(tool, pixels, pixels.copy()) == FULL_REFERENCE[tool][0]


@pytest.mark.parametrize("tool", [tool for tool in FULL_REFERENCE if tool not in NOT_SYMMETRIC])
def test_swapping_the_images_changes_nothing(tool: str) -> None:
    photo = images.photo(1)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.jpeg(photo, 20)):
        assert value(tool, distorted, photo) == value(tool, photo, distorted)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distortion", LEVELS)
def test_each_level_is_worse_than_the_last(distortion: str, seed: int) -> None:
    photo = images.photo(seed)
    pairs = [Pair(Image(image), Image(photo)) for image in graded(distortion, photo)]
    for tool, (_best, sign) in FULL_REFERENCE.items():
        # Set-up without a network connection leaves out the weights.
        if TOOLS[tool].unavailable_reason() is None:
            values = [sign * run_tool(TOOLS[tool], pair, wants_map=False).value for pair in pairs]
            hidden = values.count(values[0]) - 1 if tool in HAS_THRESHOLD else 0
            assert hidden <= 2
            assert_rising(values[hidden:])


@pytest.mark.parametrize("kind", UNUSUAL_IMAGES)
@pytest.mark.parametrize("tool", TOOLS)
def test_unusual_images_give_a_number_or_an_error(tool: str, kind: str) -> None:
    pixels = trim(tool, UNUSUAL_IMAGES[kind])
    noisy = images.noise(pixels, 5)
    too_small = min(pixels.shape[:2]) < TOOLS[tool].min_side
    for image, reference in ((pixels, noisy), (noisy, pixels)):
        outcome = get_outcome(tool, Pair(Image(image), Image(reference)))
        assert outcome == "REGION_TOO_SMALL" if too_small else outcome in ("a number", "NOT_FINITE")
        may_fail = not TOOLS[tool].needs_reference or (tool in NEED_STRUCTURE and np.ptp(reference) == 0)
        assert outcome == "a number" or may_fail or too_small


def trim(tool: str, pixels: Pixels) -> Pixels:
    """DISTS takes a second for a full test image; the middle of it tests the same."""
    if tool not in SLOW:
        return pixels
    top, left = (max(0, side // 2 - 48) for side in pixels.shape[:2])
    return pixels[top : top + 96, left : left + 96]


def get_outcome(tool: str, pair: Pair) -> str:
    require(tool)
    try:
        result = run_tool(TOOLS[tool], pair, wants_map=TOOLS[tool].has_map)
    except ToolError as error:
        return error.code
    finite = math.isfinite(result.value) and (result.map is None or bool(np.isfinite(result.map).all()))
    return "a number" if finite else "nonsense"


@pytest.mark.parametrize("tool", TOOLS)
def test_the_smallest_allowed_side_works(tool: str) -> None:
    side = TOOLS[tool].min_side
    photo = images.photo(1, 192, 200)[-side:, -side:]
    assert math.isfinite(value(tool, images.noise(photo, 5), photo))


@pytest.mark.parametrize("tool", TOOLS)
def test_repeated_runs_agree_to_the_last_bit(tool: str) -> None:
    photo = trim(tool, images.photo(2))
    distorted = images.jpeg(photo, 20)
    require(tool)
    pair = Pair(Image(distorted), Image(photo))
    values = {run_tool(TOOLS[tool], pair, wants_map=False).value for _ in range(3)}
    assert values == {value(tool, distorted.copy(), photo.copy())}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_crop_is_scored_as_an_image_of_its_own(tool: str) -> None:
    photo = images.photo(2)
    distorted = images.blur(photo, 1)
    require(tool)
    width, height = (60, 70) if tool in SLOW else (240, 210)
    pair = Pair(Image(distorted), Image(photo)).crop((17, 9, width, height))
    cut = (slice(9, 9 + height), slice(17, 17 + width))
    assert run_tool(TOOLS[tool], pair, wants_map=False).value == value(tool, distorted[cut], photo[cut])
