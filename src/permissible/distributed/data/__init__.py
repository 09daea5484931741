"""Data larger than memory: read in two passes, kept in blocks."""
