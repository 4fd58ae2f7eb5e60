"""MS-SSIM of Wang, Simoncelli and Bovik 2003: contrast and structure at five scales, luminance at the last."""

import numpy as np

from ..picture import Pair, halve
from ..tool import Result, Tool, reference_of
from .ssim import WINDOW_SIDE, compare

# The paper's exponents, from the finest scale to the coarsest.
_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def score(pair: Pair, _wants_map: bool) -> Result:
    """Eq. 7 of the paper, with each scale's mean taken before the exponent as in the authors' code."""
    image, reference = pair.image.luma, reference_of(pair).luma
    value = 1.0
    for level, weight in enumerate(_WEIGHTS):
        if level == 1:
            image, reference = pair.image.half_luma, reference_of(pair).half_luma
        elif level > 1:
            image, reference = halve(image), halve(reference)
        local = compare(image, reference)
        similarity = local.contrast_structure
        if level == len(_WEIGHTS) - 1:
            similarity *= local.luminance
        # Opposite structures average below zero, where a fractional power is not real: no similarity at all.
        value *= max(0.0, float(np.mean(similarity, dtype=np.float64))) ** weight
    return Result(value)


# The smallest side whose fifth scale, halved four times and rounded up, still holds one window.
_MIN_SIDE = (WINDOW_SIDE - 1) * 2 ** (len(_WEIGHTS) - 1) + 1

TOOL = Tool(name="MS-SSIM", version="1.0.0", needs_reference=True, min_side=_MIN_SIDE, has_map=False, score=score)
