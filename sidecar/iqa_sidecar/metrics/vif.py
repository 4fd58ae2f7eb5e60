"""VIF: visual information fidelity in the wavelet domain, the share of the reference's information that is left.

References:
    H. R. Sheikh, A. C. Bovik, "Image information and visual quality", IEEE Transactions on Image Processing, 2006.
    https://doi.org/10.1109/TIP.2005.859378
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from .functional.pooling import total_of
from .functional.steerable_pyramid import build_bands
from .tool import Result, Tool, require_reference

_LEVELS = 4
# Side of the blocks that form the vectors of the scale mixture.
_BLOCK = 3
# Variance of the visual noise in the paper's model.
_NOISE = np.float32(0.4)
_BAND_ROWS = 16


def score(pair: Pair, _wants_map: bool) -> Result:
    """Information in the image over information in the reference; 1 for the reference itself."""
    luma, other_luma = pair.image.luma, require_reference(pair).luma
    # The bands ignore the mean; subtracting it makes a flat image exactly zero.
    level = other_luma[0, 0]
    kept = available = 0.0
    pyramids = zip(build_bands(luma - level, _LEVELS), build_bands(other_luma - level, _LEVELS), strict=True)
    for number, (bands, other_bands) in enumerate(pyramids):
        window = 2 ** (_LEVELS - number) + 1
        for band, other_band in zip(bands, other_bands, strict=True):
            numerator, denominator = _information(_whole_blocks(band), _whole_blocks(other_band), window)
            kept += numerator
            available += denominator
    if available == 0:
        # A flat reference has no information.
        return Result(1.0 if np.array_equal(luma, other_luma) else math.nan)
    return Result(kept / available)


def _whole_blocks(band: Plane) -> Plane:
    height, width = (side // _BLOCK * _BLOCK for side in band.shape)
    return np.ascontiguousarray(band[:height, :width])


def _information(band: Plane, reference: Plane, window: int) -> tuple[float, float]:
    gain, noise = _estimate_channel(band, reference, window)
    eigenvalues, field = _estimate_reference(reference)
    # Windows over the edge are left out.
    edge = math.ceil((window - 1) / 2 / _BLOCK)
    gain, noise, field = (plane[edge:-edge, edge:-edge] for plane in (gain, noise, field))
    signal = gain * gain
    signal *= field
    signal /= noise + _NOISE
    field = field / _NOISE
    kept = available = 0.0
    for eigenvalue in eigenvalues.astype(np.float32):
        kept += total_of(np.log1p(signal * eigenvalue))
        available += total_of(np.log1p(field * eigenvalue))
    return kept, available


def _estimate_channel(band: Plane, reference: Plane, window: int) -> tuple[Plane, Plane]:
    """Gain and noise that turn the reference into the image, per block."""
    mean, other_mean = _average(band, window), _average(reference, window)
    variance = np.maximum(_average(band * band, window) - mean * mean, 0)
    other_variance = np.maximum(_average(reference * reference, window) - other_mean * other_mean, 0)
    covariance = _average(band * reference, window) - mean * other_mean
    gain = np.divide(covariance, other_variance, out=np.zeros_like(covariance), where=other_variance > 0)
    noise = variance - gain * covariance
    # A negative gain counts as noise only.
    negative = gain < 0
    noise[negative] = variance[negative]
    gain[negative] = 0
    return gain, np.maximum(noise, 0)


def _estimate_reference(reference: Plane) -> tuple[NDArray[np.float64], Plane]:
    """Eigenvalues of the blocks' covariance, and the field yᵀ C⁻¹ y / n of the blocks side by side."""
    height, width = reference.shape
    blocks = np.stack(
        [reference[row::_BLOCK, column::_BLOCK].ravel() for column in range(_BLOCK) for row in range(_BLOCK)]
    )
    eigenvalues, vectors = np.linalg.eigh(_block_covariance(reference))
    known = eigenvalues > eigenvalues[-1] * 1e-9
    if not known.any():
        return np.zeros(0), np.zeros((height // _BLOCK, width // _BLOCK), np.float32)
    whitened = (vectors[:, known] / np.sqrt(eigenvalues[known])).T.astype(np.float32) @ blocks
    field = np.einsum("ij,ij->j", whitened, whitened) / np.float32(_BLOCK**2)
    return eigenvalues[known], field.reshape(height // _BLOCK, width // _BLOCK)


def _block_covariance(reference: Plane) -> NDArray[np.float64]:
    """Covariance of all blocks, also overlapping ones. In float32 a few rows at a time, summed in float64."""
    rows, columns = (side - _BLOCK + 1 for side in reference.shape)
    products, sums = np.zeros((_BLOCK**2, _BLOCK**2)), np.zeros(_BLOCK**2)
    for top in range(0, rows, _BAND_ROWS):
        stop = min(rows, top + _BAND_ROWS)
        vectors = np.stack(
            [
                reference[top + row : stop + row, column : columns + column].ravel()
                for column in range(_BLOCK)
                for row in range(_BLOCK)
            ]
        )
        products += vectors @ vectors.T
        sums += vectors.sum(axis=1)
    count = rows * columns
    return np.asarray(products / count - np.outer(sums / count, sums / count))


def _average(plane: Plane, window: int) -> Plane:
    """Means around the middle of each block."""
    filtered = cv2.boxFilter(plane, -1, (window, window), borderType=cv2.BORDER_REFLECT_101)
    return np.ascontiguousarray(filtered[_BLOCK // 2 :: _BLOCK, _BLOCK // 2 :: _BLOCK])


TOOL = Tool(name="VIF", version="1.0.0", needs_reference=True, min_side=80, has_map=False, score=score)
