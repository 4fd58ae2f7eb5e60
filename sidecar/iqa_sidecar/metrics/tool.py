"""The types of a tool and its result, which every module in `metrics/` uses."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Pair


@dataclass(frozen=True, slots=True)
class Result:
    value: float
    # Local quality, 0..1 with 1 = perfect, rows × columns; may be smaller than the image.
    map: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    # Incremented by every change that can alter a value.
    version: str
    needs_reference: bool
    # Pixels; minimum of the region's shorter side.
    min_side: int
    has_map: bool
    # score(pair, wants_map)
    score: Callable[[Pair, bool], Result]
    # Why it cannot be run, such as missing weights, or None. Called often: must not load anything.
    unavailable_reason: Callable[[], str | None] = lambda: None
    # Loads what the first run needs; called in the background while the request is decoded.
    prepare: Callable[[], object] | None = None
    # How a region is scored: True pools the local map of the whole image inside the box, False scores the crop.
    pools_map: bool = False


class ToolError(Exception):
    """A tool has no value for these pixels; `code` is one of the contract's tool error codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def require_reference(pair: Pair) -> Image:
    if pair.reference is None:
        raise ToolError("REFERENCE_REQUIRED", "Expected a reference to compare with but received none")
    return pair.reference
