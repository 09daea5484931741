"""Data sets, protocols and statistics: the five papers' tables and figures, made again by one command."""
