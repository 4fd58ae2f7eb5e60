"""How learned tools see a picture: the network's features, layer by layer, turned to the few directions that matter."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..networks.building.efficientnet import CHANNELS
from ..networks.features import REGION_FEATURES
from .model_files import Arrays

Vector = NDArray[np.float32]

# Each layer's features of one region, means and deviations together.
LAYERS = tuple(
    slice(end - 2 * count, end) for count, end in zip(CHANNELS, accumulate(2 * c for c in CHANNELS), strict=True)
)


@dataclass(frozen=True, slots=True)
class View:
    """Roots of the features, standardised, then each layer's principal directions (no labels are behind them)."""

    center: Vector
    scale: Vector
    # All layers' features of a region, rows as in the feature vector; a layer's own columns, the telling ones first.
    basis: NDArray[np.float32]

    @classmethod
    def of(cls, arrays: Arrays) -> View:
        return cls(*(np.asarray(arrays[name], np.float32) for name in ("center", "scale", "basis")))

    def project(self, features: NDArray[np.float32], regions: int, directions: int) -> NDArray[np.float32]:
        """One row per picture: so many numbers per layer, layer after layer, of the whole, then of its centre."""
        rows = signed_root(np.atleast_2d(features))
        seen = []
        for start in range(0, regions * REGION_FEATURES, REGION_FEATURES):
            # The centre by the same measure as the whole: what differs between them is what it tells.
            standard = (rows[:, start : start + REGION_FEATURES] - self.center) / self.scale
            seen += [standard[:, layer] @ self.basis[layer, :directions] for layer in LAYERS]
        return np.concatenate(seen, axis=1)


def signed_root(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """A few channels answer a hundred times stronger than the others: the root lets all of them count."""
    return np.asarray(np.sign(features) * np.sqrt(np.abs(features)), np.float32)
