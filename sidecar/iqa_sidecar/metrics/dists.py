"""DISTS: similarity of structure and texture in the layers of VGG16.

References:
    K. Ding, K. Ma, S. Wang, E. P. Simoncelli, "Image quality assessment: unifying structure and texture similarity",
    IEEE Transactions on Pattern Analysis and Machine Intelligence, 2020. https://doi.org/10.1109/TPAMI.2020.3045810
"""

import numpy as np

from ..imaging.image import Pair
from ..networks.catalogue import DISTS
from ..networks.runtime import load_network, run_network, unavailable_reason
from .tool import Result, Tool, ToolError, require_reference

# About ten seconds and 1.5 GB of memory.
_LARGEST_PIXELS = 1_000_000


def score(pair: Pair, _wants_map: bool) -> Result:
    """0 for equal images, about 1 at most."""
    image, reference = pair.image, require_reference(pair)
    if image.width * image.height > _LARGEST_PIXELS:
        size = f"{image.width} × {image.height}"
        raise ToolError(
            "TOOL_FAILED", f"DISTS expects at most {_LARGEST_PIXELS} pixels but received {size}; name a region"
        )
    outputs = run_network(DISTS, np.stack([image.bgr, reference.bgr]))
    return Result(float(outputs["distance"].item()))


TOOL = Tool(
    name="DISTS",
    version="1.0.0",
    needs_reference=True,
    # The network halves the image four times.
    min_side=32,
    has_map=False,
    score=score,
    unavailable_reason=lambda: unavailable_reason(DISTS),
    prepare=lambda: load_network(DISTS),
)
