"""The tree part of an additive model as plain data, and back; arrays for the compiled core are checked."""

import numpy as np

from permissible.bins.binning import Binning, ColumnBins
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import Plain, numbers
from permissible.models.kinds.forest import Forest, joined
from permissible.table.schema import Schema
from permissible.types import AnyArray


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
