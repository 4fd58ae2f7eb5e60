"""Builds a network's ONNX file from its weight files."""

from __future__ import annotations

from ..catalogue import DISTS, EFFICIENTNET, LPIPS, Network
from .alexnet import build_lpips
from .efficientnet import build_features
from .unpickling import read_numpy_pickle, read_torch_pickle
from .vgg import build_dists
from .weights import ALEXNET, DISTS_HEADS, EFFICIENTNET_LITE0, VGG16, WeightFile


def build_network(network: Network, weights: dict[WeightFile, bytes]) -> bytes:
    if network is LPIPS:
        return build_lpips(read_numpy_pickle(weights[ALEXNET]))
    if network is EFFICIENTNET:
        return build_features(read_torch_pickle(weights[EFFICIENTNET_LITE0]))
    if network is DISTS:
        return build_dists(read_numpy_pickle(weights[VGG16]), read_torch_pickle(weights[DISTS_HEADS]))
    raise ValueError(f"Expected a network of the list but received {network.name}")
