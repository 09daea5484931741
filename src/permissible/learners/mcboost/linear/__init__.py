"""Affine terms as base learners: a x + b on the best attribute, or on all of them, by weighted least squares."""
