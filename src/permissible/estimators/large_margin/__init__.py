"""Large-margin classifiers for several classes."""
