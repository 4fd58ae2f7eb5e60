"""What the learned machines are given: measurements, metrics and comparisons, on scales without long tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Picture
from ..measurements import Values, measure
from ..metrics import gmsd, haarpsi, mdsi, psnr, ssim, vsi
from .pair_features import compare_pictures

Row = NDArray[np.float32]

# In the order of the fitted files, with what they are multiplied by before the logarithm: shares count in per cent.
MEASURED: dict[str, float] = {
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
PANEL = (psnr, ssim, gmsd, vsi, mdsi, haarpsi)


def measured_row(picture: Picture) -> Row:
    """NaN where these pixels define no value; the machine puts its own median there."""
    return row_of(measure(picture, None))


def row_of(values: Values) -> Row:
    numbers = ((values.get(name), factor) for name, factor in MEASURED.items())
    return np.array(
        [np.nan if value is None else np.log1p(abs(value) * factor) for value, factor in numbers], np.float32
    )


def compared_row(pair: Pair) -> Row:
    """Six metrics and plain comparisons of the two pictures; the same array for every machine that asks."""
    return pair.share("compared-row", lambda: _compare_by_all(pair))


def _compare_by_all(pair: Pair) -> Row:
    values = {module.TOOL.name: module.TOOL.score(pair, False).value for module in PANEL}
    return np.concatenate([metric_row(values), compare_pictures(pair)])


def metric_row(values: dict[str, float]) -> Row:
    """Distances from perfect, on logarithmic scales where values crowd there."""
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
