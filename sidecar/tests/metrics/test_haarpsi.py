"""HaarPSI against the direct float64 version and piq, for colour and gray images, and its local map."""

import math

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool

from .. import images
from ..images import Pixels
from .direct import YIQ, Array, agree, channels, conv2_same, mix, shrink
from .levels import map_of, value

# piq 0.8.0 haarpsi(data_range=255) on the generated images; its YIQ matrix has other last digits.
PIQ = {1: (0.823647, 0.884193), 2: (0.834422, 0.875271)}


@pytest.mark.parametrize("seed", PIQ)
def test_agrees_with_piq(seed: int) -> None:
    photo = images.photo(seed)
    blurred, noisy = PIQ[seed]
    assert value("HaarPSI", images.blur(photo, 1.5), photo) == pytest.approx(blurred, abs=4e-4)
    assert value("HaarPSI", images.noise(photo, 12), photo) == pytest.approx(noisy, abs=4e-4)


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, 0.6)):
        assert value("HaarPSI", distorted, photo) == pytest.approx(haarpsi(distorted, photo), abs=2e-5)


def test_gray_files_are_compared_by_luma_alone() -> None:
    photo = np.repeat(images.photo(1)[..., 1:2], 3, axis=2)
    blurred = images.blur(photo, 1.5)
    gray = run_tool(TOOLS["HaarPSI"], Pair(Image(blurred[..., 0]), Image(photo[..., 0])), wants_map=False)
    assert gray.value == pytest.approx(haarpsi(blurred, photo, chroma=False), abs=2e-5)
    assert value("HaarPSI", blurred, photo) > gray.value + 0.01


def test_the_map_is_low_where_the_image_suffered() -> None:
    photo = images.photo(1)
    damaged = photo.copy()
    damaged[:, 160:] = images.blur(photo, 3)[:, 160:]
    local = map_of("HaarPSI", damaged, photo)
    assert local.shape == (128, 160)
    assert local[:, :70].min() > 0.99
    assert local[:, 90:].mean() < 0.8


def haarpsi(image: Pixels, reference: Pixels, chroma: bool = True) -> float:
    first, second = ([mix(channels(pixels), weights) for weights in YIQ] for pixels in (image, reference))
    first, second = ([shrink(plane, 2) for plane in planes] for planes in (first, second))
    similarities, weights = [], []
    for turned in (False, True):
        fine, other = (([_haar(planes[0], scale, turned) for scale in (1, 2, 3)]) for planes in (first, second))
        similarities.append((agree(fine[0], other[0], 30) + agree(fine[1], other[1], 30)) / 2)
        weights.append(np.maximum(fine[2], other[2]))
    if chroma:
        smooth = np.full((2, 2), 0.25)
        parts = [
            agree(abs(conv2_same(first[index], smooth)), abs(conv2_same(second[index], smooth)), 30) for index in (1, 2)
        ]
        similarities.append((parts[0] + parts[1]) / 2)
        weights.append((weights[0] + weights[1]) / 2)
    logistic = [1 / (1 + np.exp(-4.2 * plane)) for plane in similarities]
    mean = sum(np.sum(a * w) for a, w in zip(logistic, weights, strict=True)) / sum(np.sum(w) for w in weights)
    return (math.log(mean / (1 - mean)) / 4.2) ** 2


def _haar(plane: Array, scale: int, turned: bool) -> Array:
    side = 2**scale
    kernel = np.full((side, side), 2.0**-scale)
    kernel[: side // 2] *= -1
    return np.abs(conv2_same(plane, kernel.T if turned else kernel))
