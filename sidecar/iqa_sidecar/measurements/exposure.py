"""Exposure and tonal range from the histogram of luma."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image
from .measurement import Measurement, Values

# Gray levels at either end that count as clipped: codecs spread black and white over a few levels.
_CLIPPED_LEVELS = 4

MEASUREMENTS = (
    Measurement("mean_luminance", "grey levels", 0, 255, "mean luma"),
    Measurement("shadow_clipping", "fraction", 0, 1, "pixels whose luma is 0..3"),
    Measurement("highlight_clipping", "fraction", 0, 1, "pixels whose luma is 252..255"),
    Measurement("rms_contrast", "fraction", 0, 0.5, "standard deviation of luma as a fraction of full scale"),
    Measurement("black_level", "grey levels", 0, 255, "1st percentile of luma"),
    Measurement("white_level", "grey levels", 0, 255, "99th percentile of luma"),
    Measurement("dynamic_range", "grey levels", 0, 255, "99th minus 1st percentile of luma"),
)


def measure_exposure(image: Image) -> Values:
    counts = cv2.calcHist([image.luma_bytes], [0], None, [256], [0, 256]).ravel()
    share = counts.astype(np.float64) / image.luma_bytes.size
    levels = np.arange(256)
    mean = float(share @ levels)
    black, white = _percentile(share, 0.01), _percentile(share, 0.99)
    return {
        "mean_luminance": mean,
        "shadow_clipping": float(share[:_CLIPPED_LEVELS].sum()),
        "highlight_clipping": float(share[-_CLIPPED_LEVELS:].sum()),
        "rms_contrast": float(np.sqrt(share @ (levels - mean) ** 2)) / 255,
        "black_level": float(black),
        "white_level": float(white),
        "dynamic_range": float(white - black),
    }


def _percentile(share: NDArray[np.float64], fraction: float) -> int:
    return int(np.searchsorted(np.cumsum(share), fraction))
