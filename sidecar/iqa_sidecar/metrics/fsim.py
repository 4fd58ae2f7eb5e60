"""FSIM with chroma (FSIMc): similarity of phase congruency, gradients and chroma, weighted by phase congruency.

References:
    L. Zhang, L. Zhang, X. Mou, D. Zhang, "FSIM: a feature similarity index for image quality assessment",
    IEEE Transactions on Image Processing, 2011. https://doi.org/10.1109/TIP.2011.2109730
"""

import numpy as np

from ..imaging.image import Pair, Plane
from .functional.phase_congruency import phase_congruency
from .functional.pooling import weighted_mean
from .functional.similarity import (
    SCHARR,
    gradient_energy,
    mix_channels,
    real_power,
    similarity,
    similarity_of_squares,
)
from .tool import Result, Tool, require_reference

_YIQ = np.array([[0.114, 0.587, 0.299], [-0.322, -0.274, 0.596], [0.312, -0.523, 0.211]], np.float32)
_CONGRUENCY, _GRADIENT, _CHROMA = 0.85, 160.0, 200.0
# The exponent of the chroma similarities.
_CHROMA_WEIGHT = 0.03


def score(pair: Pair, wants_map: bool) -> Result:
    """Σ S PC / Σ PC with the larger congruency of the two; 1 is best."""
    local, weight = pair.local_map(_compare)
    return weighted_mean(pair, local, weight, pair.image.viewing_factor, wants_map)


def _compare(pair: Pair) -> tuple[Plane, Plane]:
    image, reference = pair.image, require_reference(pair)
    (luma, first, second), (other_luma, other_first, other_second) = (
        mix_channels(each.reduced, _YIQ) for each in (image, reference)
    )
    congruency, other_congruency = phase_congruency(luma), phase_congruency(other_luma)
    local = similarity(first, other_first, _CHROMA)
    local *= similarity(second, other_second, _CHROMA)
    real_power(local, _CHROMA_WEIGHT)
    local *= similarity_of_squares(gradient_energy(luma, SCHARR), gradient_energy(other_luma, SCHARR), _GRADIENT)
    local *= similarity(congruency, other_congruency, _CONGRUENCY)
    return local, np.maximum(congruency, other_congruency)


TOOL = Tool(name="FSIM", version="1.0.1", needs_reference=True, min_side=16, has_map=True, pools_map=True, score=score)
