"""Cross-validation by source image, and the figures that every fit reports."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.tables import Numbers, Texts


def split_groups(groups: Texts, folds: int = 5) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """(training rows, held-out rows); versions of one image are on one side, and the split is fixed."""
    order = sorted(set(groups.tolist()), key=lambda group: zlib.crc32(group.encode()))
    fold_of = {group: index % folds for index, group in enumerate(order)}
    fold = np.array([fold_of[group] for group in groups.tolist()])
    for index in range(folds):
        yield fold != index, fold == index


@dataclass(frozen=True)
class Agreement:
    rmse: float
    srcc: float
    plcc: float
    count: int

    def __str__(self) -> str:
        return f"RMSE {self.rmse:.3f}  SRCC {self.srcc:.3f}  PLCC {self.plcc:.3f}  (n = {self.count})"


def agree(predicted: Numbers, labels: Numbers) -> Agreement:
    from scipy.stats import pearsonr  # imported here, because splitting needs no scipy

    rmse = float(np.sqrt(np.mean((predicted - labels) ** 2)))
    return Agreement(rmse, rank_correlation(predicted, labels), float(pearsonr(predicted, labels)[0]), len(labels))


def rank_correlation(left: Numbers, right: Numbers) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(left, right)[0])
