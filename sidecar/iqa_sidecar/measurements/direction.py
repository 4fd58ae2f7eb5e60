"""Directional blur (camera shake, motion) from two cues that image content alone seldom shows together."""

import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Plane
from .edge_profiles import Edges, measure_profiles
from .measurement import Measurement, Values

Vector = NDArray[np.float64]

# 15° each. Edges are taken from every direction, because a blur weakens exactly the edges across it.
_SECTORS = 12
_EDGES_A_SECTOR = 40
_SMALLEST_COUNT = 8
_SMALLEST_SECTORS = 5
# Below this the direction is random.
_DIRECTED = 0.3
# Share of a ramp's pixels between 10 % and 90 % of its height.
_RAMP = 0.8
# Pixels; further rows are skipped.
_SAMPLES = 130_000

MEASUREMENTS = (
    Measurement(
        "blur_anisotropy", "fraction", 0, 1,
        "how much more detail is lost in one direction than across it: below 0.3 isotropic, above 0.5 motion blur",
    ),
    Measurement(
        "motion_blur_px", "pixels", 0, 75,
        "length of that blur, from the widths of edges along and across it; null when isotropic",
    ),
    Measurement(
        "blur_direction_deg", "degrees", 0, 180,
        "direction of that blur, anticlockwise from the horizontal; null when isotropic",
    ),
)  # fmt: skip


def measure_direction(image: Image, smooth: Plane, edges: Edges) -> Values:
    by_width, mean_square = _edge_width_vector(image.luma, edges)
    by_detail = _detail_vector(smooth)
    if by_width is None or by_detail is None:
        return {"blur_anisotropy": None, "motion_blur_px": None, "blur_direction_deg": None}
    anisotropy = float(np.sqrt(np.hypot(*by_width) * np.hypot(*by_detail)))
    # Both vectors have twice the angle of the blur, with y down.
    cosine, sine = by_width + by_detail
    degrees = float(np.degrees(np.arctan2(-sine, cosine)) / 2 % 180)
    # The widest edges exceed the narrowest by 2 |u| of the mean square; a blur of length l gives a ramp of 0.8 l.
    length = float(np.sqrt(2 * np.hypot(*by_width) * mean_square)) / _RAMP
    directed = anisotropy >= _DIRECTED
    return {
        "blur_anisotropy": anisotropy,
        "motion_blur_px": length if directed else None,
        "blur_direction_deg": degrees if directed else None,
    }


def _edge_width_vector(luma: Plane, edges: Edges) -> tuple[Vector | None, float]:
    """Fits width² = c · (1 + u · (cos 2θ, sin 2θ)) to the median widths of the sectors; u with |u| ≤ 1, and c."""
    sector = np.round(edges.angle / np.pi * _SECTORS).astype(np.intp) % _SECTORS
    chosen = np.concatenate([_strongest(edges, np.flatnonzero(sector == index)) for index in range(_SECTORS)])
    if not len(chosen):
        return None, 0.0
    width = measure_profiles(luma, edges.take(chosen)).width
    present = [index for index in range(_SECTORS) if np.any(sector[chosen] == index)]
    if len(present) < _SMALLEST_SECTORS:
        return None, 0.0
    squares = np.array([np.median(width[sector[chosen] == index]) ** 2 for index in present])
    doubled = 2 * np.pi * np.array(present) / _SECTORS
    design = np.column_stack([np.ones_like(doubled), np.cos(doubled), np.sin(doubled)])
    constant, *vector = np.linalg.lstsq(design, squares, rcond=None)[0]
    return (_limit(np.array(vector) / constant), float(constant)) if constant > 0 else (None, 0.0)


def _strongest(edges: Edges, members: NDArray[np.intp]) -> NDArray[np.intp]:
    if len(members) < _SMALLEST_COUNT:
        return members[:0]
    return members[np.argsort(-edges.slope[members], kind="stable")[:_EDGES_A_SECTOR]]


def _detail_vector(smooth: Plane) -> Vector | None:
    """B(θ) = E[I_θθ²] / E[I_θ²], the mean squared frequency along θ, is smallest along the blur.

    The vector's length is (max - min) / (max + min). Stripes alone change both moments but not their ratio.
    """
    if min(smooth.shape) < 3:
        return None
    step = max(1, round(smooth.size / _SAMPLES))
    above, row, below = smooth[:-2:step], smooth[1:-1:step], smooth[2::step]
    first_x, first_y = (row[:, 2:] - row[:, :-2]) / _TWO, (below - above)[:, 1:-1] / _TWO
    second_x = row[:, 2:] + row[:, :-2] - row[:, 1:-1] * _TWO
    second_y = (above + below - row * _TWO)[:, 1:-1]
    mixed = (below[:, 2:] - below[:, :-2] - above[:, 2:] + above[:, :-2]) / (_TWO * _TWO)
    cosine, sine = np.cos(_ANGLES), np.sin(_ANGLES)
    gradient = _mean(first_x, first_x) * cosine**2 + _mean(first_y, first_y) * sine**2
    gradient += 2 * _mean(first_x, first_y) * cosine * sine
    curvature = _mean(second_x, second_x) * cosine**4 + _mean(second_y, second_y) * sine**4
    curvature += (4 * _mean(mixed, mixed) + 2 * _mean(second_x, second_y)) * (cosine * sine) ** 2
    curvature += 4 * (_mean(second_x, mixed) * cosine**2 + _mean(second_y, mixed) * sine**2) * cosine * sine
    if gradient.min() <= 0:
        return None
    frequency = curvature / gradient
    length = (frequency.max() - frequency.min()) / (frequency.max() + frequency.min())
    blurred = _ANGLES[frequency.argmin()]
    return np.asarray(length * np.array([np.cos(2 * blurred), np.sin(2 * blurred)]))


def _mean(first: Plane, second: Plane) -> float:
    return float(np.vdot(first, second)) / first.size


def _limit(vector: Vector) -> Vector:
    return vector / max(1.0, float(np.hypot(*vector)))


_TWO = np.float32(2)
_ANGLES = np.radians(np.arange(0, 180, 5))
