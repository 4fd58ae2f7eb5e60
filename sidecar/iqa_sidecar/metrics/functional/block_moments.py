"""Moments of overlapping blocks for MAD: 16 × 16 pixels every 4 pixels, from means of 4 × 4 cells."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane
from ...imaging.tiling import split_rows

BLOCK = 16
_CELL = 4
_SIDE = BLOCK // _CELL

# In float64: moments around the mean are small differences of large sums.
Cells = NDArray[np.float64]


def average_cells(plane: Plane, orders: int) -> Cells:
    """Means of x, x² … of each cell, one plane per order. Incomplete cells at the right and bottom are left out."""
    rows, columns = (side // _CELL for side in plane.shape)
    cells = np.empty((orders, rows, columns))
    for band in split_rows(rows, columns * _CELL**2):
        values = plane[band.start * _CELL : band.stop * _CELL, : columns * _CELL].astype(np.float64)
        power = values
        for order in range(orders):
            if order > 0:
                power = power * values
            cells[order, band] = cv2.resize(power, (columns, band.stop - band.start), interpolation=cv2.INTER_AREA)
    return cells


def central_moments(cells: Cells) -> list[Cells]:
    """Mean and variance of each block; of four orders also the third and fourth moment around the mean."""
    return _around_mean([_average(plane, _SIDE) for plane in cells])


def smallest_quarter_variance(cells: Cells) -> Cells:
    """The smallest variance of a block's four quarters: an edge does not mask errors beside it."""
    half = _SIDE // 2
    variance = _around_mean([_average(plane, half) for plane in cells])[1]
    quarters = [variance[down or None :, across or None :] for down in (0, half) for across in (0, half)]
    rows, columns = (side - _SIDE + 1 for side in cells.shape[1:])
    return np.asarray(np.min([quarter[:rows, :columns] for quarter in quarters], axis=0))


def mean_of_squares(plane: Plane) -> Cells:
    return _average(average_cells(plane, 2)[1], _SIDE)


def _average(plane: Cells, side: int) -> Cells:
    """Means over side × side cells that lie inside."""
    rows, columns = (length - side + 1 for length in plane.shape)
    mean = cv2.boxFilter(plane, cv2.CV_64F, (side, side), anchor=(0, 0))
    return np.asarray(mean[:rows, :columns], np.float64)


def _around_mean(raw: list[Cells]) -> list[Cells]:
    mean, square, *higher = raw
    moments = [mean, np.maximum(square - mean**2, 0)]
    if higher:
        third, fourth = higher
        moments.append(third - 3 * mean * square + 2 * mean**3)
        moments.append(np.maximum(fourth - 4 * mean * third + 6 * mean**2 * square - 3 * mean**4, 0))
    return moments
