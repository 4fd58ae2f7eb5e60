"""LiteIQA: our own no-reference score, a kernel machine over the features of EfficientNet-Lite0 and the measurements."""

from ..learned.seeing import ALONE_FILE, VIEW_FILE, find_obstacle, see_alone
from ..models.networks import EFFICIENTNET
from ..models.runtime import load_network
from ..picture import Pair
from ..tool import Result, Tool


def score(pair: Pair, _wants_map: bool) -> Result:
    """1..5, 5 is best."""
    return Result(see_alone(pair.image).quality)


TOOL = Tool(
    name="LiteIQA",
    version="1.0.0",
    needs_reference=False,
    min_side=48,
    has_map=False,
    score=score,
    find_obstacle=lambda: find_obstacle(VIEW_FILE, ALONE_FILE),
    prepare=lambda: load_network(EFFICIENTNET),
)
