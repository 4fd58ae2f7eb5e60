"""Reads tensors from published pickles with unpicklers that accept arrays only."""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_STORAGES: dict[str, np.dtype[Any]] = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


def read_numpy_pickle(data: bytes) -> Tensors:
    """A plain pickle of nested dictionaries of arrays; the keys are joined with slashes."""
    return dict(_flatten("", _NumpyUnpickler(io.BytesIO(data)).load()))


def read_torch_pickle(data: bytes) -> Tensors:
    """torch.save's legacy format: magic, protocol, system, the dictionary, its storages' keys, then their data."""
    stream = io.BytesIO(data)
    for _ in range(3):
        _PlainUnpickler(stream).load()
    tensors: dict[str, _Tensor] = _TorchUnpickler(stream).load()
    types = {tensor.storage.key: tensor.storage.type for tensor in tensors.values()}
    storages = {}
    for key in _PlainUnpickler(stream).load():
        (count,) = struct.unpack("<q", stream.read(8))
        storages[key] = np.frombuffer(stream.read(count * types[key].itemsize), types[key])
    return {name: tensor.take(storages[tensor.storage.key]) for name, tensor in tensors.items()}


@dataclass(frozen=True, slots=True)
class _Storage:
    key: str
    type: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    # In elements; may differ from those of a contiguous tensor.
    strides: tuple[int, ...]

    def take(self, values: NDArray[Any]) -> NDArray[Any]:
        last = self.offset + sum((side - 1) * stride for side, stride in zip(self.shape, self.strides, strict=True))
        if min((self.offset, *self.strides)) < 0 or last >= len(values):
            raise pickle.UnpicklingError(f"Expected a tensor inside {len(values)} values but it reaches to {last}")
        strides = [stride * values.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(values[self.offset :], self.shape, strides, writeable=False)


class _PlainUnpickler(pickle.Unpickler):
    """Accepts numbers, strings, lists and dictionaries; rejects every class and function, so that no code can run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"Expected weights only but received a pickle that asks for {module}.{name}")


class _NumpyUnpickler(_PlainUnpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numpy", "ndarray"):
            return np.ndarray
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if (module, name) == ("numpy.core.multiarray", "_reconstruct"):
            # Always an empty array, which the next pickle instruction fills.
            return lambda *_: np.ndarray.__new__(np.ndarray, (0,), "b")
        return super().find_class(module, name)


class _TorchUnpickler(_PlainUnpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in _STORAGES:
            return name
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> _Storage:
        _kind, storage, key, _device, _count, *_view = pid
        return _Storage(key, _STORAGES[storage])


def _rebuild_tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> _Tensor:
    return _Tensor(storage, offset, shape, strides)


def _flatten(path: str, node: Any) -> Any:
    if isinstance(node, dict):
        for key, child in node.items():
            yield from _flatten(f"{path}/{key}" if path else str(key), child)
    else:
        yield path, node
