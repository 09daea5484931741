"""Readable NumPy twins of the compiled kernels, one file per area, against which the kernels are tested."""
