"""Runs ONNX files in a worker; ONNX Runtime and a file are loaded when a tool first needs them."""

from __future__ import annotations

import importlib.util
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.tool import ToolError
from .catalogue import Network

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_sessions: dict[str, InferenceSession] = {}
# A background thread may be loading the same network.
_loading = threading.Lock()


def unavailable_reason(network: Network) -> str | None:
    """Why this network cannot be run, or None. Loads nothing."""
    if importlib.util.find_spec("onnxruntime") is None:
        return "ONNX Runtime is not installed"
    if not network.file.exists():
        return f'the weights of {network.name} are not there; "{network.command}" fetches them'
    return None


def run_network(network: Network, images: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
    """`images`: count, rows, columns, B G R. Returns the graph's outputs by name."""
    session = load_network(network)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: images}), strict=True))


def load_network(network: Network) -> InferenceSession:
    with _loading:
        if network.name not in _sessions:
            reason = unavailable_reason(network)
            if reason is not None:
                raise ToolError("TOOL_UNAVAILABLE", f"Cannot be run: {reason}")
            _sessions[network.name] = _create_session(network)
        return _sessions[network.name]


def _create_session(network: Network) -> InferenceSession:
    import onnxruntime

    options: Any = onnxruntime.SessionOptions()
    # One core per worker: the pool is the only parallelism. One thread also makes sums deterministic.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # Memory is returned to the system after a large image.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(network.file), options, providers=["CPUExecutionProvider"])
