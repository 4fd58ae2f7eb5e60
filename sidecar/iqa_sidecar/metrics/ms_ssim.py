"""MS-SSIM: contrast and structure at five scales, luminance at the last.

References:
    Z. Wang, E. P. Simoncelli, A. C. Bovik, "Multiscale structural similarity for image quality assessment",
    Asilomar Conference on Signals, Systems and Computers, 2003. https://doi.org/10.1109/ACSSC.2003.1292216
"""

import numpy as np

from ..imaging.image import Pair, halve
from .ssim import WINDOW_SIDE, compare, finest_means
from .tool import Result, Tool, require_reference

# The paper's exponents, from the finest scale to the coarsest.
_WEIGHTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])


def score(pair: Pair, _wants_map: bool) -> Result:
    """Weighted sum of the scales' means, the "wtd_sum" of the authors' code: defined where structures are opposite,
    which the paper's product of powers is not."""
    scales = [finest_means(pair)[1]]
    image, reference = pair.image.half_luma, require_reference(pair).half_luma
    for level in range(1, len(_WEIGHTS)):
        if level > 1:
            image, reference = halve(image), halve(reference)
        local = compare(image, reference)
        last = level == len(_WEIGHTS) - 1
        scales.append(local.similarity if last else local.contrast_structure)
    # Summed as 1 - similarity, because the sum of the weights is not exactly 1.
    return Result(1 - float(_WEIGHTS @ (1 - np.array(scales)) / _WEIGHTS.sum()))


# The smallest side whose fifth scale (halved four times, rounded up) holds one window.
_MIN_SIDE = (WINDOW_SIDE - 1) * 2 ** (len(_WEIGHTS) - 1) + 1

TOOL = Tool(name="MS-SSIM", version="2.0.1", needs_reference=True, min_side=_MIN_SIDE, has_map=False, score=score)
