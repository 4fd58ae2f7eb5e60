"""NLPD against a direct float64 version of the authors' steps."""

import numpy as np
import pytest

from .. import images
from . import oracles
from .direct import Array, conv2_same
from .levels import value

FILTER = np.outer([0.05, 0.25, 0.4, 0.25, 0.05], [0.05, 0.25, 0.4, 0.25, 0.05])
SIGMAS = (0.0248, 0.0185, 0.0179, 0.0191, 0.0220, 0.2782)
NEIGHBOURS = (
    [[0, 0.1011, 0], [0.1493, 0, 0.1460], [0, 0.1015, 0]],
    [[0, 0.0757, 0], [0.1986, 0, 0.1846], [0, 0.0837, 0]],
    [[0, 0.0477, 0], [0.2138, 0, 0.2243], [0, 0.0467, 0]],
    [[0, 0, 0], [0.2503, 0, 0.2616], [0, 0, 0]],
    [[0, 0, 0], [0.2598, 0, 0.2552], [0, 0, 0]],
    [[0, 0, 0], [0.2215, 0, 0.0717], [0, 0, 0]],
)


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, 0.6)):
        first, second = (_pyramid(oracles.luma(pixels) / 255) for pixels in (distorted, photo))
        expected = np.mean([np.sqrt(np.mean((a - b) ** 2)) for a, b in zip(first, second, strict=True)])
        assert value("NLPD", distorted, photo) == pytest.approx(float(expected), abs=1e-5)


def _pyramid(plane: Array) -> list[Array]:
    levels = []
    for level in range(6):
        band = plane
        if level < 5:
            padded = np.pad(plane, 2, "symmetric")
            low = conv2_same(padded, FILTER)[2:-2, 2:-2][::2, ::2]
            repeated = np.pad(low, 1, "edge")
            sparse = np.zeros((2 * repeated.shape[0], 2 * repeated.shape[1]))
            sparse[::2, ::2] = 4 * repeated
            band = plane - conv2_same(sparse, FILTER)[2 : 2 + plane.shape[0], 2 : 2 + plane.shape[1]]
            plane = low
        levels.append(band / (SIGMAS[level] + conv2_same(np.abs(band), np.array(NEIGHBOURS[level]))))
    return levels
