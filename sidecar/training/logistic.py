"""The calibration curve: from a tool's raw value to 1..5, rising with quality over the tool's whole range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.tables import Numbers


@dataclass(frozen=True)
class Curve:
    """f(x) = β1 (1/2 - 1 / (1 + exp(β2 (x - β3)))) + β4 x + β5, clipped to 1..5."""

    beta: tuple[float, float, float, float, float]

    def raw(self, values: Numbers) -> Numbers:
        b1, b2, b3, b4, b5 = self.beta
        steepness = np.clip(b2 * (values - b3), -500, 500)
        return np.asarray(b1 * (0.5 - 1 / (1 + np.exp(steepness))) + b4 * values + b5)

    def __call__(self, values: Numbers) -> Numbers:
        return np.clip(self.raw(values), 1, 5)


@dataclass(frozen=True)
class Anchors:
    """Raw values with known grades: 5 at best, above 4.6 from excellent, below 1.4 from terrible, 1 at worst."""

    best: float
    excellent: float
    terrible: float
    worst: float

    @property
    def direction(self) -> float:
        return 1.0 if self.best > self.worst else -1.0


def fit_curve(values: Numbers, labels: Numbers, anchors: Anchors) -> Curve:
    """Least squares of the clipped curve. β1 β2 ≥ 0 and β4 ≥ 0 (in the direction of quality) make it monotone."""
    from scipy.optimize import least_squares  # imported here, because using a fitted curve needs no scipy

    direction, centre, spread = anchors.direction, float(np.median(values)), float(np.std(values))
    points = direction * (values - centre) / spread
    fixed = np.array([anchors.best, anchors.excellent, anchors.terrible, anchors.worst])
    fixed = direction * (fixed - centre) / spread
    # An anchor has the weight of all ratings together, so the curve meets it within a hundredth of a grade.
    weight = 3 * np.sqrt(len(values))

    def residuals(beta: Numbers) -> Numbers:
        curve = Curve(tuple(beta))
        ends = curve.raw(fixed)
        broken = np.maximum(0, [4.98 - ends[0], 4.62 - ends[1], ends[2] - 1.38, ends[3] - 1.02])
        return np.concatenate([curve(points) - labels, weight * broken])

    low, high = [0, 0.05, -8, 0, -10], [12, 3, 8, 5, 15]  # steeper steps than 3 overfit the levels of a data set
    starts = [
        (4.0, steepness, middle, slope, 3.0)
        for steepness in (0.5, 1, 2.5)
        for middle in (-1, 0, 1)
        for slope in (0.05, 0.5)
    ]
    fits = [least_squares(residuals, start, bounds=(low, high)) for start in starts]
    b1, b2, b3, b4, b5 = min(fits, key=lambda fit: float(fit.cost)).x
    scaled = (
        b1,
        direction * b2 / spread,
        centre + direction * b3 * spread,
        direction * b4 / spread,
        b5 - direction * b4 * centre / spread,
    )
    return Curve(tuple(float(f"{value:.6g}") for value in scaled))  # type: ignore[arg-type]
