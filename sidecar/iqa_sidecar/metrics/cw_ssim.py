"""CW-SSIM: similarity of complex wavelets, which small shifts of the image hardly change.

References:
    M. P. Sampat, Z. Wang, S. Gupta, A. C. Bovik, M. K. Markey, "Complex wavelet structural similarity: a new image
    similarity index", IEEE Transactions on Image Processing, 2009. https://doi.org/10.1109/TIP.2009.2025923
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from .functional.pooling import total_of
from .tool import Result, Tool, require_reference

Spectrum = NDArray[np.complex64]

# The wavelets of the authors' steerable pyramid of four levels and eight orientations; the coarsest level is compared.
_OCTAVES = 3
_ORIENTATIONS = 8
_WINDOW = 7


def score(pair: Pair, _wants_map: bool) -> Result:
    """Mean of the local similarity over the orientations, weighted towards the middle of the image; 1 is best."""
    shape = pair.image.luma_bytes.shape
    image, reference = (_low_frequencies(side.luma_bytes) for side in (pair.image, require_reference(pair)))
    weight = _weight(*image.shape)
    missing = 0.0
    for wavelet in _wavelets(*shape):
        missing += total_of(_missing(_respond(image, wavelet), _respond(reference, wavelet)) * weight)
    return Result(1 - missing / _ORIENTATIONS)


def _low_frequencies(luma: NDArray[np.uint8]) -> Spectrum:
    """The part of the spectrum that remains after halving the image three times."""
    # The wavelets ignore the mean; subtracting it makes a flat image exactly zero.
    spectrum = cv2.dft(np.subtract(luma, luma[0, 0], dtype=np.float32), flags=cv2.DFT_COMPLEX_OUTPUT)
    rows, columns = (_kept_frequencies(length) for length in luma.shape)
    return np.ascontiguousarray(spectrum.view(np.complex64)[..., 0][np.ix_(rows, columns)])


def _kept_frequencies(length: int) -> NDArray[np.intp]:
    """Frequencies in the order of a transform: from 0 up, then the negative ones."""
    kept = -(-length // 2**_OCTAVES)
    return np.fft.ifftshift(np.arange(kept) - kept // 2) % length


@lru_cache(maxsize=4)
def _wavelets(height: int, width: int) -> list[Plane]:
    """Two octaves around the fourth level, cos⁷ of the angle on one side; factors that cancel are left out."""
    down, across = (np.fft.ifftshift(np.arange(kept) - kept // 2) for kept in _kept_shape(height, width))
    vertical, horizontal = (down / (height / 2))[:, None], (across / (width / 2))[None, :]
    radius = np.hypot(vertical, horizontal)
    radius[0, 0] = 1
    octave = np.clip(np.log2(radius) + _OCTAVES, -2, 0)
    # Falls to zero at -3 octaves from full size and at -5, both as a cosine.
    radial = np.where(octave > -1, -np.sin(octave * math.pi / 2), np.cos((octave + 1) * math.pi / 2))
    radial[0, 0] = 0
    angle = np.arctan2(vertical, horizontal)
    return [
        np.asarray(radial * np.maximum(np.cos(angle - step * math.pi / _ORIENTATIONS), 0) ** 7, np.float32)
        for step in range(_ORIENTATIONS)
    ]


def _kept_shape(height: int, width: int) -> Iterator[int]:
    return (-(-length // 2**_OCTAVES) for length in (height, width))


def _respond(spectrum: Spectrum, wavelet: Plane) -> tuple[Plane, Plane]:
    """Real and imaginary part."""
    filtered = spectrum * wavelet
    pairs = filtered.view(np.float32).reshape(*filtered.shape, 2)
    real, imaginary = cv2.split(cv2.dft(pairs, flags=cv2.DFT_INVERSE | cv2.DFT_SCALE))
    return np.asarray(real, np.float32), np.asarray(imaginary, np.float32)


def _missing(image: tuple[Plane, Plane], reference: tuple[Plane, Plane]) -> Plane:
    """1 - 2 |Σ a b*| / Σ (|a|² + |b|²) over a window; 0 where both are flat.

    Real and imaginary parts separately, because numpy's complex product is not exactly |a|² for equal factors.
    """
    (real, imaginary), (other_real, other_imaginary) = image, reference
    along = _average(real * other_real + imaginary * other_imaginary)
    aside = _average(imaginary * other_real - real * other_imaginary)
    energy = _average((real * real + imaginary * imaginary) + (other_real**2 + other_imaginary**2))
    agreement = np.sqrt(along * along + aside * aside)
    agreement *= 2
    return 1 - np.divide(agreement, energy, out=np.ones_like(energy), where=energy > 0)


def _average(plane: Plane) -> Plane:
    radius = _WINDOW // 2
    filtered = cv2.boxFilter(plane, -1, (_WINDOW, _WINDOW))
    return np.asarray(filtered[radius:-radius, radius:-radius], np.float32)


def _weight(height: int, width: int) -> Plane:
    rows, columns = (np.arange(side - _WINDOW + 1) - (side - _WINDOW) / 2 for side in (height, width))
    weight = np.exp(-(rows[:, None] ** 2 + columns**2) / (2 * (height / 4) ** 2))
    return np.asarray(weight / weight.sum(), np.float32)


TOOL = Tool(name="CW-SSIM", version="1.0.0", needs_reference=True, min_side=64, has_map=False, score=score)
