"""Handles a worker's commands: decodes the images of one request, measures regions and runs tools on them."""

from __future__ import annotations

import contextlib
import importlib
import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import cast, get_args

from .. import measurements
from ..imaging.image import Image, Pair, TooManyPixelsError, UndecodableError
from ..imaging.local_map import encode_map, quantize_map, reduce_to_grid
from ..learned import predictors
from ..measurements import tile_maps
from ..metrics.registry import TOOLS, run_tool
from ..metrics.tool import Tool, ToolError
from ..server.clock import milliseconds_since
from ..server.contract import (
    WHOLE_IMAGE,
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
from .messages import Capabilities, Command, Load, Loaded, Measure, Measured, Ran, Rejected, Reply, Run


class ToolRunner:
    def __init__(self, tools: dict[str, Tool]) -> None:
        self._tools = tools
        self._jpeg_quality: int | None = None
        self._boxes: dict[str, Box] = {}
        # Kept between commands: tools on one region share what they computed from its pixels.
        self._pairs: dict[str, Pair] = {}

    def load(self, command: Load, image: bytes, reference: bytes) -> Loaded | Rejected:
        started = time.perf_counter()
        _prepare(self._tools[name] for name in command.tools)
        try:
            decoded = Image.decode(image, max_pixels=command.max_pixels)
        except UndecodableError as error:
            return Rejected("UNDECODABLE_IMAGE", str(error))
        except TooManyPixelsError as error:
            return Rejected("TOO_LARGE", f"Image: {error}")
        try:
            other = Image.decode(reference, max_pixels=command.max_pixels) if reference else None
        except UndecodableError as error:
            return Rejected("UNDECODABLE_REFERENCE", str(error))
        except TooManyPixelsError as error:
            return Rejected("TOO_LARGE", f"Reference: {error}")
        rejection = _check_sizes(command, decoded, other)
        if rejection is not None:
            return rejection
        self._pairs = {WHOLE_IMAGE: Pair(decoded, other, keeps_maps=bool(command.regions))}
        self._boxes = command.regions
        self._jpeg_quality = decoded.jpeg_quality if command.jpeg_quality is None else command.jpeg_quality
        return Loaded(decoded.width, decoded.height, decoded.channels, milliseconds_since(started))

    def handle(self, command: Command) -> Reply:
        if isinstance(command, Measure):
            reply: Reply = Measured(self._measure(command.region))
        elif isinstance(command, Run):
            reply = Ran(self._run(command))
        else:
            return describe(self._tools)
        if command.last and command.region != WHOLE_IMAGE:
            # 32 large regions would not fit into memory together.
            self._pairs.pop(command.region, None)
        return reply

    def drop(self) -> None:
        self._pairs = {}

    def _get_pair(self, region: str) -> Pair:
        if region not in self._pairs:
            self._pairs[region] = self._pairs[WHOLE_IMAGE].crop(self._boxes[region])
        return self._pairs[region]

    def _select_view(self, tool: Tool, region: str) -> Pair:
        if tool.pools_map and region != WHOLE_IMAGE:
            return self._pairs[WHOLE_IMAGE].within(self._boxes[region])
        return self._get_pair(region)

    def _measure(self, region: str) -> MeasurementsEvent:
        started = time.perf_counter()
        pair = self._get_pair(region)
        values: dict[str, float | None] = {}
        reference_values: dict[str, float | None] | None = None
        problem = None
        try:
            values = _drop_nonfinite(
                measurements.measure(pair.image, self._jpeg_quality) | predictors.detect_distortions(pair)
            )
            if pair.reference is not None:
                # Detection with a reference compares the pair: the reference alone has no values.
                no_values = dict.fromkeys(row.name for row in predictors.MEASUREMENTS)
                reference_values = _drop_nonfinite(
                    measurements.measure(pair.reference, pair.reference.jpeg_quality) | no_values
                )
        except Exception as error:
            values, reference_values, problem = {}, None, _to_problem(error)
        elapsed = milliseconds_since(started)
        return MeasurementsEvent(region, values, reference_values, measurements.VERSION, elapsed, problem)

    def _run(self, command: Run) -> ToolEvent:
        started = time.perf_counter()
        tool = self._tools[command.tool]
        value: float | None = None
        local_map: LocalMap | None = None
        grid: list[float] | None = None
        problem = None
        try:
            result = run_tool(tool, self._select_view(tool, command.region), command.map or command.grid)
            value = float(result.value)
            if result.map is not None:
                gray = quantize_map(result.map)
                local_map = encode_map(gray) if command.map else None
                grid = reduce_to_grid(gray) if command.grid else None
        except Exception as error:
            value, local_map, grid, problem = None, None, None, _to_problem(error)
        elapsed = milliseconds_since(started)
        return ToolEvent(tool.name, command.region, value, tool.version, elapsed, local_map, grid, problem)


def load_tools(extra_modules: Iterable[str]) -> dict[str, Tool]:
    """The built-in tools and those of extra modules.

    A module has a `TOOLS` dictionary like the registry's and may have `warm_up`, which loads what its tools need.
    """
    tools = TOOLS | tile_maps.TOOLS
    for name in extra_modules:
        module = importlib.import_module(name)
        getattr(module, "warm_up", lambda: None)()
        tools |= module.TOOLS
    return tools


def describe(tools: dict[str, Tool]) -> Capabilities:
    return Capabilities(
        [
            ToolInfo(tool.name, tool.version, tool.needs_reference, tool.min_side, tool.has_map, reason is None, reason)
            for tool in tools.values()
            for reason in [tool.unavailable_reason()]
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
    """Loads networks in the background; a failure is reported when the tool runs."""
    loaders = [tool.prepare for tool in tools if tool.prepare is not None and tool.unavailable_reason() is None]
    if loaders:
        threading.Thread(target=_call_all, args=(loaders,), daemon=True).start()


def _call_all(loaders: list[Callable[[], object]]) -> None:
    for load in loaders:
        with contextlib.suppress(Exception):
            load()


def _check_sizes(command: Load, image: Image, reference: Image | None) -> Rejected | None:
    size = f"{image.width} x {image.height}"
    if reference is not None and (reference.width, reference.height) != (image.width, image.height):
        received = f"{reference.width} x {reference.height}"
        return Rejected("SIZE_MISMATCH", f"Expected a reference of {size} but received {received}")
    for name, box in command.regions.items():
        x, y, width, height = box
        if x + width > image.width or y + height > image.height:
            return Rejected("REGION_OUTSIDE", f"Expected region {name} inside {size} but received {list(box)}")
    return None


def _to_problem(error: Exception) -> ToolProblem:
    if isinstance(error, ToolError) and error.code in get_args(ToolErrorCode):
        return ToolProblem(cast(ToolErrorCode, error.code), error.message)
    return ToolProblem("TOOL_FAILED", f"{type(error).__name__}: {error}")


def _drop_nonfinite(values: dict[str, float | None]) -> dict[str, float | None]:
    """JSON has no NaN and no infinity."""
    return {name: value if value is not None and math.isfinite(value) else None for name, value in values.items()}
