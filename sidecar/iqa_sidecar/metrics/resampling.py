"""Matlab's imresize with its bilinear kernel: antialiased when it shrinks, mirrored at the edges."""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

# Outputs computed by one small matrix product: more waste multiplications by zero, fewer waste calls.
_GROUP = 16


@dataclass(frozen=True, slots=True)
class Taps:
    """Output i is the sum of weights[i] · input[indices[i]]; the weights are not negative and add up to 1."""

    indices: NDArray[np.intp]
    weights: Matrix

    def rows(self, chosen: slice | NDArray[np.intp], first: int, stop: int) -> Matrix:
        """As a matrix: some outputs from the inputs first..stop-1, which must be all they need."""
        indices, weights = self.indices[chosen] - first, self.weights[chosen]
        matrix = np.zeros((len(indices), stop - first), np.float32)
        np.add.at(matrix, (np.arange(len(indices))[:, None], indices), weights)
        return matrix


@lru_cache(maxsize=16)
def find_taps(source: int, target: int) -> Taps:
    scale = target / source
    stretch = max(1.0, 1 / scale)
    centres = (np.arange(target) + 0.5) / scale - 0.5
    first = np.floor(centres - stretch).astype(np.intp)
    indices = first[:, None] + np.arange(int(np.ceil(2 * stretch)) + 2)
    weights = np.maximum(0, 1 - np.abs(indices - centres[:, None]) / stretch)
    weights /= weights.sum(axis=1, keepdims=True)
    used = weights.any(axis=0)
    # Mirrored with the edge pixel repeated; as often as needed when the source is smaller than the kernel.
    indices = indices % (2 * source)
    indices = np.where(indices < source, indices, 2 * source - 1 - indices)
    return Taps(indices[:, used], weights[:, used].astype(np.float32))


def resample(pixels: NDArray[np.uint8], height: int, width: int) -> Matrix:
    """Three planes of height × width, without rounding to integers."""
    rows = _resample_rows(pixels, height)
    planes = np.concatenate(cv2.split(rows.reshape(height, pixels.shape[1], 3)))
    result = np.empty((len(planes), width), np.float32)
    for chosen, first, matrix in _groups(pixels.shape[1], width):
        np.matmul(planes[:, first : first + matrix.shape[1]], matrix.T, out=result[:, chosen])
    return result.reshape(3, height, width)


def _resample_rows(pixels: NDArray[np.uint8], height: int) -> Matrix:
    flat = pixels.reshape(len(pixels), -1)
    result = np.empty((height, flat.shape[1]), np.float32)
    for chosen, first, matrix in _groups(len(pixels), height):
        np.matmul(matrix, flat[first : first + matrix.shape[1]].astype(np.float32), out=result[chosen])
    return result


@lru_cache(maxsize=8)
def _groups(source: int, target: int) -> list[tuple[slice, int, Matrix]]:
    """Neighbouring outputs, the first input they need, and the matrix from the inputs that begin there."""
    taps = find_taps(source, target)
    groups = []
    for start in range(0, target, _GROUP):
        chosen = slice(start, start + _GROUP)
        first, stop = int(taps.indices[chosen].min()), int(taps.indices[chosen].max()) + 1
        groups.append((chosen, first, taps.rows(chosen, first, stop)))
    return groups
