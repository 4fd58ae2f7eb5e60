"""LPIPS (version 0.1, AlexNet): distance of deep features.

References:
    R. Zhang, P. Isola, A. A. Efros, E. Shechtman, O. Wang, "The unreasonable effectiveness of deep features as a
    perceptual metric", CVPR, 2018. https://doi.org/10.1109/CVPR.2018.00068
"""

from collections.abc import Iterator

import cv2
import numpy as np

from ..imaging.image import Box, Pair, Plane
from ..networks.catalogue import LPIPS
from ..networks.runtime import load_network, run_network, unavailable_reason
from .tool import Result, Tool, require_reference

# Input rows between two rows of each layer's output.
_STRIDES = (4, 8, 16, 16, 16)
# Rows: the least common stride of the layers, and more than the receptive field of a row (66 above, 97 below).
_STEP = 16
_MARGIN = 112
# Larger images are processed in bands of about this size, because a pixel takes about 150 bytes.
_BAND_PIXELS = 3_000_000


def score(pair: Pair, wants_map: bool) -> Result:
    """Sum of the layers' mean differences; 0 for equal images, seldom above 1."""
    layers = pair.local_map(_difference_maps)
    if pair.box is not None:
        layers = [_cut(layer, stride, pair.box) for layer, stride in zip(layers, _STRIDES, strict=True)]
    value = sum(float(np.mean(layer, dtype=np.float64)) for layer in layers)
    return Result(value, _local_quality(layers) if wants_map else None)


def _difference_maps(pair: Pair) -> list[Plane]:
    image, reference = pair.image, require_reference(pair)
    bands = []
    for top, bottom, first, last in _bands(image.height, image.width):
        outputs = run_network(LPIPS, np.stack([image.bgr[top:bottom], reference.bgr[top:bottom]]))
        maps = [outputs[f"difference_{index}"][0, 0] for index in range(len(_STRIDES))]
        bands.append(
            [
                layer[(first - top) // stride : (last - top) // stride if last < image.height else None]
                for layer, stride in zip(maps, _STRIDES, strict=True)
            ]
        )
    return [np.concatenate(parts) for parts in zip(*bands, strict=True)]


def _bands(height: int, width: int) -> Iterator[tuple[int, int, int, int]]:
    """(top, bottom, first, last): rows to process, and the rows among them that are far enough from a cut."""
    step = max(_STEP, _BAND_PIXELS // width // _STEP * _STEP)
    # A last band shorter than the margin would be too small for the network.
    tops = [top for top in range(0, height, step) if top == 0 or height - top > _MARGIN]
    for first, last in zip(tops, [*tops[1:], height], strict=True):
        yield max(0, first - _MARGIN), min(height, last + _MARGIN), first, last


def _cut(layer: Plane, stride: int, box: Box) -> Plane:
    """The part of a layer inside the box, at least one value."""
    x, y, width, height = box
    top, left = min(y // stride, layer.shape[0] - 1), min(x // stride, layer.shape[1] - 1)
    return layer[top : max(top + 1, -(-(y + height) // stride)), left : max(left + 1, -(-(x + width) // stride))]


def _local_quality(layers: list[Plane]) -> Plane:
    """1 - the layers' differences, each enlarged to the size of the first."""
    height, width = layers[0].shape
    total = np.zeros((height, width), np.float32)
    for layer in layers:
        total += cv2.resize(layer, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(1 - total, 0, 1), np.float32)


TOOL = Tool(
    name="LPIPS",
    version="1.0.0",
    needs_reference=True,
    # The last layer needs at least one value.
    min_side=32,
    has_map=True,
    pools_map=True,
    score=score,
    unavailable_reason=lambda: unavailable_reason(LPIPS),
    prepare=lambda: load_network(LPIPS),
)
