"""The value does not depend on tile sizes, memory addresses or other threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from iqa_sidecar.imaging import tiling
from iqa_sidecar.imaging.downsampling import block_means
from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from ..images import Pixels
from .direct import shrink
from .levels import require

TILED = ("SSIM", "MS-SSIM", "GMSD", "HaarPSI", "VIFp", "IW-SSIM")
ALL = list(TOOLS)


def build_pair(image: Pixels, reference: Pixels) -> Pair:
    return Pair(Image(image), Image(reference))


@pytest.mark.parametrize("tool", TILED)
def test_small_tiles_give_the_same_value(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    photo = images.photo(2, 253, 401)
    distorted = images.jpeg(photo, 20)
    whole = run_tool(TOOLS[tool], build_pair(distorted, photo), False).value
    monkeypatch.setattr(tiling, "_TILE_PIXELS", 4000)
    monkeypatch.setattr(tiling, "_TILE_COLUMNS", 96)
    monkeypatch.setattr(tiling, "_MIN_ROWS", 17)
    # Sums have another order and filters other row ends: only rounding may differ.
    assert run_tool(TOOLS[tool], build_pair(distorted, photo), False).value == pytest.approx(whole, rel=1e-7)


@pytest.mark.parametrize("tool", ALL)
def test_neither_memory_nor_threads_change_one_bit(tool: str) -> None:
    require(tool)
    photo = images.photo(3, 72, 85) if tool == "DISTS" else images.photo(3, 200, 237)
    distorted = images.noise(photo, 8)
    expected = run_tool(TOOLS[tool], build_pair(distorted, photo), False).value

    def run(offset: int) -> float:
        # The same pixels at another address.
        room = np.empty(photo.nbytes + 64, np.uint8)
        moved = room[offset : offset + photo.nbytes].reshape(photo.shape)
        moved[:] = distorted
        return run_tool(TOOLS[tool], build_pair(moved, photo), False).value

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(run, range(1, 64, 9))) == {expected}
    threads = cv2.getNumThreads()
    try:
        cv2.setNumThreads(2)
        assert run(5) == expected
    finally:
        cv2.setNumThreads(threads)


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5, 6, 8, 16, 17])
def test_block_means_are_those_of_the_published_code(factor: int) -> None:
    compare: Callable[..., None] = np.testing.assert_allclose
    for height, width in ((120, 161), (97, 64)):
        pixels = images.photo(1, height, width)
        for channel in range(3):
            expected = shrink(pixels[..., channel].astype(np.float64), factor)
            compare(block_means(pixels, factor)[..., channel], expected, atol=1e-3)
