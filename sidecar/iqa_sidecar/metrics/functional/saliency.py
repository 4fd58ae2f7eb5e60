"""SDSP saliency: band-pass contrast, distance from the centre and colour.

References:
    L. Zhang, Z. Gu, H. Li, "SDSP: a novel saliency detection method by combining simple priors", IEEE ICIP, 2013.
    https://doi.org/10.1109/ICIP.2013.6738036
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane
from .resampling import Group, Matrix, Taps, combine_rows, find_groups, find_taps, group_rows, resample, turn

# Every image is resized to a square of this side.
_SIDE = 256
_CENTRE_FREQUENCY = 0.021
_BANDWIDTH = 1.34
_CENTRE_RADIUS = 145.0
_COLOUR_SPREAD = 0.001
# Linear sRGB (B, G, R) to X, Y, Z relative to D50 white, as in the published code.
_XYZ = np.array(
    [[0.1804375, 0.3575761, 0.4124564], [0.0721750, 0.7151522, 0.2126729], [0.9503041, 0.1191920, 0.0193339]]
)
_XYZ_OVER_WHITE = (_XYZ / np.array([[0.9642], [1.0], [0.8251]])).astype(np.float32)


def find_saliency(bgr: NDArray[np.uint8], factor: int) -> Plane:
    """0..1 for each block of factor × factor pixels; all zero for a flat image."""
    # Rounded, because float32 errors of a flat image would be stretched to a full map.
    planes = np.rint(resample(bgr, _SIDE, _SIDE) * np.float32(4096)) / np.float32(4096)
    lab = _to_lab(planes)
    saliency = _band_contrast(lab)
    saliency *= _centre_prior()
    saliency *= _colour_prior(lab[1], lab[2])
    return _spread(saliency, bgr.shape[0], bgr.shape[1], factor)


def _to_lab(planes: Matrix) -> Matrix:
    values = planes * np.float32(1 / 255)
    bright = _power((values + np.float32(0.055)) / np.float32(1.055), 2.4)
    linear = np.where(values <= 0.04045, values / np.float32(12.92), bright)
    xyz = (_XYZ_OVER_WHITE @ linear.reshape(3, -1)).reshape(planes.shape)
    roots = np.where(xyz > 0.008856, _power(xyz, 1 / 3), (np.float32(903.3) * xyz + 16) / np.float32(116))
    x, y, z = roots
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _power(values: Matrix, exponent: float) -> Matrix:
    """For values ≥ 0; several times faster than np.power."""
    with np.errstate(divide="ignore"):
        result = np.log(values)
    result *= np.float32(exponent)
    return np.exp(result, out=result)


def _band_contrast(lab: Matrix) -> Plane:
    # The filter ignores the mean; subtracting it makes a flat plane exactly zero.
    light, first, second = lab - lab[:, :1, :1]
    # The filter is real and symmetric, so that two planes can be filtered as one complex image.
    energy = _band_energy(np.asarray(cv2.merge([light, first]), np.float32))
    energy += _band_energy(np.asarray(cv2.merge([second, np.zeros_like(second)]), np.float32))
    return np.asarray(cv2.sqrt(energy), np.float32)


def _band_energy(planes: Matrix) -> Plane:
    spectrum = np.asarray(cv2.dft(planes), np.float32)
    spectrum *= _band()
    filtered = np.asarray(cv2.dft(spectrum, flags=cv2.DFT_INVERSE | cv2.DFT_SCALE), np.float32)
    filtered *= filtered
    return filtered[..., 0] + filtered[..., 1]


@lru_cache(maxsize=1)
def _band() -> Plane:
    """Log-Gabor, zero in the corners beyond half a cycle per pixel."""
    across, down = np.fft.fftfreq(_SIDE)[None, :], np.fft.fftfreq(_SIDE)[:, None]
    radius = np.hypot(across, down)
    radius[0, 0] = 1
    band = np.exp(-(np.log(radius / _CENTRE_FREQUENCY) ** 2) / (2 * _BANDWIDTH**2))
    band[across**2 + down**2 > 0.25] = 0
    band[0, 0] = 0
    # Twice: real and imaginary part.
    return np.repeat(band.astype(np.float32)[..., None], 2, axis=2)


@lru_cache(maxsize=1)
def _centre_prior() -> Plane:
    # The published code counts pixels from 1 and uses 128 as the middle.
    squares = (np.arange(1, _SIDE + 1) - _SIDE / 2) ** 2
    return np.exp(-(squares[:, None] + squares) / _CENTRE_RADIUS**2).astype(np.float32)


def _colour_prior(first: Plane, second: Plane) -> Plane:
    """Low only where both chroma planes are lowest; 1 everywhere without chroma."""
    distance = np.zeros_like(first)
    for plane in (first, second):
        lowest, highest = plane.min(), plane.max()
        if highest > lowest:
            distance += ((plane - lowest) / (highest - lowest)) ** 2
    if not distance.any():
        return np.ones_like(first)
    distance *= np.float32(-1 / _COLOUR_SPREAD**2)
    return np.subtract(1, np.exp(distance, out=distance), out=distance)


def _spread(small: Plane, height: int, width: int, factor: int) -> Plane:
    """Resized to the image, stretched to 0..1 there, then shrunk by block means like the image.

    All three steps are linear: they are one matrix product, without a map of the image's size.
    """
    lowest, highest = _find_extremes(small, height, width)
    if not highest > lowest:
        return np.zeros((-(-height // factor), -(-width // factor)), np.float32)
    rows, columns = _averaged_taps(height, factor), _averaged_taps(width, factor)
    tall = combine_rows(rows.groups, small, len(rows.sums))
    result = turn(combine_rows(columns.groups, turn(tall), len(columns.sums)))
    # Blocks over the edge include zeros, so the minimum is subtracted with their sum of weights.
    result -= np.outer(rows.sums, columns.sums * np.float32(lowest))
    result *= np.float32(1 / (highest - lowest))
    return result


@dataclass(frozen=True, slots=True)
class _AveragedTaps:
    groups: list[Group]
    # Sums of each output's weights.
    sums: NDArray[np.float32]


@lru_cache(maxsize=8)
def _averaged_taps(length: int, factor: int) -> _AveragedTaps:
    """Resizing from 256 to `length`, then block means; see downsampling.block_means for where blocks begin."""
    taps = find_taps(_SIDE, length)
    matrix = np.zeros((-(-length // factor), _SIDE), np.float32)
    blocks = (np.arange(length) + (factor - 1) // 2) // factor
    inside = blocks < len(matrix)
    np.add.at(matrix, (blocks[inside, None], taps.indices[inside]), taps.weights[inside] / factor)
    return _AveragedTaps(group_rows(matrix), matrix.sum(axis=1))


def _find_extremes(small: Plane, height: int, width: int) -> tuple[float, float]:
    """Minimum and maximum of the map resized to the image."""
    tall = combine_rows(find_groups(_SIDE, height), small, height)
    columns = find_taps(_SIDE, width)
    return -_highest(-tall, columns), _highest(tall, columns)


def _highest(tall: Plane, columns: Taps) -> float:
    """Once the columns are resized too. Each value is a weighted mean of neighbours in a row: beside the row of the
    highest, only rows and columns with something above what was found there can hold a better one."""
    peaks = tall.max(axis=1)
    top = tall[int(peaks.argmax())]
    best = float((top[columns.indices] * columns.weights).sum(axis=1).max())
    rows = tall[peaks > best]
    near = _outputs_near(columns, np.nonzero((rows > best).any(axis=0))[0])
    return max(best, float((rows @ columns.rows(near, 0, _SIDE).T).max())) if len(near) else best


def _outputs_near(taps: Taps, inputs: NDArray[np.intp]) -> NDArray[np.intp]:
    wanted = np.zeros(_SIDE, bool)
    wanted[inputs] = True
    return np.nonzero((wanted[taps.indices] & (taps.weights > 0)).any(axis=1))[0]
