"""One file for each output: text, SQL, Python, ONNX, HTML."""
