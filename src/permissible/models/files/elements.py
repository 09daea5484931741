"""Parts of a model <-> the plain data of a model file. What is written is read back equal, number for number.

One pair of functions for each part: columns, literals and rules, losses; `models.py` has the models. The layout is
documented in docs/model-file.md; a change to it is a new schema version, and the readers of the older versions stay.
"""

from collections.abc import Mapping
from typing import get_args

import numpy as np

from permissible.bins.literal import MISSING, Literal, Rule, Test
from permissible.losses import Loss, get
from permissible.losses.registry import names
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, number
from permissible.table.schema import Category, Column, Kind, Schema
from permissible.types import Codes
from permissible.validation import Words, refusal

Losses = Mapping[str, Loss]


# -- columns ----------------------------------------------------------------------------------------------------------


def schema_document(schema: Schema) -> Plain:
    """The columns: names, kinds, and the categories with their types."""
    columns: list[Plain] = []
    for column in schema.columns:
        entry: dict[str, Plain] = {"name": column.name, "kind": column.kind}
        if column.kind == "categorical":
            entry["categories"] = [category_document(value) for value in column.categories]
        columns.append(entry)
    return {"named": schema.named, "columns": columns}


def read_schema(node: Node) -> Schema:
    """The columns of a document."""
    fields = node.fields("named", "columns")
    return Schema(tuple(_read_column(item) for item in fields["columns"].items()), fields["named"].boolean())


def _read_column(node: Node) -> Column:
    fields = node.fields("name", "kind", optional=("categories",))
    kind: Kind = fields["kind"].one_of(get_args(Kind))
    if (kind == "categorical") != ("categories" in fields):
        raise node.refused("an object with 'categories' exactly when its kind is 'categorical'")
    listed = fields["categories"].items() if "categories" in fields else []
    return Column(fields["name"].text(), kind, tuple(read_category(item) for item in listed))


def category_document(value: Category) -> Plain:
    """A category or a class label; a float is written as an object, so that 1 and 1.0 differ."""
    if isinstance(value, str | bool | int):
        return value
    return {"float": number(value)}


def read_category(node: Node) -> Category:
    """A category or a class label of a document."""
    if isinstance(node.value, str | bool | int):
        return node.value
    return node.fields("float")["float"].number()


# -- literals and rules -----------------------------------------------------------------------------------------------


def literal_document(literal: Literal) -> Plain:
    """A literal: column, test, what it compares with, and whether it holds for a missing value."""
    entry: dict[str, Plain] = {"column": literal.column, "test": literal.test}
    if literal.test in ("<=", ">"):
        entry["threshold"] = number(literal.threshold)
    if literal.codes:
        entry["codes"] = list(literal.codes)
    entry["missing"] = literal.missing
    return entry


def read_literal(node: Node, schema: Schema) -> Literal:
    """A literal of a document, checked against the columns."""
    fields = node.fields("column", "test", "missing", optional=("threshold", "codes"))
    column = fields["column"].integer(0, len(schema.columns))
    tests: tuple[Test, ...] = get_args(Test)
    test = fields["test"].one_of(tests)
    categorical = schema.columns[column].kind == "categorical"
    if test not in ("missing", "present") and (test in ("in", "not in")) != categorical:
        raise fields["test"].refused(f"a test that fits a {schema.columns[column].kind} column")
    if (test in ("<=", ">")) != ("threshold" in fields):
        raise node.refused("an object with 'threshold' exactly when it compares with one")
    threshold = fields["threshold"].number() if "threshold" in fields else float("nan")
    codes = fields["codes"].integers(low=0, high=MISSING).tolist() if "codes" in fields else []
    if test in ("<=", ">") and len(codes) != 1:
        raise node.refused("an object with one number in 'codes' when it compares with a threshold")
    return Literal(column, test, threshold, tuple(codes), fields["missing"].boolean())


def rule_document(rule: Rule) -> Plain:
    """A rule: the list of its literals."""
    return [literal_document(literal) for literal in rule]


def read_rule(node: Node, schema: Schema) -> Rule:
    """A rule of a document."""
    return tuple(read_literal(item, schema) for item in node.items())


def codes_document(codes: Mapping[int, Codes]) -> Plain:
    """The bin of each category, for the columns where it is not the category's position."""
    return {str(column): [int(code) for code in codes[column]] for column in sorted(codes)}


def read_codes(node: Node, schema: Schema) -> dict[int, Codes]:
    """The bins of the categories, by column."""
    if not isinstance(node.value, dict):
        raise node.refused("an object")
    columns = {str(position): column for position, column in enumerate(schema.columns)}
    result = {}
    for key, item in node.fields(optional=tuple(columns)).items():
        bins = item.integers(len(columns[key].categories), 0, MISSING)
        result[int(key)] = bins.astype(np.uint8)
    return result


# -- losses -----------------------------------------------------------------------------------------------------------


def loss_document(loss: Loss) -> Plain:
    """A loss by name and parameters; a user's own by name only, marked as such."""
    own = is_own(loss)
    params: dict[str, Plain] = {} if own else {key: number(value) for key, value in sorted(loss.params.items())}
    return {"name": str(loss.name), "parameters": params, "own": own}


def is_own(loss: Loss) -> bool:
    """Whether a loss is a user's own, which a file can only name."""
    if not isinstance(getattr(loss, "name", None), str):
        raise refusal("loss", "one that a file can name", loss, "give it a name: losses.from_phi(phi, name=...)")
    if loss.name not in names():
        return True
    return bool(loss != get(loss.name, **dict(loss.params)))


def own_loss(name: str, own_losses: Losses) -> Loss:
    """A user's own loss, which a file only names."""
    if name not in own_losses:
        expected = f"a mapping with the loss {name!r} that the model was fitted with"
        came = Words("one with " + (", ".join(map(repr, own_losses)) or "nothing in it"))
        raise refusal("losses", expected, came, f"pass it again: pm.load(path, losses={{{name!r}: loss}})")
    return own_losses[name]


def read_loss(node: Node, own_losses: Losses) -> Loss:
    """The loss that a document names; a user's own must be among `own_losses`."""
    fields = node.fields("name", "parameters", "own")
    name = fields["name"].text()
    if fields["own"].boolean():
        return own_loss(name, own_losses)
    if name not in names():
        raise fields["name"].refused("the name of a loss")
    if not isinstance(fields["parameters"].value, dict):
        raise fields["parameters"].refused("an object")
    parameters = fields["parameters"].fields(optional=tuple(fields["parameters"].value))
    return get(name, **{key: item.number() for key, item in parameters.items()})
