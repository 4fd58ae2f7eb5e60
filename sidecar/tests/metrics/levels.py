"""Six increasing levels of each distortion, and checks that values follow them."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair, Plane
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from ..images import Pixels

LEVELS: dict[str, tuple[Callable[..., Pixels], tuple[float, ...]]] = {
    "blur": (images.blur, (0.6, 1, 1.5, 2.2, 3.2, 4.5)),
    "noise": (images.noise, (3, 6, 12, 20, 30, 45)),
    "jpeg": (images.jpeg, (90, 60, 35, 20, 10, 5)),
    "contrast": (images.contrast, (0.9, 0.75, 0.6, 0.45, 0.3, 0.15)),
}


def require(tool: str) -> None:
    """Skips if the tool's weights are missing, as after set-up without a network connection."""
    reason = TOOLS[tool].unavailable_reason()
    if reason is not None:
        pytest.skip(reason)


def value(tool: str, image: Pixels, reference: Pixels | None = None) -> float:
    require(tool)
    pair = Pair(Image(image), None if reference is None else Image(reference))
    return run_tool(TOOLS[tool], pair, wants_map=False).value


def graded(distortion: str, pixels: Pixels) -> list[Pixels]:
    """The original first, then the six levels."""
    distort, strengths = LEVELS[distortion]
    return [pixels, *(distort(pixels, strength) for strength in strengths)]


def assert_rising(values: Sequence[float]) -> None:
    assert all(left < right for left, right in pairwise(values)), values


def map_of(tool: str, image: Pixels, reference: Pixels) -> Plane:
    """The whole image's local map, which must lie in 0..1."""
    local = run_tool(TOOLS[tool], Pair(Image(image), Image(reference)), wants_map=True).map
    assert local is not None
    assert local.dtype == np.float32
    assert local.min() >= 0
    assert local.max() <= 1
    return local
