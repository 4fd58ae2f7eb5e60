"""PIQE: the share of active blocks that look distorted or noisy; nothing is fitted.

References:
    N. Venkatanath, D. Praneeth, M. C. Bh, S. S. Channappayya, S. S. Medasani, "Blind image quality evaluation using
    perception based features", National Conference on Communications, 2015. https://doi.org/10.1109/NCC.2015.7084843
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Pair, Plane
from .functional.natural_scene import normalise
from .tool import Result, Tool

_BLOCK = 16
# Variance of normalised luma above which a block is active; deviation below which a border segment is flat.
_ACTIVE = 0.1
_FLAT = 0.1
# Pixels per border segment.
_SEGMENT = 6
# The two middle columns, and the columns that the authors' code leaves out of their surround: it deletes one after
# the other, so the second is one further than intended. Published values depend on it.
_CENTRE = (7, 8)
_NOT_SURROUND = (7, 9)

Blocks = NDArray[np.float64]


def score(pair: Pair, wants_map: bool) -> Result:
    """(Σ distortion + 1) / (active blocks + 1) · 100: 0 is best, 100 also if no block is active."""
    luma = pair.image.luma
    # A flat image is not defined.
    if float(luma.max()) - float(luma.min()) < 1:
        return Result(math.nan)
    blocks, rows = _split(luma)
    variance = blocks.var(axis=(1, 2), ddof=1)
    active = variance > _ACTIVE
    distortion = np.zeros(len(blocks))
    distortion[active] = _judge(blocks[active], variance[active])
    value = (float(distortion.sum()) + 1) / (int(active.sum()) + 1) * 100
    local = np.clip(1 - distortion.reshape(rows, -1), 0, 1).astype(np.float32) if wants_map else None
    return Result(value, local)


def _split(luma: Plane) -> tuple[Blocks, int]:
    """Normalised luma in blocks, in reading order, and the number of rows of blocks."""
    height, width = luma.shape
    below, right = -height % _BLOCK, -width % _BLOCK
    padded = np.asarray(cv2.copyMakeBorder(luma, 0, below, 0, right, cv2.BORDER_REPLICATE), np.float32)
    mscn = normalise(padded, cv2.BORDER_REPLICATE)
    rows, columns = (side // _BLOCK for side in mscn.shape)
    blocks = mscn.reshape(rows, _BLOCK, columns, _BLOCK).transpose(0, 2, 1, 3).reshape(-1, _BLOCK, _BLOCK)
    return blocks.astype(np.float64), rows


def _judge(blocks: Blocks, variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - variance where a border is flat, as between blocks of a codec; plus the variance where a block is noise."""
    borders = np.stack([blocks[:, 0], blocks[:, -1], blocks[:, :, 0], blocks[:, :, -1]], axis=1)
    segments = np.lib.stride_tricks.sliding_window_view(borders, _SEGMENT, axis=2)
    blocky = np.any(segments.std(axis=-1, ddof=1) < _FLAT, axis=(1, 2))
    deviation = np.sqrt(variance)
    centre = _deviation(blocks[:, :, _CENTRE])
    surround = _deviation(np.delete(blocks, _NOT_SURROUND, axis=2))
    ratio = centre / np.maximum(surround, 1e-12)
    noisy = deviation > 2 * np.abs(deviation - ratio) / np.maximum(deviation, ratio)
    return np.asarray(blocky * (1 - variance) + noisy * variance)


def _deviation(columns: Blocks) -> NDArray[np.float64]:
    # Not -1: there may be no block.
    values = columns.reshape(len(columns), columns.shape[1] * columns.shape[2])
    return np.asarray(values.std(axis=1, ddof=1))


TOOL = Tool(name="PIQE", version="1.0.0", needs_reference=False, min_side=_BLOCK, has_map=True, score=score)
