"""MDSI: mean deviation of the local similarity of gradients and chroma.

References:
    H. Z. Nafchi, A. Shahkolaei, R. Hedjam, M. Cheriet, "Mean deviation similarity index: efficient and reliable
    full-reference image quality evaluator", IEEE Access, 2016. https://doi.org/10.1109/ACCESS.2016.2604042
"""

import numpy as np

from ..imaging.image import Pair, Plane
from .functional.pooling import inside, total_of
from .functional.similarity import PREWITT, gradient_energy, mix_channels, similarity_of_squares
from .tool import Result, Tool, require_reference

# Luminance, H and M from blue, green and red.
_OPPONENT = np.array([[0.1140, 0.5870, 0.2989], [-0.35, 0.04, 0.30], [0.17, -0.60, 0.34]], np.float32)
_PAIR, _FUSED, _CHROMA = 140.0, 55.0, np.float32(550)
_GRADIENT_WEIGHT = np.float32(0.6)


def score(pair: Pair, wants_map: bool) -> Result:
    """mean(|q - mean(q)|)^¼ with q the fourth root of the local similarity; 0 is best."""
    whole = pair.local_map(_compare)
    local = inside(pair, whole, pair.image.viewing_factor)
    return Result(_deviation(local) ** 0.25, np.clip(local, 0, 1) if wants_map else None)


def _compare(pair: Pair) -> Plane:
    image, reference = pair.image, require_reference(pair)
    (luma, first, second), (other_luma, other_first, other_second) = (
        mix_channels(each.reduced, _OPPONENT) for each in (image, reference)
    )
    gradient, other_gradient = gradient_energy(luma, PREWITT), gradient_energy(other_luma, PREWITT)
    fused = gradient_energy((luma + other_luma) * np.float32(0.5), PREWITT)
    local = similarity_of_squares(other_gradient, gradient, _PAIR)
    # The similarity of the image to the mean of both, minus that of the reference: a lost edge weighs more than an
    # added one.
    local += similarity_of_squares(gradient, fused, _FUSED)
    local -= similarity_of_squares(other_gradient, fused, _FUSED)
    local *= _GRADIENT_WEIGHT
    local += _chroma_similarity(first, second, other_first, other_second)
    return local


def _chroma_similarity(first: Plane, second: Plane, other_first: Plane, other_second: Plane) -> Plane:
    """Both planes in one ratio, times its weight."""
    agreement = first * other_first
    agreement += second * other_second
    agreement *= 2
    agreement += _CHROMA
    # Summed in this order, so that equal images give exactly 1.
    energy = first * first
    energy += second * second
    other_energy = other_first * other_first
    other_energy += other_second * other_second
    energy += other_energy
    energy += _CHROMA
    agreement /= energy
    agreement *= 1 - _GRADIENT_WEIGHT
    return agreement


def _deviation(local: Plane) -> float:
    """Mean absolute deviation of the fourth roots, which are complex where the similarity is negative."""
    roots = np.sqrt(np.sqrt(np.abs(local)))
    negative = local < 0
    if not negative.any():
        roots -= np.float32(total_of(roots) / roots.size)
        return total_of(np.abs(roots, out=roots)) / roots.size
    turned = roots.astype(np.complex64)
    turned[negative] *= np.complex64(np.exp(0.25j * np.pi))
    turned -= turned.mean(dtype=np.complex128)
    return float(np.abs(turned).mean(dtype=np.float64))


TOOL = Tool(name="MDSI", version="1.0.0", needs_reference=True, min_side=16, has_map=True, pools_map=True, score=score)
