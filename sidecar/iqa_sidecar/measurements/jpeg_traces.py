"""JPEG quality from pixels only: finds the quantisation steps of the DCT coefficients of 8 × 8 blocks."""

import numpy as np
from numpy.typing import NDArray

from ..imaging.jpeg_quality import TABLES
from .measurement import Measurement, Values

_GRID = 8
# Further rows of blocks are skipped; a few hundred blocks are enough.
_MAX_BLOCKS = 1_500
_MIN_BLOCKS = 24
# The lowest frequencies except the mean: row, column, and zigzag position in a quantisation table.
_FREQUENCIES = ((0, 1, 1), (1, 0, 2), (2, 0, 3), (1, 1, 4), (0, 2, 5), (0, 3, 6), (1, 2, 7), (2, 1, 8), (3, 0, 9))
# Coefficients in halves of a gray level. Smaller ones are zeros plus rounding noise, larger ones are rare.
_HALVES = 2
_SMALLEST, _LARGEST = 1.5, 160
# Steps below two are hidden by the rounding of the pixels.
_HIGHEST_QUALITY = 94
# Minimum fit of the coefficients to the steps, 0 (chance) to 1; uncompressed photos stay below.
_MIN_AGREEMENT = 0.12

MEASUREMENTS = (
    Measurement(
        "jpeg_quality_estimate", "IJG quality", 1, 94,
        "the quality whose quantisation steps the pixels' DCT coefficients still show; null where they show none",
    ),
)  # fmt: skip


def measure_jpeg_traces(luma: NDArray[np.uint8], grid: tuple[int, int]) -> Values:
    """`grid`: detected start of the blocks; (0, 0) is tried too, because high qualities show no grid."""
    quality, agreement = None, _MIN_AGREEMENT
    for corner in {grid, (0, 0)}:
        coefficients = _coefficients(luma, corner)
        if coefficients is not None:
            found, its_agreement = _best_quality(coefficients)
            if its_agreement > agreement:
                quality, agreement = found, its_agreement
    return {"jpeg_quality_estimate": quality}


def _coefficients(luma: NDArray[np.uint8], grid: tuple[int, int]) -> NDArray[np.float32] | None:
    """One row per frequency, one column per block."""
    left, top = grid
    rows, columns = (luma.shape[0] - top) // _GRID, (luma.shape[1] - left) // _GRID
    if rows * columns < _MIN_BLOCKS:
        return None
    strips = luma[top : top + rows * _GRID, left : left + columns * _GRID].reshape(rows, _GRID, columns * _GRID)
    strips = strips[:: max(1, -(-rows * columns // _MAX_BLOCKS))].astype(np.float32)
    down = np.matmul(_BASIS, strips)
    both = down.reshape(len(strips), len(_BASIS), columns, _GRID) @ _BASIS.T
    return np.stack([both[:, row, :, column].ravel() for row, column, _ in _FREQUENCIES])


def _best_quality(coefficients: NDArray[np.float32]) -> tuple[float | None, float]:
    """The quality with the best fit, and the fit."""
    halves = np.rint(np.abs(coefficients) * _HALVES).astype(np.intp)
    counts = np.stack([np.bincount(row, minlength=_BINS)[:_BINS] for row in halves]).astype(np.float32)
    counts[:, : int(_SMALLEST * _HALVES)] = 0
    total = float(counts.sum())
    if total < _MIN_BLOCKS:
        return None, 0.0
    agreement = np.einsum("fb,fbq->q", counts, _FIT) / total
    # Of equal fits the highest quality: neighbours may share their steps.
    best = len(agreement) - 1 - int(np.argmax(agreement[::-1]))
    return float(best + 1), float(agreement[best])


def _dct_basis() -> NDArray[np.float32]:
    """The first four rows of the orthonormal DCT-II of eight values."""
    positions, frequencies = np.arange(_GRID), np.arange(4)[:, None]
    basis = np.cos(np.pi * (2 * positions + 1) * frequencies / (2 * _GRID)) / 2
    basis[0] /= np.sqrt(2)
    return np.asarray(basis, np.float32)


def _fit_table() -> NDArray[np.float32]:
    """Fit of a coefficient to a quality's step, by frequency, coefficient and quality: cos(2π c / step).

    A coefficient that would have been rounded to zero has the worst fit.
    """
    steps = TABLES[:_HIGHEST_QUALITY, [position for _, _, position in _FREQUENCIES]].T[:, None, :]
    ratio = np.arange(_BINS)[None, :, None] / _HALVES / steps
    return np.where(ratio < 0.5, -1, np.cos(2 * np.pi * ratio)).astype(np.float32)


_BINS = _LARGEST * _HALVES
_BASIS = _dct_basis()
_FIT = _fit_table()
