"""What a worker does with a command: decodes the pictures of one request, measures regions and runs tools on them."""

from __future__ import annotations

import contextlib
import importlib
import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import cast, get_args

from .. import measurements
from ..imaging.image import Pair, Picture, TooManyPixelsError, UndecodableError
from ..imaging.local_map import encode_map
from ..learned import predictors
from ..measurements import tile_maps
from ..metrics.registry import TOOLS, run_tool
from ..metrics.tool import Tool, ToolError
from ..server.clock import milliseconds_since
from ..server.contract import (
    WHOLE_PICTURE,
    Box,
    LocalMap,
    MeasurementInfo,
    MeasurementsEvent,
    MeasurementsInfo,
    ToolErrorCode,
    ToolEvent,
    ToolInfo,
    ToolProblem,
)
from .messages import Command, Described, Load, Loaded, Measure, Measured, Ran, Refused, Reply, Run


class Workbench:
    def __init__(self, tools: dict[str, Tool]) -> None:
        self._tools = tools
        self._jpeg_quality: int | None = None
        self._boxes: dict[str, Box] = {}
        # Kept between commands: tools on one region share what they computed from its pixels.
        self._pairs: dict[str, Pair] = {}

    def load(self, command: Load, image: bytes, reference: bytes) -> Loaded | Refused:
        started = time.perf_counter()
        _prepare(self._tools[name] for name in command.tools)
        try:
            picture = Picture.decode(image, max_pixels=command.max_pixels)
        except UndecodableError as error:
            return Refused("UNDECODABLE_IMAGE", str(error))
        except TooManyPixelsError as error:
            return Refused("TOO_LARGE", f"Image: {error}")
        try:
            other = Picture.decode(reference, max_pixels=command.max_pixels) if reference else None
        except UndecodableError as error:
            return Refused("UNDECODABLE_REFERENCE", str(error))
        except TooManyPixelsError as error:
            return Refused("TOO_LARGE", f"Reference: {error}")
        refusal = _check_sizes(command, picture, other)
        if refusal is not None:
            return refusal
        self._pairs = {WHOLE_PICTURE: Pair(picture, other, keeps_maps=bool(command.regions))}
        self._boxes = command.regions
        self._jpeg_quality = picture.jpeg_quality if command.jpeg_quality is None else command.jpeg_quality
        return Loaded(picture.width, picture.height, picture.channels, milliseconds_since(started))

    def obey(self, command: Command) -> Reply:
        if isinstance(command, Measure):
            reply: Reply = Measured(self._measure(command.region))
        elif isinstance(command, Run):
            reply = Ran(self._run(command))
        else:
            return describe(self._tools)
        if command.last and command.region != WHOLE_PICTURE:
            # Thirty-two large regions would not fit into memory together.
            self._pairs.pop(command.region, None)
        return reply

    def drop(self) -> None:
        self._pairs = {}

    def _pair_of(self, region: str) -> Pair:
        if region not in self._pairs:
            self._pairs[region] = self._pairs[WHOLE_PICTURE].crop(self._boxes[region])
        return self._pairs[region]

    def _view_for(self, tool: Tool, region: str) -> Pair:
        if tool.pools_map and region != WHOLE_PICTURE:
            return self._pairs[WHOLE_PICTURE].within(self._boxes[region])
        return self._pair_of(region)

    def _measure(self, region: str) -> MeasurementsEvent:
        started = time.perf_counter()
        pair = self._pair_of(region)
        values: dict[str, float | None] = {}
        reference_values: dict[str, float | None] | None = None
        problem = None
        try:
            values = _finite(measurements.measure(pair.image, self._jpeg_quality) | predictors.find_strengths(pair))
            if pair.reference is not None:
                # What is seen is seen by comparing: the reference has none of it for itself.
                unseen = dict.fromkeys(row.name for row in predictors.MEASUREMENTS)
                reference_values = _finite(measurements.measure(pair.reference, pair.reference.jpeg_quality) | unseen)
        except Exception as error:
            values, reference_values, problem = {}, None, _problem_of(error)
        elapsed = milliseconds_since(started)
        return MeasurementsEvent(region, values, reference_values, measurements.VERSION, elapsed, problem)

    def _run(self, command: Run) -> ToolEvent:
        started = time.perf_counter()
        tool = self._tools[command.tool]
        value: float | None = None
        local_map: LocalMap | None = None
        problem = None
        try:
            result = run_tool(tool, self._view_for(tool, command.region), command.map)
            value = float(result.value)
            local_map = encode_map(result.map) if command.map and result.map is not None else None
        except Exception as error:
            value, problem = None, _problem_of(error)
        elapsed = milliseconds_since(started)
        return ToolEvent(tool.name, command.region, value, tool.version, elapsed, local_map, problem)


def load_tools(extra_modules: Iterable[str]) -> dict[str, Tool]:
    """The built-in tools and those of further modules.

    A module has a `TOOLS` dictionary like the registry's and may have `warm_up`, which loads what its tools need.
    """
    tools = TOOLS | tile_maps.TOOLS
    for name in extra_modules:
        module = importlib.import_module(name)
        getattr(module, "warm_up", lambda: None)()
        tools |= module.TOOLS
    return tools


def describe(tools: dict[str, Tool]) -> Described:
    return Described(
        [
            ToolInfo(tool.name, tool.version, tool.needs_reference, tool.min_side, tool.has_map, reason is None, reason)
            for tool in tools.values()
            for reason in [tool.find_obstacle()]
        ],
        MeasurementsInfo(
            measurements.VERSION,
            [
                MeasurementInfo(row.name, row.unit, row.minimum, row.maximum, row.description)
                for row in (*measurements.CATALOGUE, *predictors.MEASUREMENTS)
            ],
        ),
    )


def _prepare(tools: Iterable[Tool]) -> None:
    """Loads in the background what the tools' first runs would wait for; a failure shows there, with its reason."""
    loaders = [tool.prepare for tool in tools if tool.prepare is not None and tool.find_obstacle() is None]
    if loaders:
        threading.Thread(target=_call_all, args=(loaders,), daemon=True).start()


def _call_all(loaders: list[Callable[[], object]]) -> None:
    for load in loaders:
        with contextlib.suppress(Exception):
            load()


def _check_sizes(command: Load, image: Picture, reference: Picture | None) -> Refused | None:
    size = f"{image.width} x {image.height}"
    if reference is not None and (reference.width, reference.height) != (image.width, image.height):
        received = f"{reference.width} x {reference.height}"
        return Refused("SIZE_MISMATCH", f"Expected a reference of {size} but received {received}")
    for name, box in command.regions.items():
        x, y, width, height = box
        if x + width > image.width or y + height > image.height:
            return Refused("REGION_OUTSIDE", f"Expected region {name} inside {size} but received {list(box)}")
    return None


def _problem_of(error: Exception) -> ToolProblem:
    if isinstance(error, ToolError) and error.code in get_args(ToolErrorCode):
        return ToolProblem(cast(ToolErrorCode, error.code), error.message)
    return ToolProblem("TOOL_FAILED", f"{type(error).__name__}: {error}")


def _finite(values: dict[str, float | None]) -> dict[str, float | None]:
    """JSON has no NaN and no infinity."""
    return {name: value if value is not None and math.isfinite(value) else None for name, value in values.items()}
