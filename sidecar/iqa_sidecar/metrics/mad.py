"""MAD: visible errors count in good images, changed statistics of appearance in bad ones.

References:
    E. C. Larson, D. M. Chandler, "Most apparent distortion: full-reference image quality assessment and the role of
    strategy", Journal of Electronic Imaging, 2010. https://doi.org/10.1117/1.3267105
"""

import math
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from ..imaging.tiling import split_rows
from .functional.block_moments import (
    BLOCK,
    Cells,
    average_cells,
    central_moments,
    mean_of_squares,
    smallest_quarter_variance,
)
from .tool import Result, Tool, require_reference

# The paper's β1 = 0.467 and β2 = 0.130, unrounded: the balance between visible errors and changed appearance.
_BALANCE, _STEEPNESS = math.exp(-2.55 / 3.35), 1 / (math.log(10) * 3.35)
# From the authors' program: scales visible errors to what the balance was chosen for.
_DETECTION_SCALE = 200.0
# Luminance of a display of 80 cd/m² (gain and gamma of the paper), and its cube root as lightness.
_LIGHTNESS = ((0.02874 * np.arange(256)) ** (2.2 / 3)).astype(np.float32)
# Below this lightness nothing is visible; contrasts below e^-5 neither mask nor are visible.
_DARKEST, _FAINTEST = 0.5, -5.0
# Cycles per degree at the highest frequency of the image: the paper's viewing distance.
_FINEST = 32.0
_ORIENTATIONS = 4
# Wavelength of each scale in pixels, and its weight.
_WAVES = (3, 9, 27, 81, 243)
_WEIGHTS = np.array([0.5, 0.75, 1, 5, 6]) / 13.25
_RADIAL_SPREAD = 0.55
_ANGULAR_SPREAD = math.pi / _ORIENTATIONS / 1.5


def score(pair: Pair, _wants_map: bool) -> Result:
    """d^α a^(1-α) with d for visible errors, a for changed appearance, α = 1 / (1 + β1 d^β2); 0 is best."""
    image, reference = pair.image.luma_bytes, require_reference(pair).luma_bytes
    detection = _detect(image, reference)
    if detection == 0:
        return Result(0.0)
    share = 1 / (1 + _BALANCE * detection**_STEEPNESS)
    return Result(detection**share * _compare_appearance(image, reference) ** (1 - share))


def _detect(image: NDArray[np.uint8], reference: NDArray[np.uint8]) -> float:
    """Mean squared errors of blocks, each weighted by how far its contrast exceeds the masking contrast."""
    sensitivity = _sensitivity(*image.shape)
    original = _filter_by_sensitivity(reference, sensitivity)
    cells = average_cells(original, 2)
    lightness, _variance = central_moments(cells)
    hidden_by = smallest_quarter_variance(cells)
    filtered = _filter_by_sensitivity(image, sensitivity)
    del sensitivity
    filtered -= original
    del original
    error = central_moments(average_cells(filtered, 2))[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        contrast, mask = (np.log(np.sqrt(variance) / lightness) for variance in (error, hidden_by))
        visible = np.maximum(contrast - np.maximum(mask, _FAINTEST), 0)
    visible[~(lightness > _DARKEST)] = 0
    difference = np.subtract(image, reference, out=filtered, dtype=np.float32)
    return _DETECTION_SCALE * _root_mean_square(visible * mean_of_squares(difference))


def _sensitivity(height: int, width: int) -> Plane:
    """Contrast sensitivity of Mannos and Sakrison with Daly's decrease along the diagonals; for half a spectrum."""
    across = np.fft.rfftfreq(width)[None, :]
    result = np.empty((height, across.shape[1]), np.float32)
    for band in split_rows(height, width):
        down = np.fft.fftfreq(height)[band, None]
        frequency = np.hypot(down, across) * 2 * _FINEST
        frequency /= 0.15 * np.cos(4 * np.arctan2(down, across)) + 0.85
        result[band] = 2.6 * (0.0192 + 0.114 * frequency) * np.exp(-((0.114 * frequency) ** 1.1))
        # Constant up to the peak, which keeps lightness.
        result[band][frequency < 7.8909] = 0.9809
    return result


def _filter_by_sensitivity(luma: NDArray[np.uint8], sensitivity: Plane) -> Plane:
    spectrum = np.fft.rfft2(_LIGHTNESS[luma])
    spectrum *= sensitivity
    return np.asarray(np.fft.irfft2(spectrum, luma.shape), np.float32)


def _compare_appearance(image: NDArray[np.uint8], reference: NDArray[np.uint8]) -> float:
    """Differences of deviation, skewness and kurtosis of log-Gabor amplitudes in blocks, summed over the filters."""
    total: Cells = np.zeros(())
    spectra = [_transform(plane) for plane in (image, reference)]
    work = np.empty((*image.shape, 2), np.float32)
    for weight, gain in _filters(*image.shape):
        amplitudes = (_amplitude(spectrum, gain, work) for spectrum in spectra)
        (deviation, skewness, kurtosis), other = (_shape_of(average_cells(plane, 4)) for plane in amplitudes)
        difference = np.abs(deviation - other[0]) + 2 * np.abs(skewness - other[1]) + np.abs(kurtosis - other[2])
        total = total + weight * difference
    return _root_mean_square(total)


def _shape_of(cells: Cells) -> tuple[Cells, Cells, Cells]:
    _mean, variance, third, fourth = central_moments(cells)
    # Rounding errors of float32 in flat areas have skewness and kurtosis too; this constant hides them.
    floored = variance + 1e-9
    return np.sqrt(variance), third / floored**1.5, fourth / floored**2


def _transform(luma: NDArray[np.uint8]) -> NDArray[np.complex64]:
    """The left half of the spectrum; the right half mirrors it."""
    # The filters ignore the mean; subtracting it makes a flat image exactly zero.
    centred = np.subtract(luma, luma[0, 0], dtype=np.float32)
    spectrum = _as_complex(cv2.dft(centred, flags=cv2.DFT_COMPLEX_OUTPUT))
    return np.ascontiguousarray(spectrum[:, : luma.shape[1] // 2 + 1])


def _filters(height: int, width: int) -> Iterator[tuple[float, Plane]]:
    """Each scale's weight and gain; all gains use the same array."""
    down = np.fft.fftfreq(height).astype(np.float32)[:, None]
    across = np.fft.fftfreq(width).astype(np.float32)[None, :]
    octaves = np.hypot(down, across)
    octaves[0, 0] = 1
    np.log(octaves, out=octaves)
    angular, gain = np.empty_like(octaves), np.empty_like(octaves)
    for orientation in range(_ORIENTATIONS):
        # Computed four times, to save the memory of another plane.
        np.arctan2(-down, across, out=angular)
        angular -= np.float32(orientation * math.pi / _ORIENTATIONS)
        np.abs(angular, out=angular)
        # Differences of angles wrap around.
        np.minimum(angular, np.subtract(np.float32(2 * math.pi), angular, out=gain), out=angular)
        angular *= angular
        angular *= np.float32(-1 / (2 * _ANGULAR_SPREAD**2))
        for weight, wave in zip(_WEIGHTS, _WAVES, strict=True):
            np.add(octaves, np.float32(math.log(wave)), out=gain)
            gain *= gain
            gain *= np.float32(-1 / (2 * math.log(_RADIAL_SPREAD) ** 2))
            gain += angular
            np.exp(gain, out=gain)
            gain[0, 0] = 0
            yield float(weight), gain


def _amplitude(spectrum: NDArray[np.complex64], gain: Plane, work: Plane) -> Plane:
    """Amplitude of the response to a filter, in the first half of each row of `work`."""
    filtered = _as_complex(work)
    half, width = spectrum.shape[1], gain.shape[1]
    np.multiply(spectrum, gain[:, :half], out=filtered[:, :half])
    # A real image's spectrum at -f is the conjugate of that at f.
    mirrored = spectrum[:, width - half : 0 : -1]
    np.multiply(mirrored[0], gain[0, half:], out=filtered[0, half:])
    np.multiply(mirrored[:0:-1], gain[1:, half:], out=filtered[1:, half:])
    right = work[:, half:, 1]
    np.negative(right, out=right)
    cv2.dft(work, dst=work, flags=cv2.DFT_INVERSE | cv2.DFT_SCALE)
    amplitude = work.reshape(len(work), -1)[:, :width]
    for band in split_rows(*gain.shape):
        even, odd = cv2.split(work[band])
        even *= even
        odd *= odd
        even += odd
        np.copyto(amplitude[band], cv2.sqrt(even, even))
    return amplitude


def _as_complex(pairs: NDArray[Any]) -> NDArray[np.complex64]:
    return pairs.view(np.complex64)[..., 0]


def _root_mean_square(values: Cells) -> float:
    return math.sqrt(float(np.mean(np.square(values))))


TOOL = Tool(name="MAD", version="1.0.0", needs_reference=True, min_side=2 * BLOCK, has_map=False, score=score)
