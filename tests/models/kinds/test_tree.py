"""A tree built by hand: descent, probabilities, finite scores, paths."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.bins.literal import Literal
from permissible.models.kinds.rules import passes
from permissible.models.kinds.tree import PURE, TreeModel
from permissible.table.schema import Column, Schema
from permissible.table.table import Table

logistic = SimpleNamespace(
    name="logistic", score_limit=np.inf, score=lambda p: np.log(np.asarray(p) + 0.0) - np.log1p(-np.asarray(p))
)
SCHEMA = Schema((Column("age"), Column("colour", "categorical", ("blue", "green", "red")), Column("owner", "boolean")))


def tree(first, second, **kwargs):
    """Root test, then a test on its left side; leaves 2, 3, 4."""
    return TreeModel(
        SCHEMA,
        logistic,
        (first, second, None, None, None),
        np.array([1, 3, -1, -1, -1]),
        np.array([2, 4, -1, -1, -1]),
        np.array([[8.0, 8.0], [6.0, 2.0], [2.0, 6.0], [6.0, 0.0], [0.0, 2.0]]),
        np.array([16, 8, 8, 6, 2]),
        **kwargs,
    )


def table(age, colour, owner):
    columns = (np.array(age, dtype=float), np.array(colour, dtype=np.int32), np.array(owner, dtype=float))
    return Table(SCHEMA, columns, len(age))


LITERALS = st.one_of(
    st.builds(
        Literal,
        st.sampled_from([0, 2]),
        st.sampled_from(["<=", ">"]),
        st.sampled_from([0.0, 1.5, 30.0]),
        st.just((3,)),
        st.booleans(),
    ),
    st.builds(
        lambda test, codes, missing: Literal(1, test, codes=codes, missing=missing),
        st.sampled_from(["in", "not in"]),
        st.sampled_from([(0,), (1, 2), (2,)]),
        st.booleans(),
    ),
    st.sampled_from([Literal(0, "missing", missing=True), Literal(0, "present"), Literal(1, "missing", missing=True)]),
)


@settings(max_examples=200, deadline=None)
@given(LITERALS, LITERALS, st.integers(0, 2**32 - 1), st.booleans())
def test_the_compiled_descent_follows_the_literals(first, second, seed, rare):
    rng = np.random.default_rng(seed)
    rows = table(
        rng.choice([-1.0, 1.5, 2.0, 30.0, 31.0, np.nan], 40),
        rng.integers(-2, 3, 40),
        rng.choice([0.0, 1.0, np.nan], 40),
    )
    codes = {1: np.array([0, 254, 2], dtype=np.uint8)} if rare else {}
    model = tree(first, second, code_of_category=codes)
    goes_left = [passes(test, rows.columns[test.column], codes.get(test.column)) for test in (first, second)]
    expected = np.where(goes_left[0], np.where(goes_left[1], 3, 4), 2)
    np.testing.assert_array_equal(model.apply(rows), expected)
    for leaf in (2, 3, 4):
        covered = np.ones(40, dtype=bool)
        for literal in model.path(leaf):
            covered &= passes(literal, rows.columns[literal.column], codes.get(literal.column))
        np.testing.assert_array_equal(covered, expected == leaf)


def test_scores_of_pure_leaves_are_finite_and_beyond_all_others():
    with np.errstate(divide="ignore"):
        model = tree(Literal(0, "<=", 30.0, (3,)), Literal(2, ">", 0.5, (0,)))
        score = model.node_score
    assert np.isfinite(score).all()
    np.testing.assert_allclose(score[[2, 3, 4]], [np.log(3), -np.log((1 - PURE) / PURE), np.log((1 - PURE) / PURE)])
    np.testing.assert_array_equal(model.is_pure, [False, False, False, True, True])
    np.testing.assert_array_equal(model.node_probability[[2, 3]], [[0.25, 0.75], [1.0, 0.0]])


def test_smoothing_one_is_laplace_s_rule():
    model = tree(Literal(0, "<=", 30.0, (3,)), Literal(2, ">", 0.5, (0,)), smoothing=1.0)
    np.testing.assert_allclose(model.node_probability[3], [7 / 8, 1 / 8])
    assert model.node_score[3] == pytest.approx(-np.log(7))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_in_any_order_falls_into_the_same_leaves(dtype, order):
    schema = Schema((Column("x0"), Column("x1")))
    values = np.array([[0.0, 5.0], [1.0, np.nan], [np.nan, 0.0], [2.0, 1.0], [1.0, 0.5]], dtype=dtype, order=order)
    model = TreeModel(
        schema,
        logistic,
        (Literal(0, "<=", 1.0, (0,), missing=True), Literal(1, "<=", 0.5, (0,)), None, None, None),
        np.array([1, 3, -1, -1, -1]),
        np.array([2, 4, -1, -1, -1]),
        np.ones((5, 2)),
        np.ones(5, dtype=np.int64),
    )
    rows = Table(schema, tuple(values.T), 5, values)
    np.testing.assert_array_equal(model.apply(rows), [4, 4, 3, 2, 3])


def test_a_test_that_does_not_fit_its_column_is_refused():
    with pytest.raises(ValueError, match="does not fit its column"):
        tree(Literal(1, "<=", 0.0, (0,)), Literal(0, "present")).apply(table([1.0], [0], [0.0]))
