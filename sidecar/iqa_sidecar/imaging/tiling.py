"""Splits the work on a plane into bands or tiles that fit into the processor's cache."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Measured: smaller or flatter tiles cost time at their borders, larger ones do not fit into the cache.
_TILE_PIXELS = 2**17
_TILE_COLUMNS = 512
_MIN_ROWS = 24


def split_rows(rows: int, width: int) -> Iterator[slice]:
    """Bands of whole rows from top to bottom."""
    height = max(_MIN_ROWS, _TILE_PIXELS // max(1, width))
    for top in range(0, rows, height):
        yield slice(top, min(rows, top + height))


def split_tiles(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    """Tiles in reading order, about half as wide as high."""
    width = tile_shape(columns)[1]
    for band in split_rows(rows, width):
        for left in range(0, columns, width):
            yield band, slice(left, min(columns, left + width))


def allocate(count: int, rows: int, columns: int, border: int) -> NDArray[np.float32]:
    """Work planes for the largest tile with its border; see `fit`."""
    height, width = tile_shape(columns)
    return np.empty((count, (min(rows, height) + border) * (width + border)), np.float32)


def fit(work: NDArray[np.float32], rows: int, columns: int) -> list[NDArray[np.float32]]:
    """The work planes as contiguous arrays of a tile's size."""
    return [plane[: rows * columns].reshape(rows, columns) for plane in work]


def tile_shape(columns: int) -> tuple[int, int]:
    count = -(-columns // _TILE_COLUMNS)
    width = -(-columns // count)
    return max(_MIN_ROWS, _TILE_PIXELS // width), width
