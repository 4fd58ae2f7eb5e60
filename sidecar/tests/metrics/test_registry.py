"""The checks around a run, each with its code and message."""

import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import Result, Tool, ToolError

from .. import images

PAIR = Pair(Image(images.flat(128, 32, 32)), Image(images.flat(120, 32, 32)))


def tool_that_returns(value: float) -> Tool:
    return Tool("Example", "1.0.0", False, 8, False, lambda _pair, _wants_map: Result(value))


def fail(_pair: Pair, _wants_map: bool) -> Result:
    raise RuntimeError("on purpose")


def code_of(tool: Tool, pair: Pair, wants_map: bool = False) -> str:
    with pytest.raises(ToolError) as caught:
        run_tool(tool, pair, wants_map)
    assert caught.value.message == str(caught.value) != ""
    return caught.value.code


def test_names_are_the_keys() -> None:
    assert all(name == tool.name for name, tool in TOOLS.items())
    assert {"PSNR", "SSIM", "MS-SSIM", "GMSD", "NIQE"} <= set(TOOLS)


def test_errors() -> None:
    assert code_of(TOOLS["SSIM"], Pair(PAIR.image)) == "REFERENCE_REQUIRED"
    assert code_of(TOOLS["SSIM"], PAIR.crop((0, 0, 32, 10))) == "REGION_TOO_SMALL"
    assert code_of(TOOLS["PSNR"], PAIR, wants_map=True) == "MAP_UNSUPPORTED"
    assert code_of(tool_that_returns(float("nan")), PAIR) == "NOT_FINITE"
    assert code_of(tool_that_returns(float("-inf")), PAIR) == "NOT_FINITE"
    assert code_of(Tool("Example", "1.0.0", False, 8, False, fail), PAIR) == "TOOL_FAILED"


def test_a_value_passes() -> None:
    assert run_tool(tool_that_returns(0.5), PAIR, wants_map=False).value == 0.5
