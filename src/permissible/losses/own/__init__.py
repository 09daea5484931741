"""Losses from a user's own functions, checked and completed."""
