"""Fits what `iqa_sidecar.learned` runs: the view of the network's features, and kernel machines over landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.learned.feature_pca import LAYERS, View, signed_root
from iqa_sidecar.learned.kernel_ridge import Kernel, squared_distances
from iqa_sidecar.learned.model_files import Arrays
from iqa_sidecar.learned.predictors import Standard
from iqa_sidecar.networks.features import REGION_FEATURES

Matrix = NDArray[np.float32]
SEED = 20261117
# Of each layer of the network.
DIRECTIONS = 64


def fit_view(features: Matrix) -> View:
    """By whole pictures; no label is used."""
    roots = signed_root(features[:, :REGION_FEATURES])
    center, scale = roots.mean(0), roots.std(0) + 1e-4
    standard = (roots - center) / scale
    basis = np.zeros((REGION_FEATURES, DIRECTIONS), np.float32)
    for layer in LAYERS:
        _values, vectors = np.linalg.eigh(standard[:, layer].T @ standard[:, layer])
        chosen = vectors[:, ::-1][:, :DIRECTIONS]
        basis[layer, : chosen.shape[1]] = chosen
    # As they will be stored.
    return View(*(np.asarray(values, np.float16).astype(np.float32) for values in (center, scale, basis)))


def fit_standard(rows: Matrix) -> Standard:
    median = np.nanmedian(rows, 0)
    known = np.where(np.isfinite(rows), rows, median)
    return Standard(*(np.asarray(v, np.float32) for v in (median, known.mean(0), known.std(0) + 1e-6)))


def median_gamma(rows: Matrix, factor: float, exponent: float = 2.0) -> float:
    """At the usual distance of two strangers the likeness is e^-factor."""
    sample = rows[np.random.default_rng(SEED).permutation(len(rows))[:1500]]
    return factor / float(np.median(squared_distances(sample, sample)) ** (exponent / 2))


def choose(count: int, most: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(SEED).permutation(count)[:most])


@dataclass(frozen=True)
class Machine:
    """A kernel, its landmarks as they will be stored, and weights for outputs that may be taught by different rows."""

    kernel: Kernel
    landmark_bytes: NDArray[np.int8]
    landmark_scale: Matrix

    @classmethod
    def over(cls, kernel: Kernel, landmarks: Matrix, one_scale_a_group: bool = False) -> Machine:
        """With one scale a group, columns that hardly vary take few bits of the compressed file."""
        largest = np.abs(landmarks).max(0)
        if one_scale_a_group:
            widths = np.diff([*kernel.starts.tolist(), landmarks.shape[1]])
            largest = np.repeat(np.maximum.reduceat(largest, kernel.starts), widths)
        scale = np.maximum(largest, 1e-6) / 127
        return cls(kernel, np.asarray(np.rint(landmarks / scale), np.int8), np.asarray(scale, np.float32))

    @property
    def landmarks(self) -> Matrix:
        return np.asarray(self.landmark_bytes * self.landmark_scale, np.float32)

    def compare(self, rows: Matrix) -> NDArray[np.float64]:
        return self.kernel.compare(rows, self.landmarks).astype(np.float64)

    def teach(self, likeness: NDArray[np.float64], labels: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
        """Ridge regression in the space that the landmarks span (Nyström)."""
        among = self.compare(self.landmarks)
        normal = likeness.T @ likeness + ridge * among + 1e-5 * np.eye(len(among))
        return np.asarray(np.linalg.solve(normal, likeness.T @ labels))

    def arrays(self, weights: NDArray[np.float64], offset: list[float], standard: Standard) -> Arrays:
        return {
            "starts": self.kernel.starts,
            "gamma": self.kernel.gamma,
            "power": np.array(self.kernel.power),
            "exponent": np.array(self.kernel.exponent),
            "landmarks": self.landmark_bytes,
            "landmark_scale": self.landmark_scale,
            "weights": weights.astype(np.float32),
            "offset": np.array(offset, np.float32),
            "median": standard.median,
            "center": standard.center,
            "scale": standard.scale,
        }


def apply_standard(standard: Standard, rows: Matrix) -> Matrix:
    return np.stack([standard.apply(row) for row in rows])


def look(view: View, features: Matrix, layout: tuple[int, int], standard: Standard, measured: Matrix) -> Matrix:
    """What a machine without a reference is given, row by row; for the layout see `layout_of`."""
    return np.concatenate([view.project(features, *layout), apply_standard(standard, measured)], 1)


def save(path: Path, arrays: Arrays) -> None:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def save_view(path: Path, view: View) -> None:
    save(
        path,
        {
            "center": view.center.astype(np.float16),
            "scale": view.scale.astype(np.float16),
            "basis": view.basis.astype(np.float16),
        },
    )
