"""VSI: similarity of visual saliency, gradients and chroma, weighted by the saliency.

References:
    L. Zhang, Y. Shen, H. Li, "VSI: a visual saliency-induced index for perceptual image quality assessment",
    IEEE Transactions on Image Processing, 2014. https://doi.org/10.1109/TIP.2014.2346028
"""

import numpy as np

from ..imaging.image import Pair, Plane
from .functional.pooling import weighted_mean
from .functional.saliency import find_saliency
from .functional.similarity import (
    SCHARR,
    gradient_energy,
    mix_channels,
    real_power,
    similarity,
    similarity_of_squares,
)
from .tool import Result, Tool, require_reference

# L, M and N from blue, green and red.
_OPPONENT = np.array([[0.27, 0.63, 0.06], [-0.35, 0.04, 0.30], [0.17, -0.60, 0.34]], np.float32)
_SALIENCY, _GRADIENT, _CHROMA = 1.27, 386.0, 130.0
_GRADIENT_WEIGHT, _CHROMA_WEIGHT = 0.4, 0.02


def score(pair: Pair, wants_map: bool) -> Result:
    """Σ S VS / Σ VS with the larger saliency of the two; 1 is best."""
    local, weight = pair.local_map(_compare)
    return weighted_mean(pair, local, weight, pair.image.viewing_factor, wants_map)


def _compare(pair: Pair) -> tuple[Plane, Plane]:
    image, reference = pair.image, require_reference(pair)
    factor = image.viewing_factor
    saliency, other_saliency = find_saliency(image.bgr, factor), find_saliency(reference.bgr, factor)
    (light, first, second), (other_light, other_first, other_second) = (
        mix_channels(each.reduced, _OPPONENT) for each in (image, reference)
    )
    local = similarity(first, other_first, _CHROMA)
    local *= similarity(second, other_second, _CHROMA)
    real_power(local, _CHROMA_WEIGHT)
    local *= real_power(
        similarity_of_squares(gradient_energy(light, SCHARR), gradient_energy(other_light, SCHARR), _GRADIENT),
        _GRADIENT_WEIGHT,
    )
    local *= similarity(saliency, other_saliency, _SALIENCY)
    return local, np.maximum(saliency, other_saliency)


TOOL = Tool(name="VSI", version="1.0.1", needs_reference=True, min_side=16, has_map=True, pools_map=True, score=score)
