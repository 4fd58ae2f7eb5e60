"""A tool that sleeps for a minute; the service's tests load it through IQA_SIDECAR_EXTRA_TOOLS."""

import dataclasses
import os
import time
from pathlib import Path

from iqa_sidecar.imaging.image import Pair
from iqa_sidecar.metrics.registry import TOOLS as BUILT_IN
from iqa_sidecar.metrics.tool import Result


def sleep_long(_pair: Pair, _wants_map: bool) -> Result:
    folder = os.environ.get("IQA_TEST_MARKS")
    if folder is not None:
        # Tells the test that the tool is running.
        with (Path(folder) / "slow").open("a") as marks:
            marks.write("x")
    time.sleep(60)
    return Result(1.0)


TOOLS = {"NIQE": dataclasses.replace(BUILT_IN["NIQE"], score=sleep_long)}
