"""NIQE: distance of an image's natural-scene statistics from those of pristine photos.

References:
    A. Mittal, R. Soundararajan, A. C. Bovik, "Making a 'completely blind' image quality analyzer",
    IEEE Signal Processing Letters, 2013. https://doi.org/10.1109/LSP.2012.2227726
"""

import json
from importlib import resources

import cv2
import numpy as np

from ..imaging.image import Pair, Plane
from .functional.natural_scene import Vector, fit_asymmetric, halve_bicubic, neighbour_products, normalise, sum_sides
from .tool import Result, Tool

# Pixels; the published pristine model was learnt from blocks of this side.
_BLOCK = 96


def score(pair: Pair, _wants_map: bool) -> Result:
    """√((ν₁ - ν₂)ᵀ ((Σ₁ + Σ₂) / 2)⁺ (ν₁ - ν₂)) over the whole blocks from the upper left; 0 is best."""
    luma = pair.image.luma
    height, width = (side // _BLOCK * _BLOCK for side in luma.shape)
    luma = luma[:height, :width]
    features = np.hstack([_block_features(luma, _BLOCK), _block_features(halve_bicubic(luma), _BLOCK // 2)])
    # Flat blocks have no statistics; the authors leave them out as well.
    features = features[np.isfinite(features).all(axis=1)]
    if len(features) < 2:
        return Result(float("nan"))
    difference = _PRISTINE_MEAN - features.mean(axis=0)
    spread = (_PRISTINE_COVARIANCE + np.cov(features, rowvar=False)) / 2
    return Result(float(np.sqrt(difference @ np.linalg.pinv(spread) @ difference)))


def _block_features(luma: Plane, side: int) -> Vector:
    """18 features for each block, blocks in reading order."""
    mscn = normalise(luma, cv2.BORDER_REPLICATE)
    return np.vstack([_strip_features(mscn[top : top + side], side) for top in range(0, mscn.shape[0], side)])


def _strip_features(mscn: Plane, side: int) -> Vector:
    """One row of blocks at a time, to fit into the processor's cache."""
    columns = []
    for product in neighbour_products(mscn, mscn[-1], side):
        fit = fit_asymmetric(sum_sides(product, side))
        columns += [fit.shape, fit.mean, fit.left * fit.scale, fit.right * fit.scale]
    fit = fit_asymmetric(sum_sides(mscn, side))
    return np.column_stack([fit.shape, (fit.left + fit.right) * fit.scale / 2, *columns])


_PRISTINE = json.loads(resources.files("iqa_sidecar.data").joinpath("niqe_pristine.json").read_text("utf-8"))
_PRISTINE_MEAN = np.array(_PRISTINE["mean"])
_PRISTINE_COVARIANCE = np.array(_PRISTINE["covariance"])

# Two blocks each way, the minimum for a covariance.
TOOL = Tool(name="NIQE", version="1.0.1", needs_reference=False, min_side=2 * _BLOCK, has_map=False, score=score)
