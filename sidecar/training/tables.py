"""CSV tables, the input and output of every step."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Texts = NDArray[np.str_]


class Table:
    """The rows of one or several CSV files; an empty cell is NaN as a number."""

    def __init__(self, rows: Sequence[dict[str, str]]) -> None:
        self.rows = list(rows)
        self.columns = list(self.rows[0]) if self.rows else []

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Table:
        rows: list[dict[str, str]] = []
        for path in paths:
            with path.open(newline="", encoding="utf-8-sig") as stream:  # a byte-order mark, as spreadsheets write it
                rows += list(csv.DictReader(stream))
        return cls(rows)

    def numbers(self, column: str) -> Numbers:
        return np.array([float(row[column]) if row.get(column) else np.nan for row in self.rows])

    def texts(self, column: str) -> Texts:
        return np.array([row.get(column) or "" for row in self.rows])

    def where(self, mask: NDArray[np.bool_]) -> Table:
        return Table([row for row, keep in zip(self.rows, mask, strict=True) if keep])

    def __len__(self) -> int:
        return len(self.rows)


def write_rows(path: Path, rows: Sequence[dict[str, object]], columns: Sequence[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)
