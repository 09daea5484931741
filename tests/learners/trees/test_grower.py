"""A tree grown over parts of the rows is the tree grown on all of them, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.bins.binning import BinnedTable
from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.udt.fit import grow
from permissible.rows.local import LocalRows, LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.source import NoJournal
from tests.learners.trees.grown import grow_tree


class Counted(LocalRows):
    """Rows that remember of how many nodes each question asked."""

    def ask(self, question):
        self.requested.append(len(question.requested))
        return super().ask(question)


class CountedSource(LocalSource):
    """A table that remembers its questions."""

    def open(self, opening):
        rows = Counted(self.parts, opening)
        rows.requested = self.journal.requested
        return rows


class Questions(NoJournal):
    """No journal, but a place for the sizes of questions."""

    def __init__(self):
        self.requested = []


def grow_in_parts(binned, target, n_classes, loss, weight, limits, n_parts, monotone=None):
    n_parts = max(n_parts, 2)  # one part in memory is grown in one call
    parts = tuple(
        MemoryPart(
            BinnedTable(binned.binning, np.ascontiguousarray(binned.blocks[:, rows]), len(rows)),
            target[rows],
            None if weight is None else weight[rows],
            number=number,
        )
        for number, rows in enumerate(np.array_split(np.arange(binned.n_rows), n_parts))
    )
    questions = Questions()
    known = binned.binning, np.arange(n_classes), binned.n_rows, weight is not None
    grown = grow(CountedSource(parts, *known, questions), TreeTask(loss, limits, monotone))
    return *grown, questions.requested


def assert_same(first, second):
    for name in ("left", "right", "weight", "samples"):
        np.testing.assert_array_equal(getattr(first[0], name), getattr(second[0], name))
    assert first[0].literals == second[0].literals
    np.testing.assert_array_equal(first[1].surrogate, second[1].surrogate)
    np.testing.assert_array_equal(first[1].split_order, second[1].split_order)
    assert first[1].stopped == second[1].stopped


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["logistic", "squared", "power"]),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "whole", "any"]),
    st.integers(1, 5),
    st.sampled_from([TreeLimits(8), TreeLimits(None), TreeLimits(None, 3, 4), TreeLimits(5, min_gain=0.01)]),
)
def test_parts_grow_the_tree_of_the_whole(bin_rows, seed, name, n_classes, weighted, n_parts, limits):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, size=(60, 4)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[0] = 0.0
    target = rng.integers(0, n_classes, 60)
    target[:n_classes] = np.arange(n_classes)
    weight = {None: None, "whole": rng.integers(0, 4, 60).astype(float), "any": rng.random(60) + 0.01}[weighted]
    if weight is not None:
        weight[:3] = 1.0
    binned, _ = bin_rows(values, categorical=(1,))
    whole = grow_tree(binned, target, n_classes, losses.get(name), weight, limits)
    assert_same(grow_in_parts(binned, target, n_classes, losses.get(name), weight, limits, n_parts), whole)


@pytest.mark.parametrize("direction", [1, -1])
def test_monotone_constraints_hold_over_parts_too(bin_rows, direction):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 12, size=(300, 2)).astype(float)
    target = (np.sin(values[:, 0]) + 0.2 * values[:, 1] + rng.normal(size=300) > 1).astype(int)
    binned, _ = bin_rows(values)
    monotone = np.array([direction, 0])
    whole = grow_tree(binned, target, 2, losses.get("logistic"), None, TreeLimits(None), monotone=monotone)
    assert whole[0].n_nodes > 10
    assert_same(grow_in_parts(binned, target, 2, losses.get("logistic"), None, TreeLimits(None), 3, monotone), whole)


def test_a_user_s_phi_needs_nothing_more(bin_rows):
    rng = np.random.default_rng(2)
    values, target = rng.integers(0, 9, size=(80, 3)).astype(float), rng.integers(0, 2, 80)
    binned, _ = bin_rows(values)
    mine = losses.from_phi(lambda p: (p * (1 - p)) ** 0.8, name="mine")
    assert_same(
        grow_in_parts(binned, target, 2, mine, None, TreeLimits(6), 4),
        grow_tree(binned, target, 2, mine, None, TreeLimits(6)),
    )


def test_questions_are_about_as_many_as_the_tree_is_deep(bin_rows):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 60, size=(3000, 5)).astype(float)
    target = (values[:, 0] * values[:, 1] + 300 * rng.normal(size=3000) > 900).astype(int)
    binned, _ = bin_rows(values)
    model, _, questions = grow_in_parts(binned, target, 2, losses.get("logistic"), None, TreeLimits(128), 2)
    assert len(model.leaves) == 128
    assert len(questions) <= model.depth.max() + 6
    assert sum(questions) < 3 * 128
