"""Downloads published weights and builds the ONNX files of the networks."""
