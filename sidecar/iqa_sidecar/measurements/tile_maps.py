"""Local maps of blur, noise and blockiness in tiles, requested like a tool's local map.

Each is a tool with the name and value of the measurement and a map: 1 where a tile is like most good photos, 0 where
the distortion is extreme, linear in between.
"""

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from ..imaging.image import Image, Pair, Plane
from ..metrics.tool import Result, Tool, ToolError
from . import VERSION
from .blocking import find_grid, measure_blocking
from .edge_profiles import Edges, find_edges, measure_profiles
from .edges import measure_edges
from .measurement import Values
from .noise import block_strengths, measure_noise

_TILE = 32
# Further edges are skipped; an image of twelve megapixels has a hundred thousand.
_MAX_EDGES = 6_000
# Values at which the map is 1 and 0: the end of the clean range and the last threshold in configs/severity.yaml.
_EDGE_WIDTHS = (1.5, 9.4)
_NOISE_SIGMAS = (1.5, 25.7)
_BLOCKINESSES = (0.02, 1.59)


def blur_map(image: Image) -> Plane:
    """Median edge width of each tile. A tile without edges counts as sharp."""
    edges = image.derive(_find_edges)
    chosen = np.arange(len(edges.x))[:: max(1, -(-len(edges.x) // _MAX_EDGES))]
    edges = edges.take(chosen)
    rows, columns = _tiles(image)
    tile = (edges.y // _TILE).astype(np.intp) * columns + (edges.x // _TILE).astype(np.intp)
    widths = measure_profiles(image.luma, edges).width if len(chosen) else np.zeros(0, np.float32)
    values = np.full(rows * columns, _EDGE_WIDTHS[0], np.float32)
    for index in np.unique(tile):
        values[index] = np.median(widths[tile == index])
    return _scale(values.reshape(rows, columns), _EDGE_WIDTHS)


def noise_map(image: Image) -> Plane:
    """Noise of the block with the least in each tile, because texture looks like noise."""
    strengths = block_strengths(image.luma)
    rows, columns = (max(1, side // 2) for side in strengths.shape)
    quiet = np.full((rows, columns), np.inf, np.float32)
    for row in range(2):
        for column in range(2):
            part = strengths[row : row + 2 * rows : 2, column : column + 2 * columns : 2]
            height, width = part.shape
            quiet[:height, :width] = np.minimum(quiet[:height, :width], part)
    return _scale(quiet, _NOISE_SIGMAS)


def blockiness_map(image: Image) -> Plane:
    """Steps on the block grid relative to the steps beside it, per tile."""
    luma = image.luma_bytes
    left, top = find_grid(luma)
    across = _grid_excess(cv2.absdiff(luma[:, 1:], luma[:, :-1]).astype(np.float32), left)
    down = _grid_excess(cv2.absdiff(luma[1:], luma[:-1]).astype(np.float32).T, top).T
    rows, columns = min(len(across), len(down)), min(across.shape[1], down.shape[1])
    return _scale((across[:rows, :columns] + down[:rows, :columns]) / 2, _BLOCKINESSES)


def _grid_excess(steps: Plane, start: int) -> Plane:
    """`steps`: from each column to the next; `start`: the first column of a block."""
    height, width = (side // _TILE * _TILE for side in (steps.shape[0], steps.shape[1] + 1))
    # Column c of the padded steps is the step into column c.
    padded = np.pad(np.minimum(steps, 32), ((0, 0), (1, 0)))[:height, :width]
    columns = np.arange(width)
    on_grid = (columns - start) % 8 == 0
    beside = ((columns - start) % 8 == 1) | ((columns - start) % 8 == 7)
    on = _tile_means(padded * on_grid, on_grid.mean())
    off = _tile_means(padded * beside, beside.mean())
    # Half a gray level, so that rounding in flat areas does not count.
    return np.asarray((on - off) / (off + 0.5), np.float32)


def _tile_means(plane: NDArray[np.floating], share: float) -> Plane:
    height, width = plane.shape
    means = cv2.resize(plane.astype(np.float32), (width // _TILE, height // _TILE), interpolation=cv2.INTER_AREA)
    return np.asarray(means / share, np.float32)


def _tiles(image: Image) -> tuple[int, int]:
    return -(-image.height // _TILE), -(-image.width // _TILE)


def _scale(values: Plane, ends: tuple[float, float]) -> Plane:
    good, bad = ends
    return np.asarray(np.clip((bad - values) / (bad - good), 0, 1), np.float32)


def _find_edges(image: Image) -> Edges:
    smooth = np.asarray(cv2.GaussianBlur(image.luma, (7, 7), 1), np.float32)
    return find_edges(smooth, measure_noise(image)["noise_sigma"] or 0)[0]


# Only the needed part of the measurements, because a client is waiting.
def _measure_edges(image: Image) -> Values:
    return measure_edges(image, image.derive(_find_edges))


def _measure_blocking(image: Image) -> Values:
    return measure_blocking(image, None)[0]


def _create_tool(name: str, measure: Callable[[Image], Values], draw: Callable[[Image], Plane]) -> Tool:
    def score(pair: Pair, wants_map: bool) -> Result:
        value = measure(pair.image)[name]
        if value is None:
            raise ToolError(
                "NOT_FINITE", f"{name} is not defined for these pixels (an image without edges, for example)"
            )
        return Result(value, draw(pair.image) if wants_map else None)

    return Tool(name=name, version=VERSION, needs_reference=False, min_side=2 * _TILE, has_map=True, score=score)


TOOLS = {
    name: _create_tool(name, measure, draw)
    for name, measure, draw in (
        ("edge_width_px", _measure_edges, blur_map),
        ("noise_sigma", measure_noise, noise_map),
        ("blockiness", _measure_blocking, blockiness_map),
    )
}
