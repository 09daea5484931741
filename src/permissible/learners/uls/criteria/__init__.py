"""Searches by the criteria of the papers."""
