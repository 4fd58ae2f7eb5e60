"""A regression by likeness: a picture gets what pictures that look like it to the network got, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .model_files import Arrays

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Kernel:
    """(mean over groups of exp(-γ |u - v|^exponent)) to a power; a group is a layer, or what compares one thing."""

    # First column of each group.
    starts: NDArray[np.int64]
    gamma: Matrix
    power: int
    exponent: float = 2.0

    def compare(self, rows: Matrix, landmarks: Matrix) -> Matrix:
        ends = [*self.starts[1:].tolist(), rows.shape[1]]
        likeness = np.zeros((len(rows), len(landmarks)), np.float32)
        for start, end, gamma in zip(self.starts.tolist(), ends, self.gamma.tolist(), strict=True):
            distances = squared_distances(rows[:, start:end], landmarks[:, start:end])
            likeness += np.exp(-gamma * (distances if self.exponent == 2 else distances ** (self.exponent / 2)))
        return np.asarray((likeness / len(ends)) ** self.power, np.float32)


@dataclass(frozen=True, slots=True)
class KernelMachine:
    kernel: Kernel
    landmarks: Matrix
    # Landmarks × outputs.
    weights: Matrix
    offset: Matrix

    @classmethod
    def of(cls, arrays: Arrays) -> KernelMachine:
        """Landmarks are kept as bytes with a scale per column: a quarter of the size, and no rank changes by it."""
        kernel = Kernel(
            np.asarray(arrays["starts"], np.int64),
            np.asarray(arrays["gamma"], np.float32),
            int(arrays["power"]),
            # Files of earlier fits do not say it.
            float(arrays["exponent"]) if "exponent" in arrays else 2.0,
        )
        landmarks = arrays["landmarks"].astype(np.float32) * arrays["landmark_scale"].astype(np.float32)
        return cls(
            kernel, landmarks, np.asarray(arrays["weights"], np.float32), np.asarray(arrays["offset"], np.float32)
        )

    def predict(self, rows: Matrix) -> Matrix:
        """One row of outputs per row."""
        return np.asarray(self.kernel.compare(rows, self.landmarks) @ self.weights + self.offset, np.float32)


def squared_distances(left: Matrix, right: Matrix) -> Matrix:
    squares = (left * left).sum(1)[:, None] + (right * right).sum(1)[None]
    return np.asarray(np.maximum(squares - 2 * (left @ right.T), 0), np.float32)
