"""MDSI against the direct float64 version and piq, and its complex roots."""

import numpy as np
import pytest

from .. import images
from ..images import Pixels
from .direct import PREWITT, Array, agree, channels, gradient, mix, shrink, viewing_factor
from .levels import map_of, value

# piq 0.8.0 mdsi(data_range=255) on the generated images.
PIQ = {1: (0.354261, 0.356761), 2: (0.346314, 0.358227)}
OPPONENT = ((0.2989, 0.5870, 0.1140), (0.30, 0.04, -0.35), (0.34, -0.60, 0.17))


@pytest.mark.parametrize("seed", PIQ)
def test_agrees_with_piq(seed: int) -> None:
    photo = images.photo(seed)
    blurred, noisy = PIQ[seed]
    assert value("MDSI", images.blur(photo, 1.5), photo) == pytest.approx(blurred, abs=1e-5)
    assert value("MDSI", images.noise(photo, 12), photo) == pytest.approx(noisy, abs=1e-5)


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185), (3, 400, 421)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12)):
        assert value("MDSI", distorted, photo) == pytest.approx(mdsi(distorted, photo), abs=1e-5)


def test_negative_similarities_have_complex_roots() -> None:
    photo = images.photo(1)
    inverted = 255 - photo
    assert _local(inverted, photo).min() < 0
    assert value("MDSI", inverted, photo) == pytest.approx(mdsi(inverted, photo), abs=1e-5)


def test_the_map_is_low_where_the_image_suffered() -> None:
    photo = images.photo(1)
    damaged = photo.copy()
    damaged[:, 160:] = images.blur(photo, 3)[:, 160:]
    local = map_of("MDSI", damaged, photo)
    assert local.shape == (256, 320)
    assert local[:, :150].min() > 0.99
    assert local[:, 170:].mean() < 0.95


def mdsi(image: Pixels, reference: Pixels) -> float:
    roots = _local(image, reference).astype(complex) ** 0.25
    return float(np.mean(np.abs(roots - np.mean(roots))) ** 0.25)


def _local(image: Pixels, reference: Pixels) -> Array:
    (first, h1, m1), (second, h2, m2) = _planes(image), _planes(reference)
    g1, g2, fused = (gradient(plane, PREWITT) for plane in (first, second, (first + second) / 2))
    structure = agree(g1, g2, 140) + agree(g1, fused, 55) - agree(g2, fused, 55)
    chroma = (2 * (h1 * h2 + m1 * m2) + 550) / (h1**2 + h2**2 + m1**2 + m2**2 + 550)
    return np.asarray(0.6 * structure + 0.4 * chroma)


def _planes(pixels: Pixels) -> list[Array]:
    planes = [shrink(plane, viewing_factor(plane)) for plane in channels(pixels)]
    return [mix(planes, weights) for weights in OPPONENT]
