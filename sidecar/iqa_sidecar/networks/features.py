"""EfficientNet-Lite0 features of an image, the input of the learned tools; cached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..imaging.downsampling import shrink_to
from ..imaging.image import Image
from .catalogue import EFFICIENTNET
from .runtime import run_network

Features = NDArray[np.float32]

# Per region: for each layer the means, then the deviations of its channels.
REGION_FEATURES = 6176
# The whole image, then its centre.
FEATURE_COUNT = 2 * REGION_FEATURES
# Larger images are reduced to this size (about 0.2 s on one core). Features depend on scale, so training uses this
# function too.
LARGEST_PIXELS = 1_048_576
# Pixels; five halvings leave one value in the last layer.
SMALLEST_SIDE = 32


def efficientnet_features(image: Image) -> Features:
    """12,352 numbers, computed once per request."""
    return image.derive(_compute)


def _compute(image: Image) -> Features:
    pixels = shrink_to(image.bgr, LARGEST_PIXELS)
    features: Features = run_network(EFFICIENTNET, pixels[None])["features"][0]
    features.flags.writeable = False
    return features
