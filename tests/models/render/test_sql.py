"""SQL says what the model says: run in SQLite and DuckDB, with odd names, missing values and hostile categories."""

import sqlite3

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.bins.literal import Literal
from permissible.models.card.actions import Actions
from permissible.models.card.from_model import scorecard
from permissible.models.kinds.rules import RuleModel
from permissible.models.render.dialects import dialect
from permissible.models.render.sql import select
from permissible.table.schema import Column, Schema
from permissible.table.table import Table
from tests.models.random_models import rows_of, rule_models, table_for

HARD = Actions("cuts", ("no", "yes"), (0.5,), (0.0,), cut_goes_up=True, by_score=True)
TYPES = {"numeric": "DOUBLE", "boolean": "BOOLEAN", "categorical": "VARCHAR"}


def answers(query, table, engine):
    """Run a query over the rows of a table, and return its last columns in row order."""
    columns = table.schema.columns
    target = dialect("sqlite" if engine == "sqlite" else "duckdb")
    listed = ", ".join(f"{target.name_of(column.name)} {TYPES[column.kind]}" for column in columns)
    connection = sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()
    connection.execute(f"CREATE TABLE data (row_number INTEGER, {listed})")
    rows = [(i, *row.values()) for i, row in enumerate(rows_of(table))]
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * (len(columns) + 1))})", rows)
    result = connection.execute(query).fetchall()
    connection.close()
    return [row[len(columns) + 1 :] for row in sorted(result, key=lambda row: row[0])]


ENGINES = [("sqlite", "sqlite"), ("duckdb", "duckdb"), ("duckdb", "postgres"), ("duckdb", "ansi")]


@pytest.mark.parametrize(("engine", "name"), ENGINES)
@given(model=rule_models(), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_sql_scores_and_decides_like_the_model(engine, name, model, seed):
    table = table_for(model, 25, seed)
    found = answers(select(scorecard(model, model.schema), HARD, dialect_name=name), table, engine)
    score = model.scores(table)
    np.testing.assert_array_equal([row[0] for row in found], score)
    np.testing.assert_allclose([row[1] for row in found], model.probabilities(table)[:, 1], rtol=1e-12, atol=1e-14)
    assert [row[2] for row in found] == ["yes" if value >= 0 else "no" for value in score]


def test_nan_counts_as_missing_in_databases_that_can_hold_it():
    schema = Schema((Column("x"),))
    rules = tuple((Literal(0, test, 1.0, (0,), missing),) for test in ("<=", ">") for missing in (False, True))
    rules = (*rules, (Literal(0, "missing", missing=True),))
    model = RuleModel(schema, losses.get("logistic"), 0.0, rules, np.array([1.0, 2, 4, 8, 16]))
    table = Table(schema, (np.array([np.nan, 0.0, 2.0]),), 3)
    for name in ("duckdb", "postgres"):
        connection = duckdb.connect()
        connection.execute("CREATE TABLE data AS SELECT * FROM (VALUES ('nan'::DOUBLE), (0.0), (2.0)) AS v(x)")
        found = connection.execute(
            select(scorecard(model, model.schema), HARD, dialect_name=name, keep=["x"])
        ).fetchall()
        assert [row[1] for row in found] == model.scores(table).tolist()


def test_a_missing_column_is_an_error_and_not_a_text_in_sqlite():
    model = RuleModel(
        Schema((Column("gone"),)), losses.get("logistic"), 0.0, ((Literal(0, ">", 1.0, (0,)),),), np.ones(1)
    )
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(select(scorecard(model, model.schema), HARD, dialect_name="sqlite"))


def test_injection_through_names_and_categories_stays_text():
    evil = '"; DROP TABLE data; --'
    schema = Schema((Column(evil, "categorical", ("'; DROP TABLE data; --", "b")),))
    model = RuleModel(schema, losses.get("logistic"), 0.0, ((Literal(0, "in", codes=(0,)),),), np.ones(1))
    table = Table(schema, (np.array([0, 1, -1], dtype=np.int32),), 3)
    for engine in ("sqlite", "duckdb"):
        found = answers(select(scorecard(model, model.schema), HARD, dialect_name=engine), table, engine)
        assert [row[0] for row in found] == [1.0, -1.0, -1.0]


def test_an_empty_name_is_refused_where_the_database_refuses_it_and_works_in_sqlite():
    model = RuleModel(Schema((Column(""),)), losses.get("logistic"), 0.0, ((Literal(0, ">", 1.0, (0,)),),), np.ones(1))
    table = Table(model.schema, (np.array([0.0, 2.0]),), 2)
    assert [
        row[0] for row in answers(select(scorecard(model, model.schema), HARD, dialect_name="sqlite"), table, "sqlite")
    ] == [
        -1.0,
        1.0,
    ]
    with pytest.raises(ValueError, match="duckdb SQL can hold, got an empty one; rename the column"):
        select(scorecard(model, model.schema), HARD, dialect_name="duckdb")


def test_the_dialect_is_checked():
    model = RuleModel(Schema((Column("x"),)), losses.get("logistic"), 0.0, (), np.ones(0))
    with pytest.raises(
        ValueError, match="`dialect` must be one of 'ansi', 'duckdb', 'postgres', 'sqlite', got 'oracle'"
    ):
        select(scorecard(model, model.schema), HARD, dialect_name="oracle")


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_back_to_the_last_bit(value):
    assert duckdb.execute(f"SELECT {dialect('duckdb').double(value)}").fetchone()[0] == value
    if 1e-18 < abs(value) < 1e18:
        assert sqlite3.connect(":memory:").execute(f"SELECT {dialect('sqlite').double(value)}").fetchone()[0] == value
