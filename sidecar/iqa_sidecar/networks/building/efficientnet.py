"""EfficientNet-Lite0 as an ONNX graph: an image in, means and deviations of its layers out, also of the centre."""

from __future__ import annotations

import numpy as np

from .graph import Graph
from .unpickling import Tensors

# Channels of the blocks' outputs and of the head; each gives a mean and a deviation.
CHANNELS = (16, 24, 24, 40, 40, 80, 80, 80, 112, 112, 112, 192, 192, 192, 192, 320, 1280)
# Blocks that halve the image, and blocks with a residual connection.
_STRIDED = (1, 3, 5, 11)
_RESIDUAL = (2, 4, 6, 7, 9, 10, 12, 13, 14)
_BLOCKS = len(CHANNELS) - 1
_EPSILON = 1e-3
# The margin of the centre is one part of this many.
_CENTRE_MARGIN = 5


def build_features(tensors: Tensors) -> bytes:
    graph = Graph("efficientnet-lite0-features")
    value = graph.planes(scale=[1 / 128] * 3, offset=[-127 / 128] * 3)
    layers = _Layers(graph, tensors)
    value = layers.convolve(value, "_conv_stem", "_bn0", stride=2, flipped=True)
    maps: list[str] = []
    for block in range(_BLOCKS):
        value = layers.block(value, block)
        maps.append(value)
    maps.append(layers.convolve(value, "_conv_head", "_bn1"))
    centres = [_cut_centre(graph, each) for each in maps]
    capabilities = [number for each in (*maps, *centres) for number in _describe(graph, each)]
    return graph.finish({"features": graph.add("Concat", *capabilities, axis=1)}, rank=2)


class _Layers:
    def __init__(self, graph: Graph, tensors: Tensors) -> None:
        self._graph = graph
        self._tensors = tensors

    def block(self, value: str, index: int) -> str:
        """Expansion, depthwise convolution, projection; the first block has no expansion."""
        name = f"_blocks.{index}."
        inner = self.convolve(value, f"{name}_expand_conv", f"{name}_bn0") if index else value
        stride = 2 if index in _STRIDED else 1
        inner = self.convolve(inner, f"{name}_depthwise_conv", f"{name}_bn1", stride=stride)
        narrow = self.convolve(inner, f"{name}_project_conv", f"{name}_bn2", bounded=False)
        return self._graph.add("Add", value, narrow) if index in _RESIDUAL else narrow

    def convolve(
        self, value: str, name: str, norm: str, stride: int = 1, bounded: bool = True, flipped: bool = False
    ) -> str:
        """A convolution with its normalisation folded in; `bounded`: clipped to 0..6 (ReLU6)."""
        weights = self._tensors[f"{name}.weight"]
        gain = self._tensors[f"{norm}.weight"] / np.sqrt(self._tensors[f"{norm}.running_var"] + _EPSILON)
        bias = self._tensors[f"{norm}.bias"] - self._tensors[f"{norm}.running_mean"] * gain
        channels = weights[:, ::-1] if flipped else weights
        groups = len(weights) if "_depthwise_" in name else 1
        value = self._graph.convolve(
            value, channels * gain[:, None, None, None], bias, strides=[stride] * 2, group=groups, auto_pad="SAME_UPPER"
        )
        if not bounded:
            return value
        return self._graph.add("Clip", value, self._graph.constant(0), self._graph.constant(6))


def _cut_centre(graph: Graph, value: str) -> str:
    """Crops a fifth on each side: the subject of a photograph is usually in the centre."""
    size = graph.add("Shape", value, start=2, end=4)
    margin = graph.add("Div", size, graph.constant([_CENTRE_MARGIN] * 2, np.int64))
    return graph.add("Slice", value, margin, graph.add("Sub", size, margin), graph.constant([2, 3], np.int64))


def _describe(graph: Graph, value: str) -> tuple[str, str]:
    """Mean and standard deviation of every channel."""
    mean = graph.add("ReduceMean", value, axes=[2, 3], keepdims=1)
    distance = graph.add("Sub", value, mean)
    variance = graph.add("ReduceMean", graph.add("Mul", distance, distance), axes=[2, 3], keepdims=0)
    return graph.add("Squeeze", mean, graph.constant([2, 3], np.int64)), graph.add("Sqrt", variance)
