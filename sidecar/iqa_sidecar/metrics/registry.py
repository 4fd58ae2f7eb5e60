"""All built-in tools by name, and the checks around each run."""

import math

from ..imaging.image import Pair
from . import (
    brisque,
    cw_ssim,
    dists,
    fsim,
    gmsd,
    haarpsi,
    iw_ssim,
    lite_iqa,
    lpips,
    mad,
    mdsi,
    ms_gmsd,
    ms_ssim,
    niqe,
    nlpd,
    panel_iqa,
    piqe,
    psnr,
    ssim,
    vif,
    vifp,
    vsi,
)
from .tool import Result, Tool, ToolError, require_reference


def run_tool(tool: Tool, pair: Pair, wants_map: bool) -> Result:
    """Scores one pair; raises only ToolError."""
    _check_input(tool, pair, wants_map)
    try:
        result = tool.score(pair, wants_map)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError("TOOL_FAILED", f"{tool.name} failed: {type(error).__name__}: {error}") from error
    if not math.isfinite(result.value):
        raise ToolError("NOT_FINITE", f"{tool.name} is not defined for these pixels (a flat image, for example)")
    return result


def _check_input(tool: Tool, pair: Pair, wants_map: bool) -> None:
    reason = tool.unavailable_reason()
    if reason is not None:
        raise ToolError("TOOL_UNAVAILABLE", f"{tool.name} cannot be run: {reason}")
    if tool.needs_reference:
        require_reference(pair)
    _x, _y, width, height = pair.box or (0, 0, pair.image.width, pair.image.height)
    if min(width, height) < tool.min_side:
        raise ToolError(
            "REGION_TOO_SMALL",
            f"{tool.name} expects at least {tool.min_side} pixels a side but received {width} × {height}",
        )
    if wants_map and not tool.has_map:
        raise ToolError("MAP_UNSUPPORTED", f"{tool.name} has no local map")


_MODULES = (
    psnr,
    ssim,
    ms_ssim,
    gmsd,
    fsim,
    vsi,
    mdsi,
    haarpsi,
    vifp,
    vif,
    ms_gmsd,
    cw_ssim,
    nlpd,
    iw_ssim,
    mad,
    lpips,
    dists,
    niqe,
    brisque,
    piqe,
    panel_iqa,
    lite_iqa,
)

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*(module.TOOL for module in _MODULES), panel_iqa.RATED)}
