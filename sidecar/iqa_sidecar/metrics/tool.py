"""What a metric is: the type that every module in `metrics/` exports and that the registry and the worker run."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Pair


@dataclass(frozen=True, slots=True)
class Result:
    value: float
    # Local quality, 0..1 with 1 = perfect, rows × columns; may be smaller than the image it was taken from.
    map: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    # Raised by every change that can alter a value.
    version: str
    needs_reference: bool
    # Pixels; the shorter side of the region must reach it.
    min_side: int
    has_map: bool
    # Called as score(pair, map_wanted).
    score: Callable[[Pair, bool], Result]
    # Why it cannot be run here, such as weights that are missing, or None. Asked often: it looks but loads nothing.
    unavailable_reason: Callable[[], str | None] = lambda: None
    # Loads what its first run would wait for; called in the background, while other work of the request is done.
    prepare: Callable[[], object] | None = None
    # How a region is scored: True pools the whole image's local map inside the box, False scores the cut-out.
    pools_map: bool = False


class ToolError(Exception):
    """A tool has no value for these pixels; `code` is one of the contract's codes of one tool."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def require_reference(pair: Pair) -> Image:
    if pair.reference is None:
        raise ToolError("REFERENCE_REQUIRED", "Expected a reference to compare with but received none")
    return pair.reference
