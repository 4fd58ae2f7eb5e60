"""PanelIQA: our own full-reference scores, kernel machines over six metrics and plain comparisons."""

from ..imaging.image import Pair
from ..learned.predictors import BESIDE_FILE, RATED_FILE, find_obstacle, rate_beside, see_beside
from .tool import Result, Tool, reference_of


def score_rated(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best; taught by the ratings of TID2013."""
    reference_of(pair)
    return Result(rate_beside(pair))


def score_graded(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best; taught by graded distortions and what VSI and MDSI say of them, without any rating."""
    reference_of(pair)
    return Result(see_beside(pair).quality)


RATED = Tool(
    name="PanelIQA-R",
    version="1.1.0",
    needs_reference=True,
    min_side=32,
    has_map=False,
    score=score_rated,
    find_obstacle=lambda: find_obstacle(RATED_FILE),
)
TOOL = Tool(
    name="PanelIQA",
    version="1.0.2",
    needs_reference=True,
    min_side=32,
    has_map=False,
    score=score_graded,
    find_obstacle=lambda: find_obstacle(BESIDE_FILE),
)
