"""The learners that an estimator has beside its first one: ULS on columns, boundaries on rules."""
