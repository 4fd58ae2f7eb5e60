"""LPIPS 0.1 on AlexNet as an ONNX graph: a pair of images in, five maps of local difference out."""

from __future__ import annotations

import numpy as np

from .graph import Graph
from .unpickling import Tensors

# Mean and scale of R, G and B for pixels in -1..1.
_SHIFT, _SCALE = np.array([-0.030, -0.088, -0.188]), np.array([0.458, 0.448, 0.450])
# Stride and padding of each convolution; before the second and the third, 3 × 3 max pooling.
_LAYERS = ((4, 2), (1, 2), (1, 1), (1, 1), (1, 1))
_POOLED = (1, 2)
_EPSILON = 1e-10


def build_lpips(tensors: Tensors) -> bytes:
    graph = Graph("lpips-alexnet")
    value = graph.planes(scale=1 / 127.5 / _SCALE[::-1], offset=((-1 - _SHIFT) / _SCALE)[::-1])
    outputs = {}
    for index, (stride, padding) in enumerate(_LAYERS):
        if index in _POOLED:
            value = graph.add("MaxPool", value, kernel_shape=[3, 3], strides=[2, 2])
        weights = tensors[f"AlexNet_0/Conv_{index}/kernel"].transpose(3, 2, 0, 1)
        if index == 0:
            # From R G B to B G R.
            weights = weights[:, ::-1]
        bias = tensors[f"AlexNet_0/Conv_{index}/bias"]
        value = graph.add("Relu", graph.convolve(value, weights, bias, strides=[stride] * 2, pads=[padding] * 4))
        head = tensors[f"NetLinLayer_{index}/Conv_0/kernel"].transpose(3, 2, 0, 1)
        outputs[f"difference_{index}"] = _compare(graph, value, head)
    return graph.finish(outputs, rank=4)


def _compare(graph: Graph, value: str, head: np.typing.NDArray[np.float32]) -> str:
    """Squared differences of features of unit length, weighted by the head."""
    length = graph.add("ReduceL2", value, axes=[1], keepdims=1)
    unit = graph.add("Div", value, graph.add("Add", length, graph.constant(_EPSILON)))
    image, reference = graph.add_many("Split", unit, graph.constant([1, 1], np.int64), count=2, axis=0)
    difference = graph.add("Sub", image, reference)
    return graph.convolve(graph.add("Mul", difference, difference), head, None)
