"""Local maps: the 8-bit scale, and grids equal to those of a pixel-by-pixel loop."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from iqa_sidecar.imaging.local_map import quantize_map, reduce_to_grid


def reduce_by_loop(gray: NDArray[np.uint8]) -> list[float]:
    height, width = gray.shape
    sums, counts = [0] * 9, [0] * 9
    for row in range(height):
        for column in range(width):
            cell = 3 * min(2, int(3 * (row + 0.5) / height)) + min(2, int(3 * (column + 0.5) / width))
            sums[cell] += 255 - int(gray[row, column])
            counts[cell] += 1
    means = (total / max(1, count) / 255 for total, count in zip(sums, counts, strict=True))
    return [math.floor(mean * 1e4 + 0.5) / 1e4 for mean in means]


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (2, 7), (3, 3), (4, 5), (37, 61), (256, 144)])
def test_grid_agrees_with_a_loop_over_pixels(shape: tuple[int, int]) -> None:
    gray = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    assert reduce_to_grid(gray) == reduce_by_loop(gray)


def test_cells_without_a_pixel_are_zero() -> None:
    assert reduce_to_grid(np.zeros((2, 2), np.uint8)) == [1, 0, 1, 0, 0, 0, 1, 0, 1]


def test_maps_are_clipped_and_reduced_to_256_pixels() -> None:
    values = np.full((1000, 500), 2, np.float32)
    values[:, :250] = np.nan
    gray = quantize_map(values)
    assert gray.shape == (256, 128)
    assert (gray[:, :60].max(), gray[:, 70:].min()) == (0, 255)
