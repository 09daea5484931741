"""Named data sets: a registry, and the sources tried in order: a folder, a rule, an installed package, OpenML.

A set that cannot be had is named and left out, never replaced by another. Nothing here knows a protocol.
"""

from papers.datasets.dataset import Dataset, as_binary, dataset
from papers.datasets.openml import UnavailableError
from papers.datasets.registry import Found, find, load, names, suite

__all__ = ["Dataset", "Found", "UnavailableError", "as_binary", "dataset", "find", "load", "names", "suite"]
