"""Readable NumPy twins of the compiled kernels, one file per area: the referees of the compiled core."""
