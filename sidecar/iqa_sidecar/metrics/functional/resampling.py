"""Matlab's imresize with its bilinear kernel: antialiased when it shrinks, mirrored at the edges."""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
# Neighbouring outputs, the first input they need, and the matrix from the inputs that begin there.
Group = tuple[slice, int, Matrix]

# Outputs per matrix product: more would multiply more zeros, fewer would need more calls.
_GROUP = 4
_GROUPS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Taps:
    """Output i is the sum of weights[i] · input[indices[i]]; the weights are not negative and add up to 1."""

    indices: NDArray[np.intp]
    weights: Matrix

    def rows(self, chosen: slice | NDArray[np.intp], first: int, stop: int) -> Matrix:
        """As a matrix: some outputs from the inputs first..stop-1, which must include all that they need."""
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
    # Mirrored with the edge pixel repeated; several times if the source is smaller than the kernel.
    indices = indices % (2 * source)
    indices = np.where(indices < source, indices, 2 * source - 1 - indices)
    return Taps(indices[:, used], weights[:, used].astype(np.float32))


def resample(pixels: NDArray[np.uint8], height: int, width: int) -> Matrix:
    """Three planes of height × width, without rounding to integers."""
    # Transposed for the columns: products with whole rows are several times faster, and this separates the channels.
    columns = turn(_resample_rows(pixels, height)).reshape(pixels.shape[1], -1)
    return turn(combine_rows(find_groups(pixels.shape[1], width), columns, width)).reshape(3, height, width)


def turn(matrix: Matrix) -> Matrix:
    return np.asarray(cv2.transpose(matrix), np.float32)


def combine_rows(groups: list[Group], rows: Matrix, count: int) -> Matrix:
    result = np.empty((count, rows.shape[1]), np.float32)
    for chosen, first, matrix in groups:
        np.matmul(matrix, rows[first : first + matrix.shape[1]], out=result[chosen])
    return result


def _resample_rows(pixels: NDArray[np.uint8], height: int) -> Matrix:
    flat = pixels.reshape(len(pixels), -1)
    result = np.empty((height, flat.shape[1]), np.float32)
    groups = find_groups(len(pixels), height)
    spans = [_span(groups[start : start + _GROUPS_AT_ONCE]) for start in range(0, len(groups), _GROUPS_AT_ONCE)]
    work = np.empty((max(stop - first for first, stop in spans), flat.shape[1]), np.float32)
    for index, (top, bottom) in enumerate(spans):
        # Neighbouring groups share many rows, which are converted once.
        values = work[: bottom - top]
        np.copyto(values, flat[top:bottom])
        for chosen, first, matrix in groups[index * _GROUPS_AT_ONCE : (index + 1) * _GROUPS_AT_ONCE]:
            np.matmul(matrix, values[first - top : first - top + matrix.shape[1]], out=result[chosen])
    return result


def _span(groups: list[Group]) -> tuple[int, int]:
    """The range of inputs that a group needs."""
    return min(first for _chosen, first, _matrix in groups), max(first + matrix.shape[1] for _, first, matrix in groups)


@lru_cache(maxsize=8)
def find_groups(source: int, target: int) -> list[Group]:
    taps = find_taps(source, target)
    groups = []
    # When enlarging, many outputs need the same few inputs.
    step = _GROUP * max(1, target // source)
    for start in range(0, target, step):
        chosen = slice(start, start + step)
        first, stop = int(taps.indices[chosen].min()), int(taps.indices[chosen].max()) + 1
        groups.append((chosen, first, taps.rows(chosen, first, stop)))
    return groups


def group_rows(matrix: Matrix) -> list[Group]:
    """The same for a matrix that is zero except for a band along its diagonal."""
    groups = []
    for start in range(0, len(matrix), _GROUP):
        part = matrix[start : start + _GROUP]
        used = np.nonzero(part.any(axis=0))[0]
        first, stop = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)
        groups.append((slice(start, start + _GROUP), first, np.ascontiguousarray(part[:, first:stop])))
    return groups
