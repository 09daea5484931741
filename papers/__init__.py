"""Data sets, protocols and statistics: the five papers' tables and figures, made again by one command."""

from papers.reproduce import PROTOCOLS, run

__all__ = ["PROTOCOLS", "run"]
