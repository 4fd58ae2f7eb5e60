"""Cuts the work on a plane into bands or tiles: what one needs stays in the cache and is allocated once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# By measurement: smaller tiles and flat ones waste time on their borders, larger ones leave the cache.
_TILE_PIXELS = 2**17
_TILE_COLUMNS = 512
_FEWEST_ROWS = 24


def split_rows(rows: int, width: int) -> Iterator[slice]:
    """Bands of whole rows from top to bottom."""
    height = max(_FEWEST_ROWS, _TILE_PIXELS // max(1, width))
    for top in range(0, rows, height):
        yield slice(top, min(rows, top + height))


def split_tiles(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    """In reading order, about half as wide as high."""
    width = tile_shape(columns)[1]
    for band in split_rows(rows, width):
        for left in range(0, columns, width):
            yield band, slice(left, min(columns, left + width))


def allocate(count: int, rows: int, columns: int, border: int) -> NDArray[np.float32]:
    """Planes for the largest tile with a border, one after the other; see `fit`."""
    height, width = tile_shape(columns)
    return np.empty((count, (min(rows, height) + border) * (width + border)), np.float32)


def fit(work: NDArray[np.float32], rows: int, columns: int) -> list[NDArray[np.float32]]:
    """The planes as contiguous arrays of a tile's own size."""
    return [plane[: rows * columns].reshape(rows, columns) for plane in work]


def tile_shape(columns: int) -> tuple[int, int]:
    count = -(-columns // _TILE_COLUMNS)
    width = -(-columns // count)
    return max(_FEWEST_ROWS, _TILE_PIXELS // width), width
