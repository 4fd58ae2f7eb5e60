"""VSI against the direct float64 version, and what it does without chroma."""

import numpy as np
import pytest

from .. import images
from ..images import Pixels
from .direct import SCHARR, Array, agree, channels, gradient, mix, shrink, viewing_factor
from .levels import map_of, value

OPPONENT = ((0.06, 0.63, 0.27), (0.30, 0.04, -0.35), (0.34, -0.60, 0.17))


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185), (3, 400, 421)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, -0.5)):
        assert value("VSI", distorted, photo) == pytest.approx(vsi(distorted, photo), abs=2e-5)


def test_a_gray_image_has_a_value_too() -> None:
    gray = np.repeat(images.photo(1)[..., 1:2], 3, axis=2)
    assert 0.9 < value("VSI", images.blur(gray, 1), gray) < 1


def test_two_flat_images_are_compared_without_weights() -> None:
    assert value("VSI", images.flat(100), images.flat(100)) == 1
    assert 0.9 < value("VSI", images.flat(100), images.flat(101)) <= 1


def test_the_map_is_low_where_the_image_suffered() -> None:
    photo = images.photo(1, 512, 640)
    damaged = photo.copy()
    damaged[:, 320:] = images.noise(photo, 30)[:, 320:]
    local = map_of("VSI", damaged, photo)
    assert local.shape == (256, 320)
    assert local[:, :120].mean() > local[:, 200:].mean() + 0.03


def vsi(image: Pixels, reference: Pixels) -> float:
    first, second = _planes(image), _planes(reference)
    salient, other = (shrink(_saliency(pixels), viewing_factor(first[0])) for pixels in (image, reference))
    first, second = ([shrink(plane, viewing_factor(plane)) for plane in planes] for planes in (first, second))
    weight = np.maximum(salient, other)
    local = agree(salient, other, 1.27) * agree(gradient(first[0], SCHARR), gradient(second[0], SCHARR), 386) ** 0.4
    chroma = agree(first[1], second[1], 130) * agree(first[2], second[2], 130)
    return float(np.sum(local * np.real(chroma.astype(complex) ** 0.02) * weight) / np.sum(weight))


def _planes(pixels: Pixels) -> list[Array]:
    return [mix(channels(pixels), weights) for weights in OPPONENT]


def _saliency(pixels: Pixels) -> Array:
    height, width = pixels.shape[:2]
    lab = _lab([_imresize(plane, 256, 256) for plane in channels(pixels)])
    u = (np.arange(256) - 128) / 256
    radius = np.hypot(u[:, None], u)
    radius[radius**2 > 0.25] = 0
    radius = np.fft.ifftshift(radius)
    radius[0, 0] = 1
    with np.errstate(divide="ignore"):
        band = np.exp(-(np.log(radius / 0.021) ** 2) / (2 * 1.34**2))
    band[0, 0] = 0
    contrast = np.sqrt(sum(np.real(np.fft.ifft2(np.fft.fft2(plane) * band)) ** 2 for plane in lab))
    distance = np.arange(1, 257) - 128
    centre = np.exp(-(distance[:, None] ** 2 + distance**2) / 145**2)
    a, b = ((plane - plane.min()) / (plane.max() - plane.min()) for plane in lab[1:])
    colour = 1 - np.exp(-(a**2 + b**2) / 0.001**2)
    full = _imresize(contrast * centre * colour, height, width)
    return np.asarray((full - full.min()) / (full.max() - full.min()))


def _lab(rgb: list[Array]) -> list[Array]:
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in (plane / 255 for plane in rgb)]
    x = mix(linear, (0.4124564, 0.3575761, 0.1804375)) / 0.9642
    y = mix(linear, (0.2126729, 0.7151522, 0.0721750))
    z = mix(linear, (0.0193339, 0.1191920, 0.9503041)) / 0.8251
    x, y, z = (np.where(v > 0.008856, np.cbrt(v), (903.3 * v + 16) / 116) for v in (x, y, z))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def _imresize(plane: Array, height: int, width: int) -> Array:
    """Bilinear with antialiasing, each output as a weighted mean of the mirrored input around it."""
    for target in (height, width):
        length = plane.shape[0]
        scale = target / length
        stretch = max(1.0, 1 / scale)
        rows = []
        for output in range(target):
            centre = (output + 0.5) / scale - 0.5
            inputs = np.arange(int(np.floor(centre - stretch)), int(np.ceil(centre + stretch)) + 1)
            weights = np.maximum(0, 1 - np.abs(inputs - centre) / stretch)
            mirrored = np.where(inputs < 0, -1 - inputs, np.where(inputs >= length, 2 * length - 1 - inputs, inputs))
            rows.append(weights @ plane[mirrored] / weights.sum())
        plane = np.array(rows).T
    return plane
