"""Losses of several classes with a cost matrix, and guess-aversion."""
