"""Growing and pruning trees, for all learners."""
