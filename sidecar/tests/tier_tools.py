"""Replaces the pyiqa tier (gigabytes of packages) in tests: three of its tool names in a real sidecar."""

import os

from iqa_sidecar.imaging.image import Pair
from iqa_sidecar.metrics.tool import Result, Tool


def mean_level(pair: Pair, _wants_map: bool) -> Result:
    return Result(float(pair.image.luma.mean()) / 2.55)


def die(_pair: Pair, _wants_map: bool) -> Result:
    os._exit(1)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("MUSIQ", "1.0.0", needs_reference=False, min_side=32, has_map=False, score=mean_level),
        Tool("NIMA", "1.0.0", needs_reference=False, min_side=32, has_map=False, score=die),
        Tool(
            "TOPIQ-NR",
            "1.0.0",
            needs_reference=False,
            min_side=32,
            has_map=False,
            score=mean_level,
            unavailable_reason=lambda: "its weights are not mounted",
        ),
    )
}
