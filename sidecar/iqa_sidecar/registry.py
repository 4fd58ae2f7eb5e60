"""Every tool this package can run, by name, and the checks that surround each run."""

import math

from .metrics import brisque, dists, gmsd, lpips, ms_ssim, niqe, piqe, psnr, ssim
from .picture import Pair
from .tool import Result, Tool, ToolError, reference_of


def run_tool(tool: Tool, pair: Pair, wants_map: bool) -> Result:
    """Scores one pair; raises ToolError, and nothing else, when there is no value."""
    _check_input(tool, pair, wants_map)
    try:
        result = tool.score(pair, wants_map)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError("TOOL_FAILED", f"{tool.name} failed: {type(error).__name__}: {error}") from error
    if not math.isfinite(result.value):
        raise ToolError("NOT_FINITE", f"{tool.name} is not defined for these pixels (a flat picture, for example)")
    return result


def _check_input(tool: Tool, pair: Pair, wants_map: bool) -> None:
    image = pair.image
    obstacle = tool.find_obstacle()
    if obstacle is not None:
        raise ToolError("TOOL_UNAVAILABLE", f"{tool.name} cannot be run: {obstacle}")
    if tool.needs_reference:
        reference_of(pair)
    if min(image.width, image.height) < tool.min_side:
        raise ToolError(
            "REGION_TOO_SMALL",
            f"{tool.name} expects at least {tool.min_side} pixels a side but received {image.width} × {image.height}",
        )
    if wants_map and not tool.has_map:
        raise ToolError("MAP_UNSUPPORTED", f"{tool.name} has no local map")


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        psnr.TOOL,
        ssim.TOOL,
        ms_ssim.TOOL,
        gmsd.TOOL,
        lpips.TOOL,
        dists.TOOL,
        niqe.TOOL,
        brisque.TOOL,
        piqe.TOOL,
    )
}
