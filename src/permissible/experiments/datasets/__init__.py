"""Named data sets: a registry, and the sources tried in order: a folder, a rule, an installed package, OpenML.

A set that cannot be had is named and left out, never replaced by another. Nothing here knows a protocol.
"""

from permissible.experiments.datasets.dataset import Dataset, as_binary, dataset
from permissible.experiments.datasets.openml import UnavailableError
from permissible.experiments.datasets.registry import Found, find, load, names, suite

__all__ = ["Dataset", "Found", "UnavailableError", "as_binary", "dataset", "find", "load", "names", "suite"]
