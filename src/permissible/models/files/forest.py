"""Additive models and boosted trees as plain data, and back; arrays for the compiled core are checked."""

import numpy as np

from permissible.bins.binning import Binning, ColumnBins
from permissible.losses.multiclass.losses import MULTICLASS
from permissible.models.files.elements import Losses, loss_document, own_loss, read_loss
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, number, numbers
from permissible.models.kinds.additive import AdditiveModel
from permissible.models.kinds.affine import AffineTerms, Attribute
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.forest import Forest, joined
from permissible.table.schema import Schema
from permissible.types import AnyArray
from permissible.validation import Words, refusal


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


def _part_document(part: object) -> Plain:
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
    name = fields["loss"].text()
    if name not in MULTICLASS:
        own_loss(name, own_losses)  # a user's own loss must be passed again
    return AdditiveModel(
        schema,
        name,
        prior,
        tuple(_read_part(item, schema, len(prior)) for item in fields["parts"].items()),
        fields["exponent"].number(finite=True),
        fields["calibrated"].boolean(),
    )


def _read_part(node: Node, schema: Schema, n_classes: int) -> Forest | AffineTerms:
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


def boosted_document(model: BoostedModel) -> Plain:
    """Boosted trees: the scores at the start, then the trees."""
    return {
        "kind": "boosted",
        "loss": loss_document(model.loss),
        "constant": numbers(model.constant.tolist()),
        "forest": forest_document(model.forest),
    }


def read_boosted(node: Node, schema: Schema, own_losses: Losses) -> BoostedModel:
    """Boosted trees of a document; every leaf has a value for each score."""
    fields = node.fields("kind", "loss", "constant", "forest")
    constant = fields["constant"].floats(finite=True)
    if not len(constant) or len(constant) == 2:
        raise fields["constant"].refused("one number, or one per class for at least three classes")
    forest = read_forest(fields["forest"], schema, len(constant) + 1)
    splits, leaves = np.diff(forest.arrays["first_node"]), np.diff(forest.arrays["first_value"])
    if (
        np.any(leaves != (splits + 1) * len(constant))
        or np.any(forest.arrays["coordinate"] != -1)
        or np.any(splits > 255)
    ):
        raise fields["forest"].refused("trees of at most 256 leaves with a value for each score")
    return BoostedModel(schema, read_loss(fields["loss"], own_losses), constant, forest)


def forest_document(forest: Forest) -> Plain:
    """Bins, then trees: nodes with the codes that go left (hexadecimal, lowest code first), and leaf values."""
    arrays = forest.arrays
    trees: list[Plain] = []
    for tree in range(forest.n_trees):
        nodes = range(*arrays["first_node"][tree : tree + 2])
        values = arrays["value"][slice(*arrays["first_value"][tree : tree + 2])]
        trees.append(
            {
                "round": int(forest.round_[tree]),
                "coordinate": int(arrays["coordinate"][tree]),
                "column": [int(arrays["column"][node]) for node in nodes],
                "code": [int(arrays["code"][node]) for node in nodes],
                "left": [int(arrays["left"][node]) for node in nodes],
                "right": [int(arrays["right"][node]) for node in nodes],
                "mask": [arrays["mask"][node].tobytes().hex() for node in nodes],
                "value": numbers(values.tolist()),
            }
        )
    bins: list[Plain] = [
        {
            "n_bins": int(column.n_bins),
            "has_missing": bool(column.has_missing),
            "thresholds": numbers(column.thresholds.tolist()),
            "codes": [int(code) for code in column.code_of_category],
        }
        for column in forest.binning.columns
    ]
    return {"kind": "forest", "bins": bins, "trees": trees}


def read_forest(node: Node, schema: Schema, n_classes: int) -> Forest:
    """The forest of a document."""
    fields = node.fields("kind", "bins", "trees")
    fields["kind"].one_of(("forest",))
    columns = tuple(
        _read_bins(item, len(column.categories))
        for item, column in zip(fields["bins"].items(len(schema.columns)), schema.columns, strict=True)
    )
    read = [_read_tree(item, columns, n_classes) for item in fields["trees"].items()]
    rounds = np.array([round_ for round_, _ in read], dtype=np.int64)
    return Forest(Binning(schema, columns), n_classes, joined([tree for _, tree in read]), rounds)


def _read_bins(node: Node, n_categories: int) -> ColumnBins:
    fields = node.fields("n_bins", "has_missing", "thresholds", "codes")
    thresholds = fields["thresholds"].floats(finite=True)
    if len(thresholds) > 254 or np.any(np.diff(thresholds) <= 0):
        raise fields["thresholds"].refused("at most 254 increasing numbers")
    codes = fields["codes"].integers(n_categories, 0, 255)
    return ColumnBins(
        fields["n_bins"].integer(0, 256), fields["has_missing"].boolean(), thresholds, codes.astype(np.uint8)
    )


def _read_tree(node: Node, columns: tuple[ColumnBins, ...], n_classes: int) -> tuple[int, dict[str, AnyArray]]:
    """One tree: every node but the first and every leaf is the child of exactly one earlier node."""
    fields = node.fields("round", "coordinate", "column", "code", "left", "right", "mask", "value")
    coordinate = fields["coordinate"].integer(-1, n_classes - 1)
    column = fields["column"].integers(None, 0, len(columns))
    n_nodes = len(column)
    n_leaves = n_nodes + 1 if _is_tree(node, fields, n_nodes) else 2
    value = fields["value"].floats(n_leaves * (1 if coordinate >= 0 else n_classes - 1), finite=True)
    masks = [item.text() for item in fields["mask"].items(n_nodes)]
    if any(len(mask) != 64 or set(mask) - set("0123456789abcdef") for mask in masks):
        raise fields["mask"].refused("64 hexadecimal digits per node")
    bits = np.frombuffer(bytes.fromhex("".join(masks)), dtype=np.uint8).reshape(n_nodes, 32)
    return fields["round"].integer(0, None), {
        "column": column.astype(np.int32),
        "code": fields["code"].integers(n_nodes, -1, 256).astype(np.int32),
        "left": fields["left"].integers(n_nodes, -(n_nodes + 1), n_nodes).astype(np.int32),
        "right": fields["right"].integers(n_nodes, -(n_nodes + 1), n_nodes).astype(np.int32),
        "mask": bits.copy(),
        "first_node": np.array([0, n_nodes], dtype=np.int32),
        "first_value": np.array([0, len(value)], dtype=np.int32),
        "coordinate": np.array([coordinate], dtype=np.int32),
        "value": value,
    }


def _is_tree(node: Node, fields: dict[str, Node], n_nodes: int) -> bool:
    """Whether leaves have one parent each (a tree); a rule, the other shape, has the two leaves 0 and 1."""
    left = fields["left"].integers(n_nodes, -(n_nodes + 1), n_nodes).tolist()
    right = fields["right"].integers(n_nodes, -(n_nodes + 1), n_nodes).tolist()
    inner = sorted(child for child in left + right if child >= 0)
    if inner != list(range(1, n_nodes)) or any(
        0 <= child <= place for children in (left, right) for place, child in enumerate(children)
    ):
        raise node.refused("nodes that form one tree, children after their parents")
    leaves = sorted(~child for child in left + right if child < 0)
    if leaves == list(range(n_nodes + 1)):
        return True
    if n_nodes == 0 or leaves == [0] * n_nodes + [1]:
        return n_nodes == 0
    raise node.refused("leaves that are numbered from 0, each once, or the two sides of a rule")
