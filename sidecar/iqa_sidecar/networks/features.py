"""What EfficientNet-Lite0 sees in an image: the vector that learned tools score, computed once for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..imaging.downsampling import shrink_to
from ..imaging.image import Image
from .catalogue import EFFICIENTNET
from .runtime import run_network

Features = NDArray[np.float32]

# Of a region: means, then deviations of every layer's channels, layer by layer.
REGION_FEATURES = 6176
# The whole image's, then its centre's.
FEATURE_COUNT = 2 * REGION_FEATURES
# Larger images are reduced to it: about 0.2 s of one core. Features change with scale, so whoever fits a tool on them
# takes them from here.
LARGEST_PIXELS = 1_048_576
# Pixels; five halvings leave a place for the last layer's statistics.
SMALLEST_SIDE = 32


def efficientnet_features(image: Image) -> Features:
    """12,352 numbers; the same array for every tool that asks in one request."""
    return image.derive(_compute)


def _compute(image: Image) -> Features:
    pixels = shrink_to(image.bgr, LARGEST_PIXELS)
    features: Features = run_network(EFFICIENTNET, pixels[None])["features"][0]
    features.flags.writeable = False
    return features
