"""A thin layer over onnx.helper with the operators that the networks need."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper

# Supported by all recent runtimes.
OPSET = 17


class Graph:
    """Values are named by numbers; `input` is a batch of images as in OpenCV: bytes, rows, columns, B G R."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self.input = "images"

    def add(self, operator: str, *inputs: str, count: int = 1, **attributes: Any) -> str:
        return self.add_many(operator, *inputs, count=count, **attributes)[0]

    def add_many(self, operator: str, *inputs: str, count: int, **attributes: Any) -> list[str]:
        outputs = [f"{operator}_{len(self._nodes)}_{index}" for index in range(count)]
        self._nodes.append(helper.make_node(operator, list(inputs), outputs, **attributes))
        return outputs

    def constant(self, values: Any, kind: type[np.generic] = np.float32) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values, kind), name))
        return name

    def planes(self, scale: ArrayLike, offset: ArrayLike) -> str:
        """The images as float planes B, G, R, each byte · scale + offset."""
        planes = self.add("Transpose", self.add("Cast", self.input, to=TensorProto.FLOAT), perm=[0, 3, 1, 2])
        scaled = self.add("Mul", planes, self.constant(np.reshape(scale, (1, 3, 1, 1))))
        return self.add("Add", scaled, self.constant(np.reshape(offset, (1, 3, 1, 1))))

    def convolve(
        self, value: str, weights: NDArray[np.floating], bias: NDArray[np.floating] | None, **attributes: Any
    ) -> str:
        """`weights`: outputs, inputs, rows, columns."""
        inputs = [value, self.constant(weights)]
        if bias is not None:
            inputs.append(self.constant(bias))
        return self.add("Conv", *inputs, kernel_shape=list(weights.shape[2:]), **attributes)

    def finish(self, outputs: dict[str, str], rank: int) -> bytes:
        """`outputs`: output name → value, all of the same rank. Returns the file's bytes."""
        for name, value in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name]))
        image = helper.make_tensor_value_info(self.input, TensorProto.UINT8, ["count", "height", "width", 3])
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank) for name in outputs]
        graph = helper.make_graph(self._nodes, self._name, [image], results, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="iqa-sidecar")
        # The installed onnx may write a newer format than the runtime reads.
        model.ir_version = 8
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
