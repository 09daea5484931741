"""Fuzz targets: one file per door, each with a function `one(data)` that may only refuse."""
