"""Fits what `iqa_sidecar.learned` runs: the PCA of the network's features, and kernel ridge models on landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.learned.feature_pca import LAYERS, FeaturePca, signed_root
from iqa_sidecar.learned.kernel_ridge import Kernel, squared_distances
from iqa_sidecar.learned.model_files import Arrays
from iqa_sidecar.learned.predictors import Standardizer
from iqa_sidecar.networks.features import REGION_FEATURES

Matrix = NDArray[np.float32]
SEED = 20261117
# Per layer of the network.
COMPONENTS = 64


def fit_pca(features: Matrix) -> FeaturePca:
    """From features of whole images, without labels."""
    roots = signed_root(features[:, :REGION_FEATURES])
    center, scale = roots.mean(0), roots.std(0) + 1e-4
    standard = (roots - center) / scale
    basis = np.zeros((REGION_FEATURES, COMPONENTS), np.float32)
    for layer in LAYERS:
        _values, vectors = np.linalg.eigh(standard[:, layer].T @ standard[:, layer])
        chosen = vectors[:, ::-1][:, :COMPONENTS]
        basis[layer, : chosen.shape[1]] = chosen
    # Rounded as in the stored file.
    return FeaturePca(*(np.asarray(values, np.float16).astype(np.float32) for values in (center, scale, basis)))


def fit_standardizer(rows: Matrix) -> Standardizer:
    median = np.nanmedian(rows, 0)
    known = np.where(np.isfinite(rows), rows, median)
    return Standardizer(*(np.asarray(v, np.float32) for v in (median, known.mean(0), known.std(0) + 1e-6)))


def median_gamma(rows: Matrix, factor: float, exponent: float = 2.0) -> float:
    """γ for which the kernel is e^-factor at the median distance of two rows."""
    sample = rows[np.random.default_rng(SEED).permutation(len(rows))[:1500]]
    return factor / float(np.median(squared_distances(sample, sample)) ** (exponent / 2))


def choose(count: int, most: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(SEED).permutation(count)[:most])


@dataclass(frozen=True)
class KernelRidgeFit:
    """A kernel and its landmarks as stored; weights of different outputs may be fitted on different rows."""

    kernel: Kernel
    landmark_bytes: NDArray[np.int8]
    landmark_scale: Matrix

    @classmethod
    def build(cls, kernel: Kernel, landmarks: Matrix, one_scale_per_group: bool = False) -> KernelRidgeFit:
        """One scale per group makes the compressed file smaller: columns that hardly vary take few bits."""
        largest = np.abs(landmarks).max(0)
        if one_scale_per_group:
            widths = np.diff([*kernel.starts.tolist(), landmarks.shape[1]])
            largest = np.repeat(np.maximum.reduceat(largest, kernel.starts), widths)
        scale = np.maximum(largest, 1e-6) / 127
        return cls(kernel, np.asarray(np.rint(landmarks / scale), np.int8), np.asarray(scale, np.float32))

    @property
    def landmarks(self) -> Matrix:
        return np.asarray(self.landmark_bytes * self.landmark_scale, np.float32)

    def evaluate(self, rows: Matrix) -> NDArray[np.float64]:
        return self.kernel.evaluate(rows, self.landmarks).astype(np.float64)

    def fit_weights(
        self, similarity: NDArray[np.float64], labels: NDArray[np.float64], ridge: float
    ) -> NDArray[np.float64]:
        """Ridge regression in the space that the landmarks span (Nyström)."""
        among = self.evaluate(self.landmarks)
        normal = similarity.T @ similarity + ridge * among + 1e-5 * np.eye(len(among))
        return np.asarray(np.linalg.solve(normal, similarity.T @ labels))

    def arrays(self, weights: NDArray[np.float64], offset: list[float], standard: Standardizer) -> Arrays:
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


def standardize(standard: Standardizer, rows: Matrix) -> Matrix:
    return np.stack([standard.apply(row) for row in rows])


def build_rows(
    pca: FeaturePca, features: Matrix, layout: tuple[int, int], standard: Standardizer, measured: Matrix
) -> Matrix:
    """Input rows of a no-reference model; for the layout see `get_projection_layout`."""
    return np.concatenate([pca.project(features, *layout), standardize(standard, measured)], 1)


def save(path: Path, arrays: Arrays) -> None:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def save_pca(path: Path, pca: FeaturePca) -> None:
    save(
        path,
        {
            "center": pca.center.astype(np.float16),
            "scale": pca.scale.astype(np.float16),
            "basis": pca.basis.astype(np.float16),
        },
    )
