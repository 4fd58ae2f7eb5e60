"""Slow float64 versions of the metrics, written from the papers without code of the package."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def luma(pixels: NDArray[np.uint8]) -> Array:
    """Matlab's rgb2gray, rounded."""
    weights = np.array([0.114020904255103, 0.587043074451121, 0.298936021293775])
    return np.asarray(np.round(pixels.astype(np.float64) @ weights))


def ms_ssim(image: Array, reference: Array) -> float:
    value, weights = 0.0, (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
    for weight, last in zip(weights, (False,) * 4 + (True,), strict=True):
        luminance, structure = _ssim_parts(image, reference)
        value += float(np.mean(luminance * structure if last else structure)) * weight / sum(weights)
        image, reference = _halve(image, "edge"), _halve(reference, "edge")
    return value


def gmsd(image: Array, reference: Array) -> float:
    first, second = (_prewitt(_halve(plane, "constant")) for plane in (image, reference))
    return float(np.std((2 * first * second + 170) / (first**2 + second**2 + 170), ddof=1))


def brisque_features(image: Array) -> Array:
    values: list[float] = []
    for plane in (image, _imresize_half(image)):
        mscn = _mscn(plane, "constant")
        shape, _, _ = _fit_asymmetric(np.concatenate([mscn.ravel(), -mscn.ravel()]))
        values += [shape, float(np.mean(mscn**2))]
        for rows, columns in ((0, 1), (1, 0), (1, 1), (-1, 1)):
            shape, left, right = _fit_asymmetric((mscn * np.roll(mscn, (rows, columns), (0, 1))).ravel())
            scale = math.sqrt(math.gamma(1 / shape) / math.gamma(3 / shape))
            mean = (right - left) * scale * math.gamma(2 / shape) / math.gamma(1 / shape)
            values += [shape, mean, left**2, right**2]
    return np.array(values)


def niqe(image: Array, mean: Array, covariance: Array) -> float:
    height, width = (side // 96 * 96 for side in image.shape)
    image = image[:height, :width]
    features = []
    for plane, side in ((image, 96), (_imresize_half(image), 48)):
        mscn = _mscn(plane, "edge")
        features.append(
            [
                _niqe_block(mscn[top : top + side, left : left + side])
                for top in range(0, mscn.shape[0], side)
                for left in range(0, mscn.shape[1], side)
            ]
        )
    blocks = np.hstack([np.array(scale) for scale in features])
    difference = mean - blocks.mean(axis=0)
    inverse = np.linalg.pinv((covariance + np.cov(blocks, rowvar=False)) / 2)
    return float(np.sqrt(difference @ inverse @ difference))


def piqe(image: Array) -> float:
    """Block by block, as the authors' program goes."""
    height, width = image.shape
    mscn = _mscn(np.pad(image, ((0, -height % 16), (0, -width % 16)), "edge"), "edge")
    total, active = 0.0, 0
    for top in range(0, mscn.shape[0], 16):
        for left in range(0, mscn.shape[1], 16):
            block = mscn[top : top + 16, left : left + 16]
            variance = float(np.var(block, ddof=1))
            if variance > 0.1:
                active += 1
                total += (1 - variance) * _has_flat_border(block) + variance * _is_noise(block, math.sqrt(variance))
    return 100 * (total + 1) / (active + 1)


def _has_flat_border(block: Array) -> bool:
    borders = (block[0], block[15], block[:, 0], block[:, 15])
    return any(np.std(border[start : start + 6], ddof=1) < 0.1 for border in borders for start in range(11))


def _is_noise(block: Array, deviation: float) -> bool:
    centre = np.concatenate([block[:, 7], block[:, 8]])
    rest = np.delete(block, 7, axis=1)
    rest = np.delete(rest, 8, axis=1)
    ratio = float(np.std(centre, ddof=1) / np.std(rest, ddof=1))
    return deviation > 2 * abs(deviation - ratio) / max(deviation, ratio)


def _niqe_block(block: Array) -> list[float]:
    shape, left, right = _fit_asymmetric(block.ravel())
    scale = math.sqrt(math.gamma(1 / shape) / math.gamma(3 / shape))
    values = [shape, (left + right) / 2 * scale]
    for shift in ((0, 1), (1, 0), (1, 1), (1, -1)):
        shape, left, right = _fit_asymmetric((block * np.roll(block, shift, (0, 1))).ravel())
        scale = math.sqrt(math.gamma(1 / shape) / math.gamma(3 / shape))
        mean = (right - left) * scale * math.gamma(2 / shape) / math.gamma(1 / shape)
        values += [shape, mean, left * scale, right * scale]
    return values


def _fit_asymmetric(values: Array) -> tuple[float, float, float]:
    left = math.sqrt(np.mean(values[values < 0] ** 2))
    right = math.sqrt(np.mean(values[values > 0] ** 2))
    ratio = left / right
    target = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    target *= (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    shapes = np.arange(0.2, 10.0005, 0.001)
    expected = [math.gamma(2 / a) ** 2 / math.gamma(1 / a) / math.gamma(3 / a) for a in shapes]
    return float(shapes[np.argmin(np.abs(np.array(expected) - target))]), left, right


def _mscn(plane: Array, border: str) -> Array:
    offsets = np.arange(-3, 4)
    window = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * (7 / 6) ** 2))
    window /= window.sum()
    padded = np.pad(plane, 3, "edge") if border == "edge" else np.pad(plane, 3)
    mean, square = _correlate(padded, window), _correlate(padded**2, window)
    return np.asarray((plane - mean) / (np.sqrt(np.abs(square - mean**2)) + 1))


def _imresize_half(plane: Array) -> Array:
    """Each output pixel as the weighted mean of the mirrored input around it; cubic stretched to twice its width."""
    for _axis in range(2):
        length = plane.shape[0]
        rows = []
        for output in range((length + 1) // 2):
            centre = 2 * output + 0.5
            inputs = np.arange(math.ceil(centre - 4), math.floor(centre + 4) + 1)
            weights = _cubic((inputs - centre) / 2)
            mirrored = np.where(inputs < 0, -1 - inputs, np.where(inputs >= length, 2 * length - 1 - inputs, inputs))
            rows.append(weights @ plane[mirrored] / weights.sum())
        plane = np.array(rows).T
    return plane


def _cubic(x: Array) -> Array:
    x = np.abs(x)
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, near, np.where(x <= 2, far, 0))


def _ssim_parts(image: Array, reference: Array) -> tuple[Array, Array]:
    offsets = np.arange(-5, 6)
    window = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * 1.5**2))
    window /= window.sum()
    average: Callable[[Array], Array] = lambda plane: _correlate(plane, window)  # noqa: E731
    mean_image, mean_reference = average(image), average(reference)
    variance_image = average(image**2) - mean_image**2
    variance_reference = average(reference**2) - mean_reference**2
    covariance = average(image * reference) - mean_image * mean_reference
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    luminance = (2 * mean_image * mean_reference + c1) / (mean_image**2 + mean_reference**2 + c1)
    return luminance, (2 * covariance + c2) / (variance_image + variance_reference + c2)


def _prewitt(plane: Array) -> Array:
    padded = np.pad(plane, 1)
    kernel = np.array([[1, 0, -1]] * 3) / 3
    return np.hypot(_correlate(padded, kernel), _correlate(padded, kernel.T))


def _halve(plane: Array, outside: Literal["edge", "constant"]) -> Array:
    padded = np.pad(plane, [(0, side % 2) for side in plane.shape], outside)
    return (padded[::2, ::2] + padded[1::2, ::2] + padded[::2, 1::2] + padded[1::2, 1::2]) / 4


def _correlate(plane: Array, kernel: Array) -> Array:
    """The valid part."""
    windows = np.lib.stride_tricks.sliding_window_view(plane, kernel.shape)
    return np.asarray(np.einsum("ijkl,kl->ij", windows, kernel))
