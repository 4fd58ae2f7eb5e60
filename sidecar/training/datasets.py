"""Training sets of the learned tools: rated photographs, graded distortions and rated pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.learned.features import MEASUREMENT_FACTORS, PANEL_METRICS, transform_metrics
from iqa_sidecar.learned.predictors import CATEGORIES
from training.distort import GRAY_MARK
from training.features import read_features
from training.pair_features import read_pair_features
from training.ratings import on_scale
from training.tables import Table

Matrix = NDArray[np.float32]
Labels = NDArray[np.float64]
# Ratings that count as 1 and as 5.
RATING_ENDS = {"livec": (15.0, 85.0), "tid2013": (1.5, 6.1)}


@dataclass(frozen=True)
class TrainingSet:
    """One data set; missing parts are empty arrays."""

    table: Table
    features: Matrix
    measured: Matrix
    compared: Matrix
    labels: Labels

    @property
    def groups(self) -> NDArray[np.str_]:
        return self.table.texts("group")

    def where(self, mask: NDArray[np.bool_]) -> TrainingSet:
        keep = [part[mask] if len(part) else part for part in (self.features, self.measured, self.compared)]
        return TrainingSet(self.table.where(mask), keep[0], keep[1], keep[2], self.labels[mask])


def read_rated_photos(folder: Path) -> TrainingSet:
    table = Table.read([folder / "livec-scored.csv"])
    features = _rows(read_features(folder / "livec-features.npz"), table)
    return TrainingSet(
        table, features, _measured(table), np.empty((0, 0), np.float32), to_levels(table.numbers("mos"), "livec")
    )


def read_rated_pairs(folder: Path) -> TrainingSet:
    table = Table.read([folder / "tid2013-scored.csv"])
    compared = np.c_[_metrics(table), _rows(read_pair_features(folder / "tid2013-compared.npz"), table)]
    labels = to_levels(table.numbers("mos"), "tid2013", clip=False)
    return TrainingSet(table, np.empty((0, 0), np.float32), np.empty((0, 0), np.float32), compared, labels)


def read_graded(folder: Path, with_reference: bool) -> TrainingSet:
    """Labels: see `grade`. Images that a metric is not defined for (flat ones) are left out.

    Without a reference, images that lost all colour are left out: they equal black-and-white photographs, which are
    not distorted. With a reference, black-and-white originals are left out.
    """
    table = Table.read([folder / "synthetic-scored.csv"])
    is_gray = np.char.find(table.texts("reference"), GRAY_MARK) >= 0
    is_colourless = (table.texts("distortion") == "saturation_loss") & (table.numbers("strength") == 5)
    table = table.where(~is_gray if with_reference else ~is_colourless)
    compared = np.c_[_metrics(table), _rows(read_pair_features(folder / "synthetic-compared.npz"), table)]
    features = _rows(read_features(folder / "synthetic-features.npz"), table)
    whole = TrainingSet(table, features, _measured(table), compared, grade(table, compared))
    return whole.where(np.isfinite(compared).all(1))


def to_levels(ratings: Labels, scale: str, clip: bool = True) -> Labels:
    worst, best = RATING_ENDS[scale]
    levels = on_scale(ratings, worst, best)
    return np.clip(levels, 1, 5) if clip else levels


def grade(table: Table, compared: Matrix) -> Labels:
    """Quality 1..5: the mean rank of VSI and MDSI among all images; an original is 5."""
    quality = np.mean([by_rank(values) for values in (compared[:, 3], -compared[:, 4])], axis=0)
    return np.where(table.texts("distortion") == "none", 5.0, quality)


def by_rank(values: NDArray[np.floating]) -> Labels:
    return np.asarray(1 + 4 * np.argsort(np.argsort(values)) / len(values))


def read_strengths(table: Table) -> tuple[Labels, NDArray[np.bool_]]:
    """Per category 0 to 4.5, and a mask of the rows for detectors: originals and rows with a clear category.

    The five strengths lie in the middle of the five severities: 0.5 is not yet visible, 4.5 is extreme.
    """
    strength, category = table.numbers("strength"), table.texts("category")
    labels = np.stack([np.where(category == name, np.maximum(strength - 0.5, 0), 0) for name in CATEGORIES], 1)
    return labels, (category != "") | (table.texts("distortion") == "none")


def scaled_strength(table: Table) -> Labels:
    """5 for an original, 1 for the strongest distortion."""
    return np.asarray(5 - 0.8 * table.numbers("strength"))


def _rows(by_name: dict[str, Matrix], table: Table) -> Matrix:
    return np.stack([by_name[name] for name in table.texts("file").tolist()])


def _measured(table: Table) -> Matrix:
    columns = [
        np.log1p(np.abs(table.numbers(f"measurement:{name}")) * factor) for name, factor in MEASUREMENT_FACTORS.items()
    ]
    return np.stack(columns, 1).astype(np.float32)


def _metrics(table: Table) -> Matrix:
    names = [module.TOOL.name for module in PANEL_METRICS]
    values = {name: table.numbers(f"tool:{name}") for name in names}
    return np.stack([transform_metrics({name: values[name][index] for name in names}) for index in range(len(table))])
