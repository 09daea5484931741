"""Parts of a model <-> the plain data of a model file. The law: what is written is read back equal, number for number.

One pair of functions for each part: columns, literals and rules, losses, and each kind of model. The layout is documented in
docs/model-file.md; a change to it is a new schema version, and the readers of the older versions stay.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from permissible.bins.literal import MISSING, Literal, Rule, Test
from permissible.losses import get
from permissible.losses.registry import names
from permissible.models.additive import AdditiveModel
from permissible.models.affine import AffineTerms
from permissible.models.attributes import Attribute
from permissible.models.forest import Forest
from permissible.models.forest_document import forest_document, read_forest
from permissible.models.linear import LinearModel
from permissible.models.node import Node
from permissible.models.rules import RuleModel
from permissible.models.strict_json import Plain, number, numbers
from permissible.models.tree import TreeModel
from permissible.table.schema import Category, Column, Kind, Schema
from permissible.validation import Words, refusal

Losses = Mapping[str, Any]


# -- columns ------------------------------------------------------------------------------------------------------------


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
    """A category or a class label: text, integer and boolean as they are, a float as an object, so that 1 and 1.0 differ."""
    if isinstance(value, str | bool | int):
        return value
    return {"float": number(value)}


def read_category(node: Node) -> Category:
    """A category or a class label of a document."""
    if isinstance(node.value, str | bool | int):
        return node.value
    return node.fields("float")["float"].number()


# -- literals and rules ---------------------------------------------------------------------------------------------------


def literal_document(literal: Literal) -> Plain:
    """A literal: column, test, what it compares with, and what it says of a missing value."""
    entry: dict[str, Plain] = {"column": literal.column, "test": literal.test}
    if literal.test in ("<=", ">"):
        entry["threshold"] = number(literal.threshold)
    if literal.codes:
        entry["codes"] = list(literal.codes)
    entry["missing"] = literal.missing
    return entry


def read_literal(node: Node, schema: Schema) -> Literal:
    """A literal of a document, checked against the columns it speaks of."""
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


def codes_document(codes: Mapping[int, Any]) -> Plain:
    """The bin of each category, for the columns where it is not the category's position."""
    return {str(column): [int(code) for code in codes[column]] for column in sorted(codes)}


def read_codes(node: Node, schema: Schema) -> dict[int, Any]:
    """The bins of the categories, by column."""
    if not isinstance(node.value, dict):
        raise node.refused("an object")
    columns = {str(position): column for position, column in enumerate(schema.columns)}
    result = {}
    for key, item in node.fields(optional=tuple(columns)).items():
        bins = item.integers(len(columns[key].categories), 0, MISSING)
        result[int(key)] = bins.astype(np.uint8)
    return result


# -- losses -----------------------------------------------------------------------------------------------------------------


def loss_document(loss: Any) -> Plain:
    """A loss by name and parameters; a user's own by name only, marked as such."""
    own = is_own(loss)
    params: dict[str, Plain] = {} if own else {key: number(value) for key, value in sorted(loss.params.items())}
    return {"name": str(loss.name), "parameters": params, "own": own}


def is_own(loss: Any) -> bool:
    """Whether a loss is a user's own, which a file can only name."""
    if loss.name not in names():
        return True
    return bool(loss != get(loss.name, **dict(loss.params)))


def read_loss(node: Node, own_losses: Losses) -> Any:
    """The loss that a document names; a user's own must be among `own_losses`."""
    fields = node.fields("name", "parameters", "own")
    name = fields["name"].text()
    if fields["own"].boolean():
        if name not in own_losses:
            raise refusal(
                "losses",
                f"a mapping with the loss {name!r} that the model was fitted with",
                Words("one with " + (", ".join(map(repr, own_losses)) or "nothing in it")),
                f"pass it again: pm.load(path, losses={{{name!r}: loss}})",
            )
        return own_losses[name]
    if name not in names():
        raise fields["name"].refused("the name of a loss")
    if not isinstance(fields["parameters"].value, dict):
        raise fields["parameters"].refused("an object")
    parameters = fields["parameters"].fields(optional=tuple(fields["parameters"].value))
    return get(name, **{key: item.number() for key, item in parameters.items()})


# -- models -----------------------------------------------------------------------------------------------------------------


def rules_document(model: RuleModel) -> Plain:
    """A list of rules with a coefficient each."""
    terms: list[Plain] = [
        {"coefficient": number(coefficient), "rule": rule_document(rule)}
        for rule, coefficient in zip(model.rules, model.coefficients.tolist(), strict=True)
    ]
    return {
        "kind": "rules",
        "loss": loss_document(model.loss),
        "intercept": number(model.intercept),
        "rules": terms,
        "bins": codes_document(model.code_of_category),
    }


def read_rules(node: Node, schema: Schema, own_losses: Losses) -> RuleModel:
    """A list of rules of a document."""
    fields = node.fields("kind", "loss", "intercept", "rules", "bins")
    terms = [item.fields("coefficient", "rule") for item in fields["rules"].items()]
    return RuleModel(
        schema,
        read_loss(fields["loss"], own_losses),
        fields["intercept"].number(),
        tuple(read_rule(term["rule"], schema) for term in terms),
        np.array([term["coefficient"].number() for term in terms], dtype=np.float64),
        read_codes(fields["bins"], schema),
    )


def tree_document(model: TreeModel) -> Plain:
    """A tree: its nodes in order, children after parents, with the training weight of each class."""
    nodes: list[Plain] = []
    for node, literal in enumerate(model.literals):
        entry: dict[str, Plain] = {"samples": int(model.samples[node]), "weight": numbers(model.weight[node].tolist())}
        if literal is not None:
            entry |= {"test": literal_document(literal), "left": int(model.left[node]), "right": int(model.right[node])}
        nodes.append(entry)
    return {
        "kind": "tree",
        "loss": loss_document(model.loss),
        "smoothing": number(model.smoothing),
        "nodes": nodes,
        "bins": codes_document(model.code_of_category),
        "seen_missing": None if model.seen_missing is None else [int(column) for column in model.seen_missing],
    }


def read_tree(node: Node, schema: Schema, own_losses: Losses) -> TreeModel:
    """A tree of a document; its links must form one tree with children after their parents."""
    fields = node.fields("kind", "loss", "smoothing", "nodes", "bins", "seen_missing")
    seen = fields["seen_missing"]
    items = fields["nodes"].items()
    entries = [item.fields("samples", "weight", optional=("test", "left", "right")) for item in items]
    if not entries:
        raise fields["nodes"].refused("a list of at least one node")
    left, right, literals = np.full(len(entries), -1), np.full(len(entries), -1), []
    children: list[int] = []
    for place, (item, entry) in enumerate(zip(items, entries, strict=True)):
        if len({"test", "left", "right"} & set(entry)) not in (0, 3):
            raise item.refused("a leaf, or a node with 'test', 'left' and 'right'")
        literals.append(read_literal(entry["test"], schema) if "test" in entry else None)
        if "test" in entry:
            left[place] = entry["left"].integer(place + 1, len(entries))
            right[place] = entry["right"].integer(place + 1, len(entries))
            children += [int(left[place]), int(right[place])]
    if sorted(children) != list(range(1, len(entries))):
        raise fields["nodes"].refused("nodes that form one tree", Words("nodes that do not"))
    width = len(entries[0]["weight"].items())
    return TreeModel(
        schema,
        read_loss(fields["loss"], own_losses),
        tuple(literals),
        left,
        right,
        np.array([entry["weight"].floats(width, finite=True) for entry in entries]),
        np.array([entry["samples"].integer(0) for entry in entries]),
        read_codes(fields["bins"], schema),
        fields["smoothing"].number(finite=True),
        None if seen.is_null() else tuple(seen.integers(low=0, high=len(schema.columns)).tolist()),
    )


def linear_document(model: LinearModel) -> Plain:
    """A linear score with its boundaries."""
    return {
        "kind": "linear",
        "loss": loss_document(model.loss),
        "intercept": number(model.intercept),
        "coefficients": numbers(model.coef.tolist()),
        "boundaries": numbers(np.asarray(model.boundaries).tolist()),
        "deltas": numbers(np.asarray(model.deltas).tolist()),
    }


def read_linear(node: Node, schema: Schema, own_losses: Losses) -> LinearModel:
    """A linear score of a document."""
    fields = node.fields("kind", "loss", "intercept", "coefficients", "boundaries", "deltas")
    boundaries = fields["boundaries"].floats(finite=True)
    return LinearModel(
        fields["coefficients"].floats(len(schema.columns), finite=True),
        fields["intercept"].number(finite=True),
        read_loss(fields["loss"], own_losses),
        boundaries,
        fields["deltas"].floats(len(boundaries)),
    )


def additive_document(model: AdditiveModel) -> Plain:
    """An additive model of several classes, part by part."""
    return {
        "kind": "additive",
        "loss": model.loss,
        "prior": numbers(model.prior.tolist()),
        "exponent": number(model.exponent),
        "calibrated": bool(model.calibrated),
        "parts": [_part_document(part) for part in model.parts],
    }


def _part_document(part: Any) -> Plain:
    if isinstance(part, Forest):
        return forest_document(part)
    if not isinstance(part, AffineTerms):
        raise refusal("model", "an additive model whose parts a file can hold", Words(type(part).__name__))
    attributes: list[Plain] = [
        {"column": a.column, "category": a.category, "mean": number(a.mean)} for a in part.attributes
    ]
    return {
        "kind": "affine",
        "attributes": attributes,
        "round": [int(value) for value in part.round_],
        "coordinate": [int(value) for value in part.coordinate],
        "attribute": [int(value) for value in part.attribute],
        "slope": numbers(part.slope.tolist()),
        "level": numbers(part.level.tolist()),
    }


def read_additive(node: Node, schema: Schema, own_losses: Losses) -> AdditiveModel:
    """An additive model of a document."""
    fields = node.fields("kind", "loss", "prior", "exponent", "calibrated", "parts")
    prior = fields["prior"].floats(finite=True)
    if len(prior) < 2:
        raise fields["prior"].refused("a list of at least two numbers")
    return AdditiveModel(
        schema,
        fields["loss"].one_of(("gll", "gel", "ls", "lt", "mc")),
        prior,
        tuple(_read_part(item, schema, len(prior)) for item in fields["parts"].items()),
        fields["exponent"].number(finite=True),
        fields["calibrated"].boolean(),
    )


def _read_part(node: Node, schema: Schema, n_classes: int) -> AffineTerms | Forest:
    if isinstance(node.value, dict) and node.value.get("kind") == "forest":
        return read_forest(node, schema, n_classes)
    fields = node.fields("kind", "attributes", "round", "coordinate", "attribute", "slope", "level")
    fields["kind"].one_of(("affine",))
    attributes = tuple(_read_attribute(item, schema) for item in fields["attributes"].items())
    rounds = fields["round"].integers(low=0)
    return AffineTerms(
        attributes,
        n_classes,
        rounds,
        fields["coordinate"].integers(len(rounds), 0, n_classes - 1),
        fields["attribute"].integers(len(rounds), -1, len(attributes)),
        fields["slope"].floats(len(rounds), finite=True),
        fields["level"].floats(len(rounds), finite=True),
    )


def _read_attribute(node: Node, schema: Schema) -> Attribute:
    fields = node.fields("column", "category", "mean")
    column = fields["column"].integer(0, len(schema.columns))
    categories = len(schema.columns[column].categories)
    category = fields["category"].integer(0 if categories else -1, categories if categories else 0)
    return Attribute(column, category, fields["mean"].number(finite=True))


def several_document(models: Sequence[Any]) -> Plain:
    """One model a class."""
    return {"kind": "one-versus-rest", "models": [model_document(model) for model in models]}


def read_several(node: Node, schema: Schema, own_losses: Losses) -> tuple[Any, ...]:
    """One model a class, each of the same kind."""
    fields = node.fields("kind", "models")
    return tuple(read_rules(item, schema, own_losses) for item in fields["models"].items())


_WRITERS: dict[type, Callable[[Any], Plain]] = {
    RuleModel: rules_document,
    TreeModel: tree_document,
    LinearModel: linear_document,
    AdditiveModel: additive_document,
    tuple: several_document,
    list: several_document,
}
_READERS: dict[str, Callable[[Node, Schema, Losses], Any]] = {
    "rules": read_rules,
    "tree": read_tree,
    "linear": read_linear,
    "additive": read_additive,
    "one-versus-rest": read_several,
}


def model_document(model: object) -> Plain:
    """The plain data of any model."""
    if type(model) not in _WRITERS:
        raise refusal("model", "a model of permissible", Words(type(model).__name__))
    return _WRITERS[type(model)](model)


def read_model(node: Node, schema: Schema, own_losses: Losses) -> Any:
    """The model of a document."""
    if not isinstance(node.value, dict) or "kind" not in node.value:
        raise node.refused("an object with 'kind'")
    kind = Node(node.value["kind"], f"{node.path}.kind").one_of(tuple(_READERS))
    return _READERS[kind](node, schema, own_losses)
