"""Per-pixel parts of several full-reference metrics: gradients, and the similarity ratio of two values."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane

Kernel = tuple[NDArray[np.float32], NDArray[np.float32]]

# Difference along one axis, smoothing along the other.
PREWITT: Kernel = (np.array([1, 0, -1], np.float32), np.full(3, 1 / 3, np.float32))
SCHARR: Kernel = (np.array([1, 0, -1], np.float32), np.array([3 / 16, 10 / 16, 3 / 16], np.float32))


def mix_channels(bgr: NDArray[np.float32], weights: NDArray[np.float32]) -> tuple[Plane, Plane, Plane]:
    """Three planes, each a weighted sum of blue, green and red by one row of the weights."""
    first, second, third = (np.asarray(plane, np.float32) for plane in cv2.split(cv2.transform(bgr, weights)))
    return first, second, third


def similarity(first: Plane, second: Plane, constant: float) -> Plane:
    """(2 a b + c) / (a² + b² + c); exactly 1 where a = b, and the same to the last bit when swapped."""
    result = first * second
    result *= 2
    result += np.float32(constant)
    squares = first * first
    other = second * second
    squares += other
    squares += np.float32(constant)
    result /= squares
    return result


def similarity_of_squares(first: Plane, second: Plane, constant: float) -> Plane:
    """The same for values ≥ 0, from their squares."""
    result = first * second
    # Rounds like numpy in half the time.
    cv2.sqrt(result, result)
    result *= 2
    result += np.float32(constant)
    squares = first + second
    squares += np.float32(constant)
    result /= squares
    return result


def missing_of_squares(first: Plane, second: Plane, constant: float, missing: Plane) -> None:
    """1 - similarity = (a - b)² / (a² + b² + c), from a² and b²; exactly 0 where they are equal."""
    squares = first + second
    first *= second
    cv2.sqrt(first, first)
    first *= 2
    np.subtract(squares, first, out=missing)
    squares += np.float32(constant)
    missing /= squares


def gradient_energy(plane: Plane, kernel: Kernel, rows: slice | None = None) -> Plane:
    """Squared gradient magnitude, with zeros outside the image as in Matlab's conv2; of some rows, or all."""
    top, bottom = (0, len(plane)) if rows is None else (rows.start, rows.stop)
    first = max(0, top - 1)
    around = plane[first : bottom + 1]
    difference, smooth = kernel
    across, down = _filter(around, difference, smooth), _filter(around, smooth, difference)
    across, down = across[top - first : bottom - first], down[top - first : bottom - first]
    # Not cv2.magnitude: its last bit depends on the memory alignment.
    across *= across
    down *= down
    across += down
    return across


def real_power(values: Plane, exponent: float) -> Plane:
    """The real part of x^p, in place; x may be negative. Exactly 1 for 1."""
    negative = values < 0
    np.abs(values, out=values)
    with np.errstate(divide="ignore"):
        np.log(values, out=values)
    values *= np.float32(exponent)
    np.exp(values, out=values)
    if negative.any():
        values[negative] *= np.float32(math.cos(math.pi * exponent))
    return values


def _filter(plane: Plane, row: NDArray[np.float32], column: NDArray[np.float32]) -> Plane:
    return np.asarray(cv2.sepFilter2D(plane, -1, row, column, borderType=cv2.BORDER_CONSTANT), np.float32)
