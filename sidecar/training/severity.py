"""The severity rules of src/reasoners/embedded/findings/ in Python, for fit_thresholds.py."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from training.tables import Numbers, Table

CATEGORIES = ("Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast")


@dataclass(frozen=True)
class Unless:
    """Ignores the indicator where another measurement (the scene explains it) is below or above a value.

    With a reference, which shows the scene better, it applies only if `always`.
    """

    measurement: str
    below: float | None = None
    above: float | None = None
    always: bool = False

    def holds(self, values: Numbers) -> np.typing.NDArray[np.bool_]:
        held = np.zeros(len(values), bool)
        if self.below is not None:
            held |= values < self.below
        if self.above is not None:
            held |= values > self.above
        return held


@dataclass(frozen=True)
class Indicator:
    """One measurement that indicates one category. `made_by`: the synthetic distortions that its cuts are fitted to."""

    category: str
    measurement: str
    side: str
    made_by: tuple[str, ...]
    unless: Unless | None = None
    # Fitted: where slight, moderate, severe and extreme begin, and where most good photos lie.
    cuts: tuple[float, ...] = field(default=())
    clean: tuple[float, float] = (0.0, 0.0)

    @property
    def sign(self) -> float:
        return 1.0 if self.side == "above" else -1.0

    @property
    def edge(self) -> float:
        return self.clean[1] if self.side == "above" else self.clean[0]

    def values(self, table: Table) -> Numbers:
        return table.numbers(f"measurement:{self.measurement}")

    def is_explained(self, table: Table) -> np.typing.NDArray[np.bool_]:
        if self.unless is None:
            return np.zeros(len(table), bool)
        return self.unless.holds(table.numbers(f"measurement:{self.unless.measurement}"))

    def grade(self, table: Table, references: Table | None = None) -> Numbers:
        """0 at the edge of the clean range, 1..4 at the cuts, straight lines between, at most 5; 0 without a value."""
        values = self.sign * self.values(table)
        points = self.sign * np.array([self.edge, *self.cuts])
        silent = ~np.isfinite(values) | self.is_explained(table)
        if references is not None:
            # With a reference only the change counts, measured from the edge of the clean range.
            originals = self.sign * self.values(references)
            values = np.where(np.isfinite(originals), points[0] + values - originals, values)
            silent = ~np.isfinite(values)
            if self.unless is not None and self.unless.always:
                silent |= self.is_explained(table)
        strengths = np.interp(values, [*points, 2 * points[-1] - points[-2]], [0, 1, 2, 3, 4, 5])
        return np.where(silent, 0.0, strengths)

    def as_yaml(self) -> str:
        unless = ""
        if self.unless is not None:
            below, above = (("null" if value is None else value) for value in (self.unless.below, self.unless.above))
            unless = f", unless: {{ measurement: {self.unless.measurement}, below: {below}, above: {above}"
            unless += ", always: true }" if self.unless.always else " }"
        cuts = ", ".join(f"{cut:g}" for cut in self.cuts)
        clean = ", ".join(f"{value:g}" for value in self.clean)
        return f"measurement: {self.measurement}, side: {self.side}, cuts: [{cuts}], clean: [{clean}]{unless}"


def grade_categories(indicators: tuple[Indicator, ...], table: Table, references: Table | None = None) -> Numbers:
    """One row per image, one column per category (as in CATEGORIES): the strongest indicator."""
    columns = []
    for category in CATEGORIES:
        own = [indicator.grade(table, references) for indicator in indicators if indicator.category == category]
        columns.append(np.max(own, axis=0))
    return np.column_stack(columns)
