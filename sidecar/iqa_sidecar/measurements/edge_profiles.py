"""Finds edges and samples luma across them, for edge widths, halos and blur directions."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Plane

Vector = NDArray[np.float32]

# Pixels; an edge is the steepest slope within a square of this side.
_NEIGHBOURHOOD = 9
# Gray levels per pixel; weaker slopes are shading.
_WEAKEST_SLOPE = 1.0
# Slope that white noise of σ 1 exceeds in less than one of ten thousand squares (simulated).
_NOISE_SLOPE = 0.8
# Pixels on either side of an edge, and between samples.
_REACH = 20.0
_STEP = 0.5
# An edge ends where the slope falls below this fraction of its maximum.
_FLAT = 0.03
# OpenCV's remap is limited to 16 bits.
_LARGEST_REMAPPED = 32_767
# Pixels beyond the end of an edge that form its plateau.
_PLATEAU = (1.0, 4.0)


@dataclass(frozen=True, slots=True)
class Edges:
    x: Vector
    y: Vector
    # Gray levels per pixel.
    slope: Vector
    # Radians, 0..π, of the direction across the edge; y points down.
    angle: Vector

    def take(self, chosen: NDArray[np.intp]) -> "Edges":
        return Edges(self.x[chosen], self.y[chosen], self.slope[chosen], self.angle[chosen])


def find_edges(smooth: Plane, noise_sigma: float) -> tuple[Edges, Plane]:
    """Maxima of the slope of smoothed luma (Gaussian, σ 1) above the noise, and the slope."""
    across = np.zeros_like(smooth)
    down = np.zeros_like(smooth)
    # No edges within two pixels of the border: their profiles would be incomplete.
    np.subtract(smooth[2:-2, 3:-1], smooth[2:-2, 1:-3], out=across[2:-2, 2:-2])
    np.subtract(smooth[3:-1, 2:-2], smooth[1:-3, 2:-2], out=down[2:-2, 2:-2])
    # Not cv2.magnitude: its last bit depends on the memory alignment.
    slope = np.sqrt(across * across + down * down)
    slope /= 2
    highest = cv2.dilate(slope, np.ones((_NEIGHBOURHOOD, _NEIGHBOURHOOD), np.uint8))
    threshold = max(_WEAKEST_SLOPE, _NOISE_SLOPE * noise_sigma)
    y, x = np.divmod(np.flatnonzero((slope == highest) & (slope > threshold)), smooth.shape[1])
    angle = np.arctan2(down[y, x], across[y, x]) % np.float32(np.pi)
    return Edges(x.astype(np.float32), y.astype(np.float32), slope[y, x], angle), slope


@dataclass(frozen=True, slots=True)
class Profiles:
    # Pixels between 10 % and 90 % of the edge's height.
    width: Vector
    # The smaller overshoot of the two ends beyond their plateaus, as a fraction of the height.
    overshoot: Vector


def measure_profiles(luma: Plane, edges: Edges) -> Profiles:
    """An edge extends from its steepest point to where it stops rising on either side, at most 20 pixels."""
    profiles = _sample(luma, edges)
    centre = profiles.shape[1] // 2
    rise = np.diff(profiles, axis=1)
    steepest = np.maximum(rise[:, centre - 1 : centre], rise[:, centre : centre + 1])
    rising = rise > _FLAT * steepest
    first = centre - np.logical_and.accumulate(rising[:, centre - 1 :: -1], axis=1).sum(axis=1)
    last = centre + np.logical_and.accumulate(rising[:, centre:], axis=1).sum(axis=1)
    rows = np.arange(len(profiles))
    low, high = profiles[rows, first, None], profiles[rows, last, None]
    relative = (profiles - low) / np.maximum(high - low, 1e-6)
    return Profiles(_width(relative, first, last), _overshoot(relative, first, last))


def _sample(luma: Plane, edges: Edges) -> Plane:
    """Across each edge from dark to bright, the mean of three parallel lines one pixel apart."""
    offsets = np.arange(-_REACH, _REACH + _STEP / 2, _STEP, dtype=np.float32)
    cosine, sine = np.cos(edges.angle)[:, None], np.sin(edges.angle)[:, None]
    x = edges.x[:, None] + cosine * offsets
    y = edges.y[:, None] + sine * offsets
    total = np.zeros(x.shape, np.float32)
    for shift in (-1, 0, 1):
        columns, rows = x - shift * sine, y + shift * cosine
        total += _interpolate(luma, columns, rows)
    centre = len(offsets) // 2
    falling = total[:, centre + 1] < total[:, centre - 1]
    total[falling] = total[falling, ::-1]
    total /= 3
    return total


def _interpolate(luma: Plane, columns: Plane, rows: Plane) -> Plane:
    """Bilinear; the border is repeated outside the image."""
    if max(luma.shape) < _LARGEST_REMAPPED:
        return np.asarray(cv2.remap(luma, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    height, width = luma.shape
    x, y = np.clip(columns, 0, width - 1), np.clip(rows, 0, height - 1)
    left, top = x.astype(np.intp), y.astype(np.intp)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    across, down = x - left, y - top
    upper = luma[top, left] * (1 - across) + luma[top, right] * across
    lower = luma[bottom, left] * (1 - across) + luma[bottom, right] * across
    return np.asarray(upper * (1 - down) + lower * down, np.float32)


def _width(relative: Plane, first: NDArray[np.intp], last: NDArray[np.intp]) -> Vector:
    """Sums the parts of all steps between 10 % and 90 %."""
    step = np.arange(relative.shape[1] - 1)
    inside = (step >= first[:, None]) & (step < last[:, None])
    clipped = np.clip(relative, 0.1, 0.9)
    part = np.diff(clipped, axis=1) / np.maximum(np.diff(relative, axis=1), 1e-6)
    return np.asarray((part * inside).sum(axis=1) * _STEP, np.float32)


def _overshoot(relative: Plane, first: NDArray[np.intp], last: NDArray[np.intp]) -> Vector:
    offsets = np.arange(_PLATEAU[0] / _STEP, _PLATEAU[1] / _STEP + 1).astype(np.intp)
    end = relative.shape[1] - 1
    above = np.take_along_axis(relative, np.minimum(last[:, None] + offsets, end), axis=1)
    below = np.take_along_axis(relative, np.maximum(first[:, None] - offsets, 0), axis=1)
    # The smaller one, because a thin line overshoots on one side only, a halo on both.
    return np.minimum(1 - np.median(above, axis=1), np.median(below, axis=1))
