"""Cuts the work on a plane into bands of rows: what a band needs stays in the cache and is allocated once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Pixels of one band, by measurement: smaller ones waste time on their borders, larger ones leave the cache.
_BAND_PIXELS = 2**17
_FEWEST_ROWS = 16


def split_rows(rows: int, width: int) -> Iterator[slice]:
    """Bands of about equal height from top to bottom."""
    height = band_height(width)
    for top in range(0, rows, height):
        yield slice(top, min(rows, top + height))


def band_height(width: int) -> int:
    return max(_FEWEST_ROWS, _BAND_PIXELS // max(1, width))


def allocate(count: int, rows: int, width: int) -> NDArray[np.float32]:
    """Planes for one band, one after the other."""
    return np.empty((count, rows, width), np.float32)
