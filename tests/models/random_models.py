"""Random rule models over tables with odd names, odd categories and missing values, for the tests of every rendering."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from permissible import losses
from permissible.bins.literal import OTHER, Literal
from permissible.models.kinds.rules import RuleModel
from permissible.table.schema import Column, Schema
from permissible.table.table import Table

ODD_NAMES = [
    "age",
    "select",
    "two words",
    'say "hi"',
    "it's",
    "größe",
    "年齢",
    "x); DROP TABLE data; --",
    "<script>alert(1)</script>",
    "a\nb",
    "tab\there",
    "semi;colon",
    "back\\slash",
    "%s",
    "{x}",
    "score",
    "probability",
    "decision",
    "`tick`",
    "[x]",
    "-- note",
    "NULL",
    "0",
]
ODD_TEXTS = [
    "red",
    "",
    "O'Brien",
    "'); DROP TABLE data; --",
    "</script><script>alert(1)",
    'q"q',
    "naïve",
    "NULL",
    "\\",
    "a\nb",
    "{}",
    "%",
]
CLOSED_FORMS = [
    ("logistic", {}),
    ("matsushita", {}),
    ("mu", {"mu": 0.5}),
    ("squared", {}),
    ("logcosh", {"zeta": -4.0}),
    ("exponential", {}),
    ("least_squares", {}),
]

# numbers as models have them: SQLite is exact to the last bit only between 1e-18 and 1e18
finite = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x if abs(x) > 1e-9 else 0.0)
weights = st.floats(-3, 3).map(lambda x: x if abs(x) > 1e-9 else 0.0)


@st.composite
def columns(draw: Any, name: str) -> Column:
    kind = draw(st.sampled_from(["numeric", "boolean", "categorical"]))
    if kind != "categorical":
        return Column(name, kind)
    return Column(
        name, "categorical", tuple(draw(st.lists(st.sampled_from(ODD_TEXTS), min_size=1, max_size=5, unique=True)))
    )


@st.composite
def schemas(draw: Any, names: list[str] = ODD_NAMES) -> Schema:
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    return Schema(tuple(draw(columns(name)) for name in chosen))


@st.composite
def literals(draw: Any, schema: Schema) -> Literal:
    position = draw(st.integers(0, len(schema.columns) - 1))
    column = schema.columns[position]
    test = draw(st.sampled_from(["missing", "present", "compare", "compare", "compare"]))
    if test in ("missing", "present"):
        return Literal(position, test, missing=test == "missing")
    missing = draw(st.booleans())
    if column.kind == "categorical":
        known = [*range(len(column.categories)), OTHER]
        codes = draw(st.lists(st.sampled_from(known), min_size=1, max_size=4, unique=True))
        return Literal(position, draw(st.sampled_from(["in", "not in"])), codes=tuple(sorted(codes)), missing=missing)
    threshold = 0.5 if column.kind == "boolean" else draw(finite)
    return Literal(position, draw(st.sampled_from(["<=", ">"])), threshold, (draw(st.integers(0, 200)),), missing)


@st.composite
def rule_models(draw: Any, names: list[str] = ODD_NAMES, forms: list[Any] = CLOSED_FORMS) -> RuleModel:
    schema = draw(schemas(names))
    rules = tuple(tuple(draw(st.lists(literals(schema), max_size=3))) for _ in range(draw(st.integers(0, 12))))
    coefficients = np.array(draw(st.lists(weights, min_size=len(rules), max_size=len(rules))), dtype=float)
    name, params = draw(st.sampled_from(forms))
    return RuleModel(schema, losses.get(name, **params), draw(weights), rules, coefficients)


def table_for(model: RuleModel, n_rows: int = 60, seed: int = 0) -> Table:
    """Rows that visit thresholds exactly, unseen categories and missing values."""
    generator = np.random.default_rng(seed)
    values: list[Any] = []
    for position, column in enumerate(model.schema.columns):
        missing = generator.random(n_rows) < 0.2
        if column.kind == "categorical":
            codes = generator.integers(-2, len(column.categories), n_rows).astype(np.int32)
            values.append(np.where(missing, np.int32(-1), codes))
            continue
        if column.kind == "boolean":
            numbers = generator.integers(0, 2, n_rows).astype(float)
        else:
            used = [
                x.threshold for rule in model.rules for x in rule if x.column == position and np.isfinite(x.threshold)
            ]
            numbers = generator.choice([*used, *generator.normal(0, 1e3, 5)], n_rows)
        values.append(np.where(missing, np.nan, numbers))
    return Table(model.schema, tuple(values), n_rows)


def rows_of(table: Table, unseen: str = "never seen before") -> list[dict[str, Any]]:
    """The rows as mappings from name to plain value, None for missing: what SQL and Python take."""
    rows = []
    for i in range(table.n_rows):
        row: dict[str, Any] = {}
        for column, values in zip(table.schema.columns, table.columns, strict=True):
            value = values[i].item()
            if column.kind == "categorical":
                row[column.name] = None if value == -1 else unseen if value == -2 else column.categories[value]
            else:
                row[column.name] = None if value != value else (bool(value) if column.kind == "boolean" else value)
        rows.append(row)
    return rows
