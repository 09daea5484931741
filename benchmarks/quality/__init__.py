"""Quality beside the peers on many data sets: `python -m benchmarks.quality`."""
