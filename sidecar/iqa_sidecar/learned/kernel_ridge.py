"""Kernel ridge regression over groups of features, with landmarks chosen from the training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .model_files import Arrays

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Kernel:
    """(mean over groups of exp(-γ |u - v|^exponent))^power; a group is a network layer or one kind of feature."""

    # First column of each group.
    starts: NDArray[np.int64]
    gamma: Matrix
    power: int
    exponent: float = 2.0

    def evaluate(self, rows: Matrix, landmarks: Matrix) -> Matrix:
        ends = [*self.starts[1:].tolist(), rows.shape[1]]
        similarity = np.zeros((len(rows), len(landmarks)), np.float32)
        for start, end, gamma in zip(self.starts.tolist(), ends, self.gamma.tolist(), strict=True):
            distances = squared_distances(rows[:, start:end], landmarks[:, start:end])
            similarity += np.exp(-gamma * (distances if self.exponent == 2 else distances ** (self.exponent / 2)))
        return np.asarray((similarity / len(ends)) ** self.power, np.float32)


@dataclass(frozen=True, slots=True)
class KernelRidge:
    kernel: Kernel
    landmarks: Matrix
    # Landmarks × outputs.
    weights: Matrix
    offset: Matrix

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> KernelRidge:
        """Landmarks are stored as bytes with a scale per column: a quarter of the size, with the same ranks."""
        kernel = Kernel(
            np.asarray(arrays["starts"], np.int64),
            np.asarray(arrays["gamma"], np.float32),
            int(arrays["power"]),
            # Missing in older files.
            float(arrays["exponent"]) if "exponent" in arrays else 2.0,
        )
        landmarks = arrays["landmarks"].astype(np.float32) * arrays["landmark_scale"].astype(np.float32)
        return cls(
            kernel, landmarks, np.asarray(arrays["weights"], np.float32), np.asarray(arrays["offset"], np.float32)
        )

    def predict(self, rows: Matrix) -> Matrix:
        """One row of outputs per row."""
        return np.asarray(self.kernel.evaluate(rows, self.landmarks) @ self.weights + self.offset, np.float32)


def squared_distances(left: Matrix, right: Matrix) -> Matrix:
    squares = (left * left).sum(1)[:, None] + (right * right).sum(1)[None]
    return np.asarray(np.maximum(squares - 2 * (left @ right.T), 0), np.float32)
