"""The model file: strict JSON, checked field by field, written atomically."""
