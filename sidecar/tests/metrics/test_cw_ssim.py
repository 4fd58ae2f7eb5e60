"""CW-SSIM against a direct version of the authors' steerable pyramid, level by level, and on shifted images."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from .. import images
from . import oracles
from .direct import Array
from .levels import value

Spectrum = NDArray[np.complex128]


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 30), images.contrast(photo, 0.6)):
        expected = cw_ssim(oracles.luma(distorted), oracles.luma(photo))
        assert value("CW-SSIM", distorted, photo) == pytest.approx(expected, abs=1e-5)


def test_a_shift_matters_less_than_to_ssim() -> None:
    photo = images.photo(1, 384, 480)
    moved = np.roll(photo, (2, 2), (0, 1))
    assert value("CW-SSIM", moved, photo) > 0.9 > 0.6 > value("SSIM", moved, photo)


def cw_ssim(image: Array, reference: Array) -> float:
    scores = []
    for first, second in zip(_bands(image), _bands(reference), strict=True):
        height, width = first.shape
        agreement, energy = _valid_sum(first * second.conj()), _valid_sum(first * first.conj() + second * second.conj())
        rows, columns = np.arange(height - 6) - (height - 7) / 2, np.arange(width - 6) - (width - 7) / 2
        weight = np.exp(-(rows[:, None] ** 2 + columns**2) / (2 * (height / 4) ** 2))
        scores.append(np.sum(2 * abs(agreement) / energy.real * weight) / weight.sum())
    return float(np.mean(scores))


def _bands(plane: Array) -> list[Spectrum]:
    """Oriented bands of the fourth level; masks and cropping as in the toolbox's buildSCFpyr."""
    height, width = plane.shape
    x, y = np.meshgrid((np.arange(width) - width // 2) / (width / 2), (np.arange(height) - height // 2) / (height / 2))
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    radius[height // 2, width // 2] = radius[height // 2, width // 2 - 1]
    octave = np.log2(radius)
    spectrum = np.fft.fftshift(np.fft.fft2(plane)) * _low(octave)
    for level in range(1, 4):
        rows, columns = (slice(side // 2 - -(-side // 2) // 2, None) for side in spectrum.shape)
        kept = tuple(-(-side // 2) for side in spectrum.shape)
        spectrum = spectrum[rows, columns][: kept[0], : kept[1]]
        octave = octave[rows, columns][: kept[0], : kept[1]]
        angle = angle[rows, columns][: kept[0], : kept[1]]
        spectrum = spectrum * _low(octave + level)
    high = np.sqrt(1 - _low(octave + 4) ** 2)
    bands = []
    for orientation in range(8):
        turned = np.cos(angle - orientation * math.pi / 8)
        bands.append(np.fft.ifft2(np.fft.ifftshift(spectrum * high * np.where(turned > 0, turned, 0) ** 7)))
    return bands


def _low(octave: Array) -> Array:
    """1 below -1, 0 above 0, a quarter of a cosine between."""
    return np.asarray(np.sqrt(1 - np.cos(np.clip(octave, -1, 0) * math.pi / 2) ** 2))


def _valid_sum(values: Spectrum) -> Spectrum:
    return np.asarray(np.lib.stride_tricks.sliding_window_view(values, (7, 7)).sum(axis=(2, 3)), np.complex128)
