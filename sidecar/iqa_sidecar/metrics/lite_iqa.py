"""LiteIQA: our own no-reference score, kernel ridge models on EfficientNet-Lite0 features and the measurements."""

import math

from ..imaging.image import Pair
from ..learned.predictors import NR_FILES, predict_no_reference, unavailable_reason
from ..networks.catalogue import EFFICIENTNET
from ..networks.runtime import load_network
from .tool import Result, Tool


def score(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best."""
    # Not defined for a flat image.
    if int(pair.image.luma_bytes.max()) - int(pair.image.luma_bytes.min()) < 1:
        return Result(math.nan)
    return Result(predict_no_reference(pair.image).quality)


TOOL = Tool(
    name="LiteIQA",
    version="1.1.0",
    needs_reference=False,
    min_side=48,
    has_map=False,
    score=score,
    unavailable_reason=lambda: unavailable_reason(*NR_FILES),
    prepare=lambda: load_network(EFFICIENTNET),
)
