"""PanelIQA: our own full-reference scores, kernel ridge models on six metrics and features of the pair."""

from ..imaging.image import Pair
from ..learned.predictors import (
    FR_GRADED_FILE,
    FR_TID2013_FILE,
    predict_full_reference,
    predict_rated,
    unavailable_reason,
)
from .tool import Result, Tool, require_reference


def score_rated(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best; trained on the ratings of TID2013."""
    require_reference(pair)
    return Result(predict_rated(pair))


def score_graded(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best; trained on graded distortions with VSI and MDSI as labels, without human ratings."""
    require_reference(pair)
    return Result(predict_full_reference(pair).quality)


RATED = Tool(
    name="PanelIQA-R",
    version="1.1.0",
    needs_reference=True,
    min_side=32,
    has_map=False,
    score=score_rated,
    unavailable_reason=lambda: unavailable_reason(FR_TID2013_FILE),
)
TOOL = Tool(
    name="PanelIQA",
    version="1.0.2",
    needs_reference=True,
    min_side=32,
    has_map=False,
    score=score_graded,
    unavailable_reason=lambda: unavailable_reason(FR_GRADED_FILE),
)
