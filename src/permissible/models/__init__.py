"""Frozen results: rules, tree, linear, kernel, additive. They score rows and are rendered as text, JSON, SQL, ONNX or Python."""
