"""Scores become actions: hard, weighted, reject, boundaries, soft, cost matrix; each with its theoretical loss."""
