"""Features of the fitted models: measurements, metrics and comparisons, transformed to scales without long tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Pair
from ..measurements import Values, measure
from ..metrics import gmsd, haarpsi, mdsi, psnr, ssim, vsi
from .pair_features import compare_images

Row = NDArray[np.float32]

# In the order of the fitted files, with the factor before the logarithm: 100 for shares.
MEASUREMENT_FACTORS: dict[str, float] = {
    "edge_width_px": 1,
    "edge_width_sharp_px": 1,
    "halo": 100,
    "blur_anisotropy": 100,
    "sharpness": 100,
    "noise_sigma": 1,
    "chroma_noise_sigma": 1,
    "impulse_fraction": 100,
    "blockiness": 1,
    "ringing": 100,
    "banding": 100,
    "mean_luminance": 1,
    "shadow_clipping": 100,
    "highlight_clipping": 100,
    "rms_contrast": 100,
    "black_level": 1,
    "white_level": 1,
    "dynamic_range": 1,
    "haze": 100,
    "saturation": 100,
    "colorfulness": 1,
    "color_cast": 1,
}
PANEL_METRICS = (psnr, ssim, gmsd, vsi, mdsi, haarpsi)


def measurement_features(image: Image) -> Row:
    """NaN where a measurement is not defined; the model's standardizer puts its median there."""
    return transform_measurements(measure(image, None))


def transform_measurements(values: Values) -> Row:
    numbers = ((values.get(name), factor) for name, factor in MEASUREMENT_FACTORS.items())
    return np.array(
        [np.nan if value is None else np.log1p(abs(value) * factor) for value, factor in numbers], np.float32
    )


def pair_features(pair: Pair) -> Row:
    """Six metrics and the comparisons of `compare_images`."""
    return pair.share(_build_pair_features)


def _build_pair_features(pair: Pair) -> Row:
    values = {module.TOOL.name: module.TOOL.score(pair, False).value for module in PANEL_METRICS}
    return np.concatenate([transform_metrics(values), compare_images(pair)])


def transform_metrics(values: dict[str, float]) -> Row:
    """Distances from perfect; logarithmic where most values are close to perfect."""
    return np.array(
        [
            np.log(101 - values["PSNR"]),
            -np.log(1.001 - values["SSIM"]),
            np.sqrt(values["GMSD"]),
            -np.log(1.0002 - values["VSI"]),
            values["MDSI"],
            -np.log(1.001 - values["HaarPSI"]),
        ],
        np.float32,
    )
