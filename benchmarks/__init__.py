"""Benchmarks side by side with the peers: ``python -m benchmarks`` runs every row and says pass or short."""
