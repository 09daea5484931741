"""Constraints that hold for every row there can be: directions of columns, and columns that may meet."""
