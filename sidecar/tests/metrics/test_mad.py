"""MAD against a direct float64 version of the paper, its visibility threshold, and masking."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from iqa_sidecar.metrics.functional.block_moments import average_cells, central_moments, smallest_quarter_variance

from .. import images
from . import oracles
from .levels import value

Array = NDArray[np.float64]


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 80, 100), (2, 71, 61), (3, 64, 50)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for image in (images.blur(photo, 1.5), images.noise(photo, 25), images.jpeg(photo, 15)):
        assert value("MAD", image, photo) == pytest.approx(direct(image, photo), rel=1e-3)


def test_an_invisible_error_does_not_count() -> None:
    photo = images.photo(1)
    assert value("MAD", images.noise(photo, 1), photo) == 0
    assert value("MAD", images.noise(photo, 15), photo) > 0


def test_detail_hides_what_a_smooth_area_shows() -> None:
    detailed, smooth = images.noise(images.flat(128), 40, seed=1), images.flat(128)
    assert value("MAD", images.noise(detailed, 4), detailed) < value("MAD", images.noise(smooth, 4), smooth)


def test_shadows_below_half_a_unit_of_lightness_do_not_count() -> None:
    dark = images.noise(images.flat(6), 2, seed=1)
    assert value("MAD", images.noise(dark, 3), dark) == 0


def test_moments_of_blocks() -> None:
    plane = np.random.default_rng(1).gamma(2, 20, (45, 62)).astype(np.float32)
    blocks = windows(plane.astype(np.float64))
    mean, variance, third, fourth = central_moments(average_cells(plane, 4))
    centred = blocks - blocks.mean(axis=(2, 3), keepdims=True)
    assert mean == pytest.approx(blocks.mean(axis=(2, 3)), rel=1e-9)
    for order, moment in ((2, variance), (3, third), (4, fourth)):
        assert moment == pytest.approx((centred**order).mean(axis=(2, 3)), rel=1e-7)
    quarters = smallest_quarter_variance(average_cells(plane, 2))
    assert quarters == pytest.approx(least_quarter(blocks), rel=1e-9)


def direct(image: images.Pixels, reference: images.Pixels) -> float:
    luma, other = oracles.luma(image), oracles.luma(reference)
    detection, appearance = detect(luma, other), compare_appearance(luma, other)
    # The paper rounds them to 0.467 and 0.130, which changes the value by half a percent.
    alpha = 1 / (1 + math.exp(-2.55 / 3.35) * detection ** (1 / (math.log(10) * 3.35)))
    return float(detection**alpha * appearance ** (1 - alpha))


def detect(luma: Array, other: Array) -> float:
    filtered, original = (filter_by_sensitivity((0.02874 * plane) ** (2.2 / 3)) for plane in (luma, other))
    mean = windows(original).mean(axis=(2, 3))
    error = windows(filtered - original).std(axis=(2, 3)) / mean
    mask = np.sqrt(least_quarter(windows(original))) / mean
    excess = np.log(error) - np.maximum(np.log(mask), -5)
    visible = np.where((excess > 0) & (mean > 0.5), excess, 0)
    return float(200 * np.sqrt(np.mean((visible * windows((luma - other) ** 2).mean(axis=(2, 3))) ** 2)))


def filter_by_sensitivity(lightness: Array) -> Array:
    down, across = (np.fft.fftfreq(side) for side in lightness.shape)
    angle = np.arctan2(down[:, None], across)
    frequency = 64 * np.hypot(down[:, None], across) / (0.15 * np.cos(4 * angle) + 0.85)
    gain = np.where(
        frequency < 7.8909, 0.9809, 2.6 * (0.0192 + 0.114 * frequency) * np.exp(-((0.114 * frequency) ** 1.1))
    )
    return np.asarray(np.fft.ifft2(np.fft.fft2(lightness) * gain).real)


def compare_appearance(luma: Array, other: Array) -> float:
    total = 0.0
    for orientation in range(4):
        for weight, wave in zip((0.5, 0.75, 1, 5, 6), (3, 9, 27, 81, 243), strict=True):
            gain = log_gabor(luma.shape, wave, orientation * math.pi / 4)
            (deviation, skewness, kurtosis), reference = (
                describe_shape(windows(np.abs(np.fft.ifft2(np.fft.fft2(plane) * gain)))) for plane in (luma, other)
            )
            total = total + weight / 13.25 * (
                np.abs(deviation - reference[0]) + 2 * np.abs(skewness - reference[1]) + np.abs(kurtosis - reference[2])
            )
    return float(np.sqrt(np.mean(np.square(total))))


def log_gabor(shape: tuple[int, ...], wave: int, direction: float) -> Array:
    down, across = (np.fft.fftfreq(side) for side in shape)
    radius = np.hypot(down[:, None], across)
    radius[0, 0] = 1
    turn = np.angle(np.exp(1j * (np.arctan2(-down[:, None], across) - direction)))
    gain = np.exp(-(np.log(radius * wave) ** 2) / (2 * math.log(0.55) ** 2) - turn**2 / (2 * (math.pi / 6) ** 2))
    gain[0, 0] = 0
    return np.asarray(gain)


def describe_shape(blocks: Array) -> tuple[Array, Array, Array]:
    centred = blocks - blocks.mean(axis=(2, 3), keepdims=True)
    variance = (centred**2).mean(axis=(2, 3))
    skewness = (centred**3).mean(axis=(2, 3)) / variance**1.5
    return np.sqrt(variance), skewness, (centred**4).mean(axis=(2, 3)) / variance**2


def windows(plane: Array) -> Array:
    """Blocks of 16 × 16 pixels, every 4; what reaches over the last whole 4 × 4 cell is left out."""
    plane = plane[: len(plane) // 4 * 4, : plane.shape[1] // 4 * 4]
    return np.lib.stride_tricks.sliding_window_view(plane, (16, 16))[::4, ::4]


def least_quarter(blocks: Array) -> Array:
    halves = (slice(0, 8), slice(8, 16))
    quarters = [blocks[..., rows, columns].var(axis=(2, 3)) for rows in halves for columns in halves]
    return np.asarray(np.min(quarters, axis=0))
