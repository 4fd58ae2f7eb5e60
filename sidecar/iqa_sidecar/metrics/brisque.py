"""BRISQUE: 36 natural-scene features and a support-vector regression of our own.

References:
    A. Mittal, A. K. Moorthy, A. C. Bovik, "No-reference image quality assessment in the spatial domain",
    IEEE Transactions on Image Processing, 2012. https://doi.org/10.1109/TIP.2012.2214050
"""

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Pair, Plane
from ..imaging.tiling import split_rows
from .functional.natural_scene import (
    Vector,
    fit_asymmetric,
    fit_symmetric,
    halve_bicubic,
    neighbour_products,
    normalise,
    sum_sides,
)
from .tool import Result, Tool

_REGRESSION_FILE = Path(__file__).parents[1] / "data" / "brisque_svr.npz"


def features(image: Image) -> Vector:
    """18 features at full and 18 at half size; NaN where the image has no structure at all."""
    return np.concatenate([_scale_features(image.luma), _scale_features(halve_bicubic(image.luma))])


def _scale_features(luma: Plane) -> Vector:
    # Zeros outside the image, as in the authors' filter.
    mscn = normalise(luma, cv2.BORDER_CONSTANT)
    rows, columns = mscn.shape
    sums = np.zeros((4, 6, 1))
    for band in split_rows(rows, columns):
        # Row -1 is the last: the products wrap around the image.
        products = neighbour_products(mscn[band], mscn[band.start - 1], columns)
        for total, product in zip(sums, products, strict=True):
            total += sum_sides(product, columns)
    values = [*fit_symmetric(mscn)]
    for total in sums:
        fit = fit_asymmetric(total)
        values += [fit.shape[0], fit.mean[0], fit.left[0] ** 2, fit.right[0] ** 2]
    return np.array(values)


@dataclass(frozen=True, slots=True)
class Regression:
    """ε-SVR with the kernel exp(-γ |u - v|²) on features scaled to -1..1."""

    support_vectors: NDArray[np.float32]
    dual_coefficients: Vector
    intercept: float
    gamma: float
    feature_minimum: Vector
    feature_maximum: Vector

    @classmethod
    def load(cls, file: Path) -> "Regression":
        with np.load(file, allow_pickle=False) as arrays:
            return cls(
                arrays["support_vectors"],
                arrays["dual_coefficients"].astype(np.float64),
                float(arrays["intercept"]),
                float(arrays["gamma"]),
                arrays["feature_minimum"].astype(np.float64),
                arrays["feature_maximum"].astype(np.float64),
            )

    def predict(self, values: Vector) -> float:
        scaled = 2 * (values - self.feature_minimum) / (self.feature_maximum - self.feature_minimum) - 1
        distance = np.sum((self.support_vectors - scaled) ** 2, axis=1)
        return float(self.dual_coefficients @ np.exp(-self.gamma * distance) + self.intercept)


def create_tool(regression: Regression) -> Tool:
    def score(pair: Pair, _wants_map: bool) -> Result:
        """0..100, 0 is best."""
        luma = pair.image.luma
        # A flat image has edges only against the zeros outside: not defined.
        if float(luma.max()) - float(luma.min()) < 1:
            return Result(math.nan)
        value = regression.predict(features(pair.image))
        return Result(min(100.0, max(0.0, value)))

    return Tool(name="BRISQUE", version="1.0.1", needs_reference=False, min_side=32, has_map=False, score=score)


TOOL = create_tool(Regression.load(_REGRESSION_FILE))
