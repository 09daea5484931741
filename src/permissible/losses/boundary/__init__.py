"""Losses of K probability boundaries, and the conditions under which they are consistent."""
