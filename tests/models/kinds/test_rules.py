"""A rule model scores as its formula says, on numeric, categorical and missing values."""

import numpy as np

from permissible.bins.literal import Literal
from permissible.models.kinds.rules import RuleModel, passes
from permissible.table.schema import Column, Schema
from permissible.table.table import Table


def small_table() -> Table:
    schema = Schema((Column("age"), Column("colour", "categorical", ("blue", "red"))))
    age = np.array([1.0, 5.0, np.nan, 9.0])
    colour = np.array([0, 1, -1, -2], dtype=np.int32)
    return Table(schema, (age, colour), 4)


def test_score_is_intercept_plus_signed_coefficients():
    table = small_table()
    young = Literal(0, "<=", 4.0, (0,))
    red = Literal(1, "in", codes=(1,))
    model = RuleModel(table.schema, None, 0.25, ((young,), (young.negated(), red)), np.array([1.0, 10.0]))
    assert model.scores(table).tolist() == [0.25 + 1 - 10, 0.25 - 1 + 10, 0.25 - 1 - 10, 0.25 - 1 - 10]


def test_negated_literal_covers_the_other_rows():
    table = small_table()
    for literal in (
        Literal(0, "<=", 4.0, (0,)),
        Literal(0, "<=", 4.0, (0,), missing=True),
        Literal(0, "missing", missing=True),
        Literal(1, "in", codes=(1,)),
        Literal(1, "in", codes=(0, 1), missing=True),
    ):
        values = table.columns[literal.column]
        assert np.array_equal(passes(literal, values), ~passes(literal.negated(), values))


def test_unseen_category_counts_as_other():
    values = np.array([0, -2], dtype=np.int32)
    assert passes(Literal(1, "in", codes=(254,)), values).tolist() == [False, True]
    assert passes(Literal(1, "not in", codes=(0,)), values).tolist() == [False, True]
