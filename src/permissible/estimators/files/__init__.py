"""Saving and loading fitted estimators."""
