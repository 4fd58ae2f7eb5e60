"""Shared parts of the direct float64 versions; no code of the package."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def channels(pixels: NDArray[np.uint8]) -> list[Array]:
    """Red, green, blue."""
    return [pixels[..., index].astype(np.float64) for index in (2, 1, 0)]


def mix(planes: list[Array], weights: tuple[float, float, float]) -> Array:
    return sum((weight * plane for weight, plane in zip(weights, planes, strict=True)), np.zeros_like(planes[0]))


def conv2_same(plane: Array, kernel: Array) -> Array:
    """Matlab's conv2(plane, kernel, 'same')."""
    height, width = kernel.shape
    padded = np.pad(plane, ((height - 1, height - 1), (width - 1, width - 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape)
    full = np.einsum("ijkl,kl->ij", windows, kernel[::-1, ::-1])
    top, left = height // 2, width // 2
    return np.asarray(full[top : top + plane.shape[0], left : left + plane.shape[1]])


def shrink(plane: Array, factor: int) -> Array:
    kernel = np.full((factor, factor), 1 / factor**2)
    return conv2_same(plane, kernel)[::factor, ::factor]


def viewing_factor(plane: Array) -> int:
    return max(1, int(np.floor(min(plane.shape) / 256 + 0.5)))


def gradient(plane: Array, kernel: list[list[float]]) -> Array:
    across = np.array(kernel)
    return np.hypot(conv2_same(plane, across), conv2_same(plane, across.T))


def agree(first: Array, second: Array, constant: float) -> Array:
    return np.asarray((2 * first * second + constant) / (first**2 + second**2 + constant))


SCHARR = [[3 / 16, 0, -3 / 16], [10 / 16, 0, -10 / 16], [3 / 16, 0, -3 / 16]]
PREWITT = [[1 / 3, 0, -1 / 3]] * 3
YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
