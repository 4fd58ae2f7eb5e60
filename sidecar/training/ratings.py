"""Converts ratings to grades from 1 to 5, and reads scale and split of a manifest for `calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.folds import split_groups
from training.tables import Numbers, Table, Texts

Mask = NDArray[np.bool_]
PERCENTILES = (2, 98)


def on_scale(ratings: Numbers, worst: float, best: float) -> Numbers:
    """Maps ratings linearly: worst to 1, best to 5, without clipping."""
    return np.asarray(1 + 4 * (ratings - worst) / (best - worst))


@dataclass(frozen=True)
class Scale:
    """The ratings for 5 and 1. Best may be the lower one: differential ratings fall with quality."""

    best: float
    worst: float
    said: str

    def grade(self, ratings: Numbers) -> Numbers:
        return np.clip(on_scale(ratings, self.worst, self.best), 1, 5)


@dataclass(frozen=True)
class Split:
    """`final`: the rows for the final fit; `parts`: (training, held-out) rows."""

    parts: list[tuple[Mask, Mask]]
    final: Mask
    said: str


def read_rated(path: Path) -> Table:
    """The manifest's rows that have a rating."""
    try:
        table = Table.read([path])
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"Expected a CSV file for --manifest but {path} cannot be read: {error}") from error
    for column in ("file", "mos"):
        if column not in table.columns:
            raise SystemExit(f"Expected a column {column} in {path} but it has {', '.join(table.columns) or 'no rows'}")
    rated = table.where(np.isfinite(read_numbers(table, "mos")))
    if not len(rated):
        raise SystemExit(f"Expected ratings in the column mos of {path} but all are empty")
    return rated


def read_numbers(table: Table, column: str) -> Numbers:
    try:
        return table.numbers(column)
    except ValueError as error:
        raise SystemExit(f"Expected numbers in the column {column} but received another text: {error}") from error


def choose_scale(ratings: Numbers, best: float | None, worst: float | None) -> Scale:
    low, high = (float(f"{value:.4g}") for value in np.percentile(ratings, PERCENTILES))
    chosen = Scale(high if best is None else best, low if worst is None else worst, "")
    if chosen.best == chosen.worst:
        raise SystemExit(f"Expected different ratings for --best and --worst but both are {chosen.best:g}")
    origins = [
        f"MOS {value:g} ({'given' if given is not None else f'percentile {percentile}'})"
        for value, given, percentile in zip((chosen.worst, chosen.best), (worst, best), PERCENTILES, strict=True)
    ]
    return Scale(chosen.best, chosen.worst, f"{origins[0]} to {origins[1]} mapped to 1 to 5")


def read_split(table: Table, split: str) -> Split:
    """`text`: a number of folds, or the column with train or test."""
    groups = group_rows(table)
    if split.isdecimal():
        return split_in_folds(groups, int(split))
    if split not in table.columns:
        raise SystemExit(
            f"Expected a number of folds or a column for --split but received {split}; "
            f"the columns are {', '.join(table.columns)}"
        )
    sides = table.texts(split)
    other = sorted(set(sides.tolist()) - {"train", "test"})
    if other:
        raise SystemExit(f"Expected train or test in the column {split} but received {other[0] or 'an empty cell'}")
    training, test = sides == "train", sides == "test"
    shared = sorted(set(groups[training].tolist()) & set(groups[test].tolist()))
    if shared:
        raise SystemExit(f"Expected every group on one side of {split} but {shared[0]} is in train and in test")
    if not training.any() or not test.any():
        raise SystemExit(f"Expected both train and test in the column {split} but received one of them only")
    return Split([(training, test)], training, f"fitted on train of the column {split}, spread measured on its test")


def split_in_folds(groups: Texts, folds: int) -> Split:
    count = len(set(groups.tolist()))
    if not 2 <= folds <= count:
        raise SystemExit(
            f"Expected 2 to {count} folds for --split (the manifest has {count} groups) but received {folds}"
        )
    parts = list(split_groups(groups, folds))
    return Split(parts, np.ones(len(groups), bool), f"spread measured in {folds} folds by group")


def group_rows(table: Table) -> Texts:
    """Versions of one image are one group; without the column group, rows with the same reference."""
    return np.array([row.get("group") or row.get("reference") or row["file"] for row in table.rows])
