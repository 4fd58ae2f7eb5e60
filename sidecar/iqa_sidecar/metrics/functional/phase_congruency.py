"""Phase congruency with the constants of FSIM: high where waves of all lengths are in phase.

References:
    P. Kovesi, "Image features from phase congruency", Videre: Journal of Computer Vision Research, 1999.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane

_SCALES = 4
_ORIENTATIONS = 4
# Pixels; doubled for each scale.
_SHORTEST_WAVE = 6
_RADIAL_SPREAD = 0.55
_ANGULAR_SPREAD = math.pi / _ORIENTATIONS / 1.2
# Deviations above the mean that still count as noise; 1.7 is the published code's empirical divisor.
_NOISE_FACTOR = (math.sqrt(math.pi / 2) + 2 * math.sqrt(2 - math.pi / 2)) / 1.7
_EPSILON = np.float32(1e-4)
# A bank takes 48 bytes per pixel; larger ones (of long narrow images, which are not shrunk) are not cached.
_LARGEST_KEPT = 350_000
# Rows per band, to fit into the processor's cache.
_BAND_ROWS = 64
_BAND_PLANES = 2 * _SCALES + 6


def phase_congruency(plane: Plane) -> Plane:
    """0..1 for each pixel; 0 in flat areas."""
    bank = _bank(plane.shape)
    # The filters ignore the mean; subtracting it makes a flat image exactly zero.
    spectrum = _as_complex(cv2.dft(plane - plane.flat[0], flags=cv2.DFT_COMPLEX_OUTPUT))
    energy, amplitude = np.zeros_like(plane), np.zeros_like(plane)
    responses = np.empty((_SCALES, *plane.shape, 2), np.float32)
    work = np.empty((_BAND_PLANES, _BAND_ROWS, plane.shape[1]), np.float32)
    for angular, noise_gain in zip(bank.angular, bank.noise_gain, strict=True):
        _respond(spectrum, bank.radial, angular, responses)
        threshold = np.float32(_NOISE_FACTOR * math.sqrt(_median_power(responses[0]) * noise_gain))
        for top in range(0, len(plane), _BAND_ROWS):
            band = slice(top, top + _BAND_ROWS)
            _add_band(responses[:, band], threshold, work, energy[band], amplitude[band])
    return np.divide(energy, amplitude, out=energy, where=amplitude > 0)


@dataclass(frozen=True, slots=True)
class _Bank:
    """Log-Gabor filters, each the product of a radial and an angular part."""

    # Each twice (real and imaginary part), divided by the number of pixels for the inverse transform.
    radial: list[Plane]
    angular: list[Plane]
    # Per orientation: noise energy of all scales, from the median power in the finest.
    noise_gain: list[float]


def _respond(spectrum: NDArray[np.complex64], radial: list[Plane], angular: Plane, responses: Plane) -> None:
    """One orientation at all scales: the even response in the first channel, the odd one in the second."""
    filtered = np.empty_like(responses[0])
    turned = np.multiply(spectrum, angular).view(np.float32).reshape(filtered.shape)
    for gain, response in zip(radial, responses, strict=True):
        np.multiply(turned, gain, out=filtered)
        cv2.dft(filtered, dst=response, flags=cv2.DFT_INVERSE)


def _add_band(responses: Plane, threshold: np.float32, work: Plane, energy: Plane, amplitude: Plane) -> None:
    """Adds one orientation's amplitudes, and its energy over the threshold.

    With z the response of one scale and S = Σ z, the energy is (|S|² - Σ |Im(z S*)|) / (|S| + ε).
    """
    planes = [plane[: len(energy)] for plane in work]
    evens, odds = planes[:_SCALES], planes[_SCALES : 2 * _SCALES]
    even, odd, local, strength, scratch, other = planes[2 * _SCALES :]
    for scale, response in enumerate(responses):
        cv2.split(response, [evens[scale], odds[scale]])
        np.multiply(evens[scale], evens[scale], out=scratch)
        np.multiply(odds[scale], odds[scale], out=other)
        scratch += other
        cv2.sqrt(scratch, scratch)
        amplitude += scratch
    for total, parts in ((even, evens), (odd, odds)):
        np.add(parts[0], parts[1], out=total)
        for part in parts[2:]:
            total += part
    np.multiply(even, even, out=local)
    local += np.multiply(odd, odd, out=scratch)
    cv2.sqrt(local, strength)
    strength += _EPSILON
    for scale in range(_SCALES):
        np.multiply(odds[scale], even, out=scratch)
        scratch -= np.multiply(evens[scale], odd, out=other)
        local -= np.abs(scratch, out=scratch)
    local /= strength
    local -= threshold
    # Four times faster than np.maximum.
    cv2.threshold(local, 0, 0, cv2.THRESH_TOZERO, dst=local)
    energy += local


def _median_power(response: Plane) -> float:
    """Median; the mean of the two middle values if their number is even."""
    squares = response * response
    values = (squares[..., 0] + squares[..., 1]).ravel()
    middle = values.size // 2
    # A sample gives bounds of the median, so that few values are left to sort.
    sample = np.sort(values[:: max(1, values.size // 4096)])
    low, high = sample[len(sample) * 9 // 20], sample[len(sample) * 11 // 20]
    below = int(np.count_nonzero(values < low))
    near = np.compress((values >= low) & (values <= high), values)
    if not below < middle < below + len(near):
        below, near = 0, values
    near.partition([middle - 1 - below, middle - below])
    upper, lower = float(near[middle - below]), float(near[middle - 1 - below])
    return upper if values.size % 2 else (lower + upper) / 2


def _as_complex(pairs: NDArray[Any]) -> NDArray[np.complex64]:
    return pairs.view(np.complex64)[..., 0]


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
        [np.repeat((plane / plane.size).astype(np.float32)[..., None], 2, axis=2) for plane in radial],
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
    """Cycles per pixel in the order of a transform; the published code stretches odd lengths to ±1/2."""
    steps = np.fft.ifftshift(np.arange(length) - length // 2)
    return np.asarray(steps / (length - 1 if length % 2 and length > 1 else length))
