"""Fits over rows held by workers (a Transport: serial, RPC) or in blocks on disk.

Sums over rows are integers, so models do not depend on how the rows are split.
"""
