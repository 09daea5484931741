"""The training rows of a fit: in memory, in blocks on disk, or on the workers of a cluster."""
