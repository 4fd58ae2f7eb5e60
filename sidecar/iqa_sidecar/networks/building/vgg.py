"""DISTS on VGG16 as an ONNX graph: a pair of images in, their distance out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .graph import Graph
from .unpickling import Tensors

# Mean and scale of R, G and B as in torchvision.
_MEAN, _DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
# Convolutions of the five stages; every stage but the first begins with L2 pooling.
_STAGES = ((0, 1), (2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12))
_WINDOW = np.hanning(5)[1:-1]
_SMOOTH = np.outer(_WINDOW, _WINDOW) / np.outer(_WINDOW, _WINDOW).sum()
# Constants under the root of the pooling, and in both similarities (the paper's c1 = c2).
_EPSILON, _CONSTANT = 1e-12, 1e-6


def build_dists(trunk: Tensors, heads: Tensors) -> bytes:
    """Σ α (1 - texture) + β (1 - structure) over the channels of the image itself and of five layers."""
    graph = Graph("dists-vgg16")
    pixels = graph.planes(scale=[1 / 255] * 3, offset=[0] * 3)
    scale, offset = (1 / _DEVIATION)[::-1], (-_MEAN / _DEVIATION)[::-1]
    value = graph.add("Mul", pixels, graph.constant(scale.reshape(1, 3, 1, 1)))
    value = graph.add("Add", value, graph.constant(offset.reshape(1, 3, 1, 1)))
    alpha, beta = (_flip_colours(heads[name].ravel()) for name in ("alpha", "beta"))
    weights = np.stack([alpha, beta]) / (alpha.sum() + beta.sum())
    total, weights = _compare(graph, pixels, weights[:, :3]), weights[:, 3:]
    for number, stage in enumerate(_STAGES):
        if number:
            value = _halve(graph, value, channels=trunk[f"VGG16_0/Conv_{stage[0]}/kernel"].shape[2])
        for index in stage:
            filters = trunk[f"VGG16_0/Conv_{index}/kernel"].transpose(3, 2, 0, 1)
            bias = trunk[f"VGG16_0/Conv_{index}/bias"]
            value = graph.convolve(value, filters[:, ::-1] if index == 0 else filters, bias, pads=[1] * 4)
            value = graph.add("Relu", value)
        channels = len(bias)
        total = graph.add("Add", total, _compare(graph, value, weights[:, :channels]))
        weights = weights[:, channels:]
    return graph.finish({"distance": total}, rank=4)


def _flip_colours(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """The first three are R, G and B."""
    return np.concatenate([values[2::-1], values[3:]]).astype(np.float64)


def _halve(graph: Graph, value: str, channels: int) -> str:
    """L2 pooling: root of the Hann-weighted mean of squares at every second pixel."""
    filters = np.broadcast_to(_SMOOTH, (channels, 1, 3, 3)).astype(np.float32)
    square = graph.add("Mul", value, value)
    mean = graph.convolve(square, filters, None, strides=[2, 2], pads=[1] * 4, group=channels)
    return graph.add("Sqrt", graph.add("Add", mean, graph.constant(_EPSILON)))


def _compare(graph: Graph, value: str, weights: NDArray[np.float64]) -> str:
    """One layer's part of the distance; exactly 0 for equal images, because each 1 - similarity is."""
    means = graph.add("ReduceMean", value, axes=[2, 3], keepdims=1)
    image, reference = _halves(graph, graph.add("Sub", value, means))
    mean_image, mean_reference = _halves(graph, means)
    texture = _similarity(
        graph, graph.add("Mul", mean_image, mean_reference), *_squares(graph, mean_image, mean_reference)
    )
    covariance = _mean(graph, graph.add("Mul", image, reference))
    variances = (_mean(graph, square) for square in _squares(graph, image, reference))
    structure = _similarity(graph, covariance, *variances)
    parts = []
    for similarity, weight in zip((texture, structure), weights, strict=True):
        distance = graph.add("Sub", graph.constant(1), similarity)
        weighed = graph.add("Mul", distance, graph.constant(weight.reshape(1, -1, 1, 1)))
        parts.append(graph.add("ReduceSum", weighed, graph.constant([1], np.int64), keepdims=1))
    return graph.add("Add", *parts)


def _similarity(graph: Graph, product: str, square_image: str, square_reference: str) -> str:
    """(2 p + c) / (a + b + c)"""
    constant = graph.constant(_CONSTANT)
    upper = graph.add("Add", graph.add("Add", product, product), constant)
    return graph.add("Div", upper, graph.add("Add", graph.add("Add", square_image, square_reference), constant))


def _squares(graph: Graph, *values: str) -> tuple[str, ...]:
    return tuple(graph.add("Mul", value, value) for value in values)


def _mean(graph: Graph, value: str) -> str:
    return graph.add("ReduceMean", value, axes=[2, 3], keepdims=1)


def _halves(graph: Graph, value: str) -> list[str]:
    return graph.add_many("Split", value, graph.constant([1, 1], np.int64), count=2, axis=0)
