"""The tier's tools, for IQA_SIDECAR_EXTRA_TOOLS: each worker loads every model once and reports missing ones."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from pyiqa.api_helpers import create_metric
from pyiqa.default_model_configs import DEFAULT_CONFIGS

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.tool import Result, Tool, require_reference

from .catalogue import Metric, choose_metrics
from .offline import go_offline

Model = Callable[..., torch.Tensor]

# Some networks use random crops; a fixed seed makes them reproducible.
SEED = 2026
DEVICE = os.environ.get("IQA_PYIQA_DEVICE", "cpu")
METRICS = choose_metrics({name: settings["metric_mode"] for name, settings in DEFAULT_CONFIGS.items()})

_models: dict[str, Model] = {}
_unavailable: dict[str, str] = {}


def warm_up() -> None:
    """Called in each worker before its first command; a model that cannot be loaded is unavailable, with the reason."""
    go_offline()
    torch.set_num_threads(int(os.environ.get("IQA_PYIQA_THREADS", "1")))
    for metric in METRICS:
        _load(metric)


def _load(metric: Metric) -> None:
    try:
        _models[metric.name] = create_metric(metric.pyiqa_name, device=torch.device(DEVICE))
    except Exception as error:
        _unavailable[metric.name] = _explain(error)


def _explain(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"its weights are not mounted or cannot be loaded: {words[:200] or type(error).__name__}"


def _score(metric: Metric, pair: Pair, _wants_map: bool) -> Result:
    torch.manual_seed(SEED)
    images = [pair.image, require_reference(pair)] if metric.needs_reference else [pair.image]
    return Result(float(_models[metric.name](*(_tensor(image) for image in images)).mean()))


def _tensor(image: Image) -> torch.Tensor:
    """1 × R G B × rows × columns, 0..1; cached for the other tools of the request."""
    return image.derive(_convert)


def _convert(image: Image) -> torch.Tensor:
    planes: NDArray[np.uint8] = np.ascontiguousarray(image.bgr[..., ::-1].transpose(2, 0, 1))
    return (torch.from_numpy(planes).to(DEVICE, torch.float32) / 255)[None]


def _create_tool(metric: Metric) -> Tool:
    return Tool(
        name=metric.name,
        version="1.0.0",
        needs_reference=metric.needs_reference,
        min_side=metric.min_side,
        has_map=False,
        score=functools.partial(_score, metric),
        unavailable_reason=lambda: _unavailable.get(metric.name),
    )


TOOLS = {metric.name: _create_tool(metric) for metric in METRICS}
