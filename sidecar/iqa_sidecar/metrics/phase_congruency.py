"""Phase congruency after Kovesi, with the constants of FSIM: where waves of all lengths agree, there is a feature."""

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ..picture import Plane

_SCALES = 4
_ORIENTATIONS = 4
# Pixels; each scale doubles it.
_SHORTEST_WAVE = 6
_RADIAL_SPREAD = 0.55
_ANGULAR_SPREAD = math.pi / _ORIENTATIONS / 1.2
# Noise is what exceeds its mean by this many deviations no more; 1.7 is the published code's empirical divisor.
_NOISE_FACTOR = (math.sqrt(math.pi / 2) + 2 * math.sqrt(2 - math.pi / 2)) / 1.7
_EPSILON = np.float32(1e-4)
# A bank takes 32 bytes a pixel; larger ones (ribbons, which nothing has shrunk) are made anew.
_LARGEST_KEPT = 2**19


def phase_congruency(plane: Plane) -> Plane:
    """0..1 for each pixel; 0 where there is nothing at all."""
    bank = _bank(plane.shape)
    # The filters ignore the mean; without it, a flat picture is exactly zero.
    spectrum = cv2.dft(plane - plane.flat[0], flags=cv2.DFT_COMPLEX_OUTPUT).view(np.complex64)[..., 0]
    energy, amplitude = np.zeros_like(plane), np.zeros_like(plane)
    work = _Work(plane.shape)
    for orientation, angular in enumerate(bank.angular):
        first_power = _respond(spectrum, bank.radial, angular, work, amplitude)
        threshold = np.float32(_NOISE_FACTOR * math.sqrt(_median(first_power) * bank.noise_gain[orientation]))
        _add_energy(work, threshold, energy)
    return np.divide(energy, amplitude, out=energy, where=amplitude > 0)


@dataclass(frozen=True, slots=True)
class _Bank:
    """Log-Gabor filters, each the product of a radial and an angular part."""

    radial: list[Plane]
    angular: list[Plane]
    # For each orientation: energy of the noise in all scales together, from the median power in the finest.
    noise_gain: list[float]


class _Work:
    """Memory that all orientations use."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.filtered = np.empty((*shape, 2), np.float32)
        self.response = np.empty((*shape, 2), np.float32)
        self.filter, self.scratch, self.other = (np.empty(shape, np.float32) for _ in range(3))
        self.even, self.odd = ([np.empty(shape, np.float32) for _ in range(_SCALES)] for _ in range(2))


def _respond(
    spectrum: NDArray[np.complex64], radial: list[Plane], angular: Plane, work: _Work, amplitude: Plane
) -> Plane:
    """Fills `work` with the responses of all scales, adds their amplitudes, and returns the power of the finest."""
    power = np.empty_like(amplitude)
    for scale in range(_SCALES):
        np.multiply(radial[scale], angular, out=work.filter)
        np.multiply(spectrum, work.filter, out=work.filtered.view(np.complex64)[..., 0])
        cv2.dft(work.filtered, dst=work.response, flags=cv2.DFT_INVERSE | cv2.DFT_SCALE)
        even, odd = work.even[scale], work.odd[scale]
        np.copyto(even, work.response[..., 0])
        np.copyto(odd, work.response[..., 1])
        squared = power if scale == 0 else work.scratch
        np.multiply(even, even, out=squared)
        np.multiply(odd, odd, out=work.other)
        squared += work.other
        np.sqrt(squared, out=work.other)
        amplitude += work.other
    return power


def _add_energy(work: _Work, threshold: np.float32, energy: Plane) -> None:
    """Energy over the threshold. With z of one scale and S = Σ z: (|S|² - Σ |Im(z S*)|) / (|S| + ε)."""
    even, odd = work.even[0] + work.even[1], work.odd[0] + work.odd[1]
    for scale in range(2, _SCALES):
        even += work.even[scale]
        odd += work.odd[scale]
    local = even * even
    np.multiply(odd, odd, out=work.other)
    local += work.other
    strength = np.sqrt(local)
    strength += _EPSILON
    for scale in range(_SCALES):
        np.multiply(work.odd[scale], even, out=work.scratch)
        np.multiply(work.even[scale], odd, out=work.other)
        work.scratch -= work.other
        np.abs(work.scratch, out=work.scratch)
        local -= work.scratch
    local /= strength
    local -= threshold
    np.maximum(local, 0, out=local)
    energy += local


def _median(values: Plane) -> float:
    """The mean of the two in the middle when there is an even number."""
    flat = values.ravel()
    high = flat.size // 2
    flat.partition([high - 1, high] if flat.size % 2 == 0 else high)
    return float(flat[high] if flat.size % 2 else (float(flat[high - 1]) + float(flat[high])) / 2)


def _bank(shape: tuple[int, ...]) -> _Bank:
    height, width = shape
    return _kept_bank(height, width) if height * width <= _LARGEST_KEPT else _build_bank(height, width)


@lru_cache(maxsize=4)
def _kept_bank(height: int, width: int) -> _Bank:
    return _build_bank(height, width)


def _build_bank(height: int, width: int) -> _Bank:
    across, down = _frequencies(width)[None, :], _frequencies(height)[:, None]
    radius = np.sqrt(across**2 + down**2)
    low_pass = 1 / (1 + (radius / 0.45) ** 30)
    radius[0, 0] = 1
    radial = []
    for scale in range(_SCALES):
        filtered = np.exp(-(np.log(radius * _SHORTEST_WAVE * 2**scale) ** 2) / (2 * math.log(_RADIAL_SPREAD) ** 2))
        filtered *= low_pass
        filtered[0, 0] = 0
        radial.append(filtered)
    angle = np.arctan2(-down, across)
    angular = []
    for orientation in range(_ORIENTATIONS):
        # Differences of angles wrap around.
        difference = np.abs(angle - orientation * math.pi / _ORIENTATIONS)
        difference = np.minimum(difference, 2 * math.pi - difference)
        angular.append(np.exp(-(difference**2) / (2 * _ANGULAR_SPREAD**2)))
    return _Bank(
        [plane.astype(np.float32) for plane in radial],
        [plane.astype(np.float32) for plane in angular],
        [_noise_gain(radial, plane) for plane in angular],
    )


def _noise_gain(radial: list[NDArray[np.float64]], angular: NDArray[np.float64]) -> float:
    """τ² for a median power of 1. By Parseval, the published code's sums over the filters' impulse responses are sums
    over their spectra, of which the real part of the response keeps the symmetric half."""
    mirrored = np.roll(angular[::-1, ::-1], (1, 1), (0, 1))
    symmetric = np.sum((sum(radial) * (angular + mirrored) / 2) ** 2)
    finest = np.sum((radial[0] * angular) ** 2)
    return float(symmetric / finest / math.log(2))


def _frequencies(length: int) -> NDArray[np.float64]:
    """Cycles a pixel in the order of a transform; the published code stretches odd lengths to ±1/2."""
    steps = np.fft.ifftshift(np.arange(length) - length // 2)
    return np.asarray(steps / (length - 1 if length % 2 and length > 1 else length))
