"""A tool of the registry that takes for ever; the service's tests load it through IQA_SIDECAR_EXTRA_TOOLS."""

import dataclasses
import time

from iqa_sidecar.picture import Pair
from iqa_sidecar.registry import TOOLS as BUILT_IN
from iqa_sidecar.tool import Result


def sleep_long(_pair: Pair, _wants_map: bool) -> Result:
    time.sleep(60)
    return Result(1.0)


TOOLS = {"NIQE": dataclasses.replace(BUILT_IN["NIQE"], score=sleep_long)}
