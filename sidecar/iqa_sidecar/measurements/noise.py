"""Noise of luma and chroma on the smoothest parts of the image, and impulse noise.

References:
    J. Immerkær, "Fast noise variance estimation", Computer Vision and Image Understanding, 1996.
    https://doi.org/10.1006/cviu.1996.0060
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Plane
from .measurement import Measurement, Values

_BLOCK = 16
# Second difference in both directions: zero for slopes and straight edges along the axes; noise of σ 1 gives σ 6.
_SECOND_DIFFERENCE = np.array([1, -2, 1], np.float32)
# From the mean of |response| to σ.
_SIGMA = np.float32(np.sqrt(np.pi / 2) / 6)
# Ratio of σ to the 10th percentile of the blocks in pure noise (simulated).
_PERCENTILE_BIAS = 1 / 0.893
# Gray levels; and multiples of the typical deviation, so that white noise does not count.
_SMALLEST_IMPULSE = 40
_IMPULSE_RATIO = 8
_TESTED_IMPULSES = 8_000

MEASUREMENTS = (
    Measurement("noise_sigma", "grey levels", 0, None, "standard deviation of fine luma noise on the smoothest blocks"),
    Measurement("chroma_noise_sigma", "grey levels", 0, None, "the same for Cb and Cr, root mean square of both"),
    Measurement(
        "impulse_fraction", "fraction", 0, 1, "pixels that stand alone among their neighbours (salt and pepper)"
    ),
)


def measure_noise(image: Image) -> Values:
    return {
        "noise_sigma": _noise_sigma(image.luma, image.luma),
        "chroma_noise_sigma": _chroma_noise_sigma(image),
        "impulse_fraction": _impulse_fraction(image.bgr),
    }


def _noise_sigma(plane: Plane, luma: Plane) -> float | None:
    """Immerkær 1996, σ = √(π/2) · mean|L| / 6, at the 10th percentile of the blocks that are not clipped."""
    height, width = (side // _BLOCK * _BLOCK for side in plane.shape)
    if not height or not width:
        return None
    strength = block_strengths(plane)
    level = _block_means(luma[:height, :width])
    usable = strength[(level > 6) & (level < 249)]
    if not usable.size:
        return None
    return float(np.percentile(usable, 10)) * _PERCENTILE_BIAS


def block_strengths(plane: Plane) -> Plane:
    """σ of the noise in each complete block, if it has no texture."""
    height, width = (side // _BLOCK * _BLOCK for side in plane.shape)
    response = cv2.sepFilter2D(plane, -1, _SECOND_DIFFERENCE, _SECOND_DIFFERENCE)
    return np.asarray(_block_means(np.abs(response)[:height, :width]) * _SIGMA, np.float32)


def _block_means(plane: Plane) -> Plane:
    height, width = plane.shape
    size = (width // _BLOCK, height // _BLOCK)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _chroma_noise_sigma(image: Image) -> float | None:
    """At half size, as most files store chroma; doubled, because a mean of four pixels halves white noise."""
    size = ((image.width + 1) // 2, (image.height + 1) // 2)
    small = cv2.resize(image.bgr, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    planes = cv2.split(cv2.transform(small, _CHROMA))
    luma = planes[2]
    sigmas = [_noise_sigma(np.asarray(plane, np.float32), np.asarray(luma, np.float32)) for plane in planes[:2]]
    if sigmas[0] is None or sigmas[1] is None:
        return None
    return 2 * float(np.sqrt((sigmas[0] ** 2 + sigmas[1] ** 2) / 2))


# Rows Cb, Cr and Y of ITU-R BT.601 from B, G, R.
_CHROMA = np.array([[0.5, -0.331264, -0.168736], [-0.081312, -0.418688, 0.5], [0.114, 0.587, 0.299]], np.float32)


def _impulse_fraction(bgr: NDArray[np.uint8]) -> float | None:
    """Far from the median of its neighbourhood, and from all neighbours but one (which may be an impulse too)."""
    height, width = bgr.shape[:2]
    if min(height, width) < 3:
        return None
    blue, green, red = cv2.split(cv2.absdiff(bgr, cv2.medianBlur(bgr, 3)))
    deviation = np.asarray(cv2.max(cv2.max(blue, green), red), np.uint8)
    counts = cv2.calcHist([deviation], [0], None, [256], [0, 256]).ravel()
    typical = int(np.searchsorted(np.cumsum(counts), deviation.size / 2))
    threshold = max(_SMALLEST_IMPULSE, _IMPULSE_RATIO * typical)
    candidates = np.flatnonzero(deviation[1:-1, 1:-1] > threshold)
    if not len(candidates):
        return 0.0
    tested = candidates[:: -(-len(candidates) // _TESTED_IMPULSES)]
    y, x = np.divmod(tested, width - 2)
    pixels, place = bgr.reshape(-1, 3), (y + 1) * width + x + 1
    centre = pixels.take(place, axis=0)
    alike = np.zeros(centre.shape, np.uint8)
    for offset in (-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1):
        alike += cv2.absdiff(pixels.take(place + offset, axis=0), centre) <= threshold
    alone = (alike <= 1).any(axis=1)
    return float(alone.mean()) * len(candidates) / float((height - 2) * (width - 2))
