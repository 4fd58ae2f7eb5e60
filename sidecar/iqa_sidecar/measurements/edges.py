"""Blur and over-sharpening from the profiles of strong edges."""

import numpy as np

from ..imaging.image import Image
from .edge_profiles import Edges, measure_profiles
from .measurement import Measurement, Values

_LARGEST_COUNT = 600
_SMALLEST_COUNT = 12
# Of the 98th percentile of all edges' slopes.
_STRONG = 0.2

MEASUREMENTS = (
    Measurement(
        "edge_width_px", "pixels", 0, 40,
        "median 10–90 % width of the strong edges, 2.56 σ after a Gaussian blur; null with fewer than 12 edges",
    ),
    Measurement("edge_width_sharp_px", "pixels", 0, 40, "10th percentile of the same: the parts in focus"),
    Measurement("halo", "fraction", 0, 0.5, "median overshoot at both ends of the strong edges, of the edge's height"),
)  # fmt: skip


def measure_edges(image: Image, edges: Edges) -> Values:
    if len(edges.x) < _SMALLEST_COUNT:
        return {"edge_width_px": None, "edge_width_sharp_px": None, "halo": None}
    strong = np.flatnonzero(edges.slope > _STRONG * np.percentile(edges.slope, 98))
    if len(strong) > _LARGEST_COUNT:
        strong = strong[np.arange(_LARGEST_COUNT) * len(strong) // _LARGEST_COUNT]
    profiles = measure_profiles(image.luma, edges.take(strong))
    return {
        "edge_width_px": float(np.median(profiles.width)),
        "edge_width_sharp_px": float(np.percentile(profiles.width, 10)),
        "halo": max(0.0, float(np.median(profiles.overshoot))),
    }
