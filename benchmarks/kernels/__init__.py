"""The kernels alone, timed by pytest-benchmark and compared with stored ratios to a reference kernel: ``make bench-kernels``."""
