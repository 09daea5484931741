"""Each kind of model <-> plain data; those of trees are in forest.py. The layout is documented in docs/model-file.md."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from permissible.models.files.elements import (
    Losses,
    codes_document,
    literal_document,
    loss_document,
    read_codes,
    read_literal,
    read_loss,
    read_rule,
    rule_document,
)
from permissible.models.files.forest import additive_document, boosted_document, read_additive, read_boosted
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, number, numbers
from permissible.models.kinds.additive import AdditiveModel
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.kernel import KINDS, Kernel, KernelModel
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.one_versus_rest import OneVersusRest
from permissible.models.kinds.rules import RuleModel
from permissible.models.kinds.tree import TreeModel
from permissible.models.points.model import PointsModel
from permissible.table.schema import Schema
from permissible.validation import Words, refusal


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
        **_cutoffs_document(model),
    }


def read_rules(node: Node, schema: Schema, own_losses: Losses) -> RuleModel:
    """A list of rules of a document."""
    fields = node.fields("kind", "loss", "intercept", "rules", "bins", optional=_CUTOFFS)
    terms = [item.fields("coefficient", "rule") for item in fields["rules"].items()]
    return RuleModel(
        schema,
        read_loss(fields["loss"], own_losses),
        fields["intercept"].number(),
        tuple(read_rule(term["rule"], schema) for term in terms),
        np.array([term["coefficient"].number() for term in terms], dtype=np.float64),
        read_codes(fields["bins"], schema),
        *_read_cutoffs(fields),
    )


_CUTOFFS = ("boundaries", "deltas")


def _cutoffs_document(model: RuleModel) -> dict[str, Plain]:
    """The boundaries that a model was trained for, and their scores; nothing where there are none."""
    if not len(model.boundaries):
        return {}
    return {"boundaries": numbers(model.boundaries.tolist()), "deltas": numbers(model.deltas.tolist())}


def _read_cutoffs(fields: dict[str, Node]) -> tuple[Any, ...]:
    if not any(name in fields for name in _CUTOFFS):
        return ()
    boundaries = fields["boundaries"].floats(finite=True) if "boundaries" in fields else np.empty(0)
    if not len(boundaries) or "deltas" not in fields:
        raise fields[next(name for name in _CUTOFFS if name in fields)].refused("boundaries with their deltas")
    return boundaries, fields["deltas"].floats(len(boundaries), finite=True)


def points_document(model: PointsModel) -> Plain:
    """A point card: whole-number points of rules, the score of a total, and the training cases at each total."""
    terms: list[Plain] = [
        {"points": points, "rule": rule_document(rule)}
        for rule, points in zip(model.rules, model.points.tolist(), strict=True)
    ]
    return {
        "kind": "points",
        "loss": loss_document(model.loss),
        "offset": number(model.offset),
        "unit": number(model.unit),
        "rules": terms,
        "bins": codes_document(model.code_of_category),
        "cases": [numbers(row) for row in model.cases.tolist()],
        "seen_missing": None if model.seen_missing is None else [int(column) for column in model.seen_missing],
    }


def read_points(node: Node, schema: Schema, own_losses: Losses) -> PointsModel:
    """A point card of a document."""
    fields = node.fields("kind", "loss", "offset", "unit", "rules", "bins", "cases", "seen_missing")
    terms = [item.fields("points", "rule") for item in fields["rules"].items()]
    points = np.array([term["points"].integer(1, 2**31) for term in terms], dtype=np.int64)
    cases, seen = fields["cases"].matrix(2, finite=True), fields["seen_missing"]
    if len(cases) != int(points.sum()) + 1:
        raise fields["cases"].refused("a pair of weights for each total")
    return PointsModel(
        schema,
        read_loss(fields["loss"], own_losses),
        fields["offset"].number(finite=True),
        fields["unit"].number(finite=True),
        tuple(read_rule(term["rule"], schema) for term in terms),
        points,
        read_codes(fields["bins"], schema),
        cases,
        None if seen.is_null() else tuple(seen.integers(low=0, high=len(schema.columns)).tolist()),
    )


def tree_document(model: TreeModel) -> Plain:
    """A tree: its nodes in order, children after parents, with the training weight of each class."""
    nodes: list[Plain] = []
    for node, literal in enumerate(model.literals):
        entry: dict[str, Plain] = {"samples": int(model.samples[node]), "weight": numbers(model.weight[node].tolist())}
        if literal is not None:
            entry |= {"test": literal_document(literal), "left": int(model.left[node]), "right": int(model.right[node])}
        nodes.append(entry)
    document: dict[str, Plain] = {
        "kind": "tree",
        "loss": loss_document(model.loss),
        "smoothing": number(model.smoothing),
        "nodes": nodes,
        "bins": codes_document(model.code_of_category),
        "seen_missing": None if model.seen_missing is None else [int(column) for column in model.seen_missing],
    }
    if model.smoothing and model.monotone is not None:  # the fractions of the weights alone would not be in order
        document["monotone"] = [int(direction) for direction in model.monotone]
    if model.n_classes > 2 and model.joint and model.loss.joint_entropy:
        document["joint"] = True
    if model.costs is not None:
        document["costs"] = [numbers(row) for row in model.costs.tolist()]
    return document


def read_tree(node: Node, schema: Schema, own_losses: Losses) -> TreeModel:
    """A tree of a document; its links must form one tree with children after their parents."""
    fields = node.fields(
        "kind", "loss", "smoothing", "nodes", "bins", "seen_missing", optional=("monotone", "joint", "costs")
    )
    seen, monotone = fields["seen_missing"], None
    if "monotone" in fields:
        monotone = tuple(item.integer(-1, 2) for item in fields["monotone"].items(len(schema.columns)))
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
    if monotone is not None and width != 2:
        raise fields["monotone"].refused("for a tree of two classes only")
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
        monotone,
        fields["joint"].boolean() if "joint" in fields else False,
        np.array([row.floats(width, finite=True) for row in fields["costs"].items(width)])
        if "costs" in fields
        else None,
    )


_LINE = ("intercept", "coefficients", "boundaries", "deltas")


def _line_document(model: LinearModel | KernelModel) -> dict[str, Plain]:
    arrays = (model.coef, np.asarray(model.boundaries), np.asarray(model.deltas))
    return {"intercept": number(model.intercept)} | {
        name: numbers(array.tolist()) for name, array in zip(_LINE[1:], arrays, strict=True)
    }


def _read_line(fields: dict[str, Node], n_coefficients: int, own_losses: Losses) -> tuple[Any, ...]:
    """Coefficients, intercept, loss, boundaries and cut-offs."""
    boundaries = fields["boundaries"].floats(finite=True)
    coefficients = fields["coefficients"].floats(n_coefficients, finite=True)
    score = (coefficients, fields["intercept"].number(finite=True), read_loss(fields["loss"], own_losses))
    return *score, boundaries, fields["deltas"].floats(len(boundaries))


def linear_document(model: LinearModel) -> Plain:
    """A linear score with its boundaries."""
    return {"kind": "linear", "loss": loss_document(model.loss), **_line_document(model)}


def read_linear(node: Node, schema: Schema, own_losses: Losses) -> LinearModel:
    """A linear score of a document."""
    fields = node.fields("kind", "loss", *_LINE)
    return LinearModel(*_read_line(fields, len(schema.columns), own_losses))


def kernel_document(model: KernelModel) -> Plain:
    """A kernel score: its support vectors, their coefficients, the kernel and the boundaries."""
    if not model.kernel.compiled:
        name = "a function" if callable(model.kernel.name) else f"{model.kernel.name!r}"
        raise refusal("kernel", f"one of {', '.join(KINDS)}, to be written to a file or exported", Words(name))
    support = model.support.toarray() if hasattr(model.support, "toarray") else np.asarray(model.support)
    return {
        "kind": "kernel",
        "loss": loss_document(model.loss),
        "kernel": str(model.kernel.name),
        "gamma": number(model.kernel.gamma),
        "coef0": number(model.kernel.coef0),
        "degree": int(model.kernel.degree),
        "vectors": [numbers(row) for row in support.astype(np.float64).tolist()],
        **_line_document(model),
    }


def read_kernel(node: Node, schema: Schema, own_losses: Losses) -> KernelModel:
    """A kernel score of a document."""
    shape = ("kernel", "gamma", "coef0", "degree")
    fields = node.fields("kind", "loss", *shape, "vectors", *_LINE)
    kernel = Kernel(
        fields["kernel"].one_of(tuple(KINDS)),
        fields["gamma"].number(finite=True),
        fields["coef0"].number(finite=True),
        fields["degree"].integer(0, 1000),
    )
    vectors = fields["vectors"].matrix(len(schema.columns), finite=True)
    return KernelModel(kernel, vectors, *_read_line(fields, len(vectors), own_losses))


def several_document(model: OneVersusRest) -> Plain:
    """One model per class."""
    return {"kind": "one-versus-rest", "models": [model_document(member) for member in model.models]}


def read_several(node: Node, schema: Schema, own_losses: Losses) -> OneVersusRest:
    """One model per class, each of the same kind."""
    items = node.fields("kind", "models")["models"].items()
    return OneVersusRest(tuple(read_model(item, schema, own_losses, ("rules", "linear", "points")) for item in items))


_WRITERS: dict[type, Callable[[Any], Plain]] = {
    RuleModel: rules_document,
    PointsModel: points_document,
    TreeModel: tree_document,
    LinearModel: linear_document,
    KernelModel: kernel_document,
    AdditiveModel: additive_document,
    BoostedModel: boosted_document,
    OneVersusRest: several_document,
}
_READERS: dict[str, Callable[[Node, Schema, Losses], object]] = {
    "rules": read_rules,
    "points": read_points,
    "tree": read_tree,
    "linear": read_linear,
    "kernel": read_kernel,
    "additive": read_additive,
    "boosted": read_boosted,
    "one-versus-rest": read_several,
}


def model_document(model: object) -> Plain:
    """The plain data of any model."""
    if type(model) not in _WRITERS:
        raise refusal("model", "a model of permissible", Words(type(model).__name__))
    return _WRITERS[type(model)](model)


def read_model(node: Node, schema: Schema, own_losses: Losses, kinds: Sequence[str] = ()) -> Any:
    """The model of a document, of one of the `kinds` where they are given."""
    if not isinstance(node.value, dict) or "kind" not in node.value:
        raise node.refused("an object with 'kind'")
    kind = Node(node.value["kind"], f"{node.path}.kind").one_of(tuple(kinds) or tuple(_READERS))
    return _READERS[kind](node, schema, own_losses)
