"""Point cards as part of a model file."""

import numpy as np

from permissible.models.files.elements import (
    Losses,
    codes_document,
    loss_document,
    read_codes,
    read_loss,
    read_rule,
    rule_document,
)
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, number, numbers
from permissible.models.points.model import PointsModel
from permissible.table.schema import Schema


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
