"""Other learners of an estimator beside its default: ULS on columns, boundary classifiers on rules."""
