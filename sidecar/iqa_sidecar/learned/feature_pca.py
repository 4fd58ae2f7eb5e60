"""Principal component analysis (PCA) of the network's features, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..networks.building.efficientnet import CHANNELS
from ..networks.features import REGION_FEATURES
from .model_files import Arrays

Vector = NDArray[np.float32]

# Of one region: each layer's means and deviations.
LAYERS = tuple(
    slice(end - 2 * count, end) for count, end in zip(CHANNELS, accumulate(2 * c for c in CHANNELS), strict=True)
)


@dataclass(frozen=True, slots=True)
class FeaturePca:
    """Takes signed square roots of the features, standardises them and projects each layer on its components."""

    center: Vector
    scale: Vector
    # Rows as in a region's feature vector; columns are the components of the row's own layer, largest variance first.
    basis: NDArray[np.float32]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> FeaturePca:
        return cls(*(np.asarray(arrays[name], np.float32) for name in ("center", "scale", "basis")))

    def project(self, features: NDArray[np.float32], regions: int, components: int) -> NDArray[np.float32]:
        """One row per image: `components` numbers per layer, of the whole image, then of its centre."""
        rows = signed_root(np.atleast_2d(features))
        projected = []
        for start in range(0, regions * REGION_FEATURES, REGION_FEATURES):
            # The centre uses the same centring and scale as the whole image, so that they can be compared.
            standard = (rows[:, start : start + REGION_FEATURES] - self.center) / self.scale
            projected += [standard[:, layer] @ self.basis[layer, :components] for layer in LAYERS]
        return np.concatenate(projected, axis=1)


def signed_root(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """A few channels are a hundred times stronger than the others; the root reduces their weight."""
    return np.asarray(np.sign(features) * np.sqrt(np.abs(features)), np.float32)
