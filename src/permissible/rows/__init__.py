"""The training rows of a fit, wherever they lie: in memory, in blocks on disk, or on the workers of a cluster."""
