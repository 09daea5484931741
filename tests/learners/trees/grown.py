"""A tree grown on rows in memory by its arguments, as the tests of trees need it."""

import numpy as np

from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.udt.fit import grow
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart


def grow_tree(binned, target, n_classes, loss, weight=None, limits=None, *, monotone=None, smoothing=0.0, joint=True):
    """The tree and its trace; `target` holds class codes."""
    part = MemoryPart(binned, target, weight)
    source = LocalSource((part,), binned.binning, np.arange(n_classes), binned.n_rows, weight is not None)
    return grow(source, TreeTask(loss, limits or TreeLimits(), monotone, smoothing, 1, joint))
