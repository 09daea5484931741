"""Linear classifiers on rows in parts."""
