"""Frozen results: rules, tree, linear, kernel, additive. They score rows and are rendered in several formats."""
