"""FSIM against the direct float64 version and piq, and its local map."""

import math

import numpy as np
import pytest

from .. import images
from ..images import Pixels
from .direct import SCHARR, YIQ, Array, agree, channels, gradient, mix, shrink, viewing_factor
from .levels import map_of, value

# piq 0.8.0 fsim(data_range=255, chromatic=True) on the generated images; its YIQ matrix has other last digits.
PIQ = {"blurred": 0.867382, "noisy": 0.907554, "faded": 0.930309}


def distortions() -> dict[str, Pixels]:
    photo = images.photo(1)
    return {
        "blurred": images.blur(photo, 1.5),
        "noisy": images.noise(photo, 12),
        "faded": images.contrast(photo, 0.6),
    }


@pytest.mark.parametrize("name", PIQ)
def test_agrees_with_piq(name: str) -> None:
    assert value("FSIM", distortions()[name], images.photo(1)) == pytest.approx(PIQ[name], abs=3e-4)


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185), (3, 400, 421)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), images.contrast(photo, -0.5)):
        assert value("FSIM", distorted, photo) == pytest.approx(fsim(distorted, photo), abs=2e-5)


def test_the_map_is_low_where_the_image_suffered() -> None:
    photo = images.photo(1, 512, 640)
    damaged = photo.copy()
    damaged[:, 320:] = images.noise(photo, 30)[:, 320:]
    local = map_of("FSIM", damaged, photo)
    assert local.shape == (256, 320)
    assert local[:, :120].mean() > 0.95
    assert local[:, 200:].mean() < 0.9


def fsim(image: Pixels, reference: Pixels) -> float:
    first, second = (_planes(pixels) for pixels in (image, reference))
    congruency, other = (_phase_congruency(planes[0]) for planes in (first, second))
    weight = np.maximum(congruency, other)
    local = agree(gradient(first[0], SCHARR), gradient(second[0], SCHARR), 160) * agree(congruency, other, 0.85)
    chroma = agree(first[1], second[1], 200) * agree(first[2], second[2], 200)
    local = local * np.real(chroma.astype(complex) ** 0.03)
    return float(np.sum(local * weight) / np.sum(weight))


def _planes(pixels: Pixels) -> list[Array]:
    planes = channels(pixels)
    return [shrink(mix(planes, weights), viewing_factor(planes[0])) for weights in YIQ]


def _phase_congruency(plane: Array) -> Array:
    """Kovesi's phasecong2 as FSIM's authors call it, step by step."""
    rows, columns = plane.shape
    spectrum = np.fft.fft2(plane)
    x, y = np.meshgrid(_range(columns), _range(rows))
    radius, theta = np.fft.ifftshift(np.hypot(x, y)), np.fft.ifftshift(np.arctan2(-y, x))
    low_pass = 1 / (1 + (radius / 0.45) ** 30)
    radius[0, 0] = 1
    energy, amplitude = np.zeros_like(plane), np.zeros_like(plane)
    for orientation in range(4):
        angle = orientation * math.pi / 4
        sine = np.sin(theta) * math.cos(angle) - np.cos(theta) * math.sin(angle)
        cosine = np.cos(theta) * math.cos(angle) + np.sin(theta) * math.sin(angle)
        spread = np.exp(-(np.arctan2(sine, cosine) ** 2) / (2 * (math.pi / 4 / 1.2) ** 2))
        responses, impulses, filters = [], [], []
        for scale in range(4):
            log_gabor = np.exp(-(np.log(radius * 6 * 2**scale) ** 2) / (2 * math.log(0.55) ** 2)) * low_pass
            log_gabor[0, 0] = 0
            filters.append(log_gabor * spread)
            impulses.append(np.real(np.fft.ifft2(filters[-1])) * math.sqrt(rows * columns))
            responses.append(np.fft.ifft2(spectrum * filters[-1]))
        total = np.sum(responses, axis=0)
        strength = np.abs(total) + 1e-4
        even, odd = total.real / strength, total.imag / strength
        local = sum(z.real * even + z.imag * odd - np.abs(z.real * odd - z.imag * even) for z in responses)
        power = np.median(np.abs(responses[0]) ** 2) / math.log(2) / np.sum(filters[0] ** 2)
        squares = sum(np.sum(impulse**2) for impulse in impulses)
        products = sum(np.sum(impulses[i] * impulses[j]) for i in range(4) for j in range(i + 1, 4))
        tau = math.sqrt((2 * power * squares + 4 * power * products) / 2)
        threshold = (tau * math.sqrt(math.pi / 2) + 2 * math.sqrt((2 - math.pi / 2) * tau**2)) / 1.7
        energy += np.maximum(local - threshold, 0)
        amplitude += sum(np.abs(z) for z in responses)
    return energy / amplitude


def _range(length: int) -> Array:
    if length % 2:
        return np.arange(-(length - 1) / 2, (length - 1) / 2 + 1) / (length - 1)
    return np.arange(-length / 2, length / 2) / length
