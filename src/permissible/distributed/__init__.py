"""The same learners behind one reduction: a Transport (serial, RPC) and blocks on disk.

Sums over rows are integers, so nothing depends on how the rows were split.
"""
