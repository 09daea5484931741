"""A tree or rule that a round has chosen, as plain values: it travels to parts of the data and into checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Nodes and leaves of a tree, and how far the rows go along it.

    Parameters
    ----------
    column, code, left, right : array of int, one per node
        Children below 0 are ~leaf; a set bit of the mask goes left; `code` is the last one on the left, -1 for categories.
    mask : array (nodes, 32)
    value : array (leaves, outputs)
    edge : float
        How much of the weight it agrees with.
    leverage : float
        Factor of the values, beside the learning rate.
    capped : bool
        Whether the line search found no finite minimum.
    packed : bool
        Whether it is a stump of the packed search, whose step is taken in two moves.
    """

    column: AnyArray
    code: AnyArray
    left: AnyArray
    right: AnyArray
    mask: AnyArray
    value: AnyArray
    edge: float
    leverage: float = 1.0
    capped: bool = False
    packed: bool = False

    def nodes(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """Column, left, right and mask of the nodes as the kernels take them."""
        column, left, right = (np.asarray(of, dtype=np.int32) for of in (self.column, self.left, self.right))
        return column, left, right, np.asarray(self.mask, dtype=np.uint8).reshape(-1, 32)

    def values(self, outputs: int) -> FloatArray:
        """The values of the leaves, (leaves, outputs)."""
        return np.ascontiguousarray(np.asarray(self.value, dtype=np.float64).reshape(-1, outputs))


def round_arrays(trees: Sequence[tuple[int, float, Grown]]) -> dict[str, AnyArray]:
    """The trees of a round, each with its coordinate and the factor of its values, as the arrays of a `Forest`."""
    found: dict[str, AnyArray] = {
        name: np.concatenate([np.asarray(getattr(tree, name), dtype=np.int32) for _, _, tree in trees])
        for name in ("column", "code", "left", "right")
    }
    found["mask"] = np.concatenate([tree.nodes()[3] for _, _, tree in trees])
    values = [np.float64(factor) * np.asarray(tree.value, dtype=np.float64).ravel() for _, factor, tree in trees]
    found["value"] = np.concatenate(values)
    found["coordinate"] = np.array([coordinate for coordinate, _, _ in trees], dtype=np.int32)
    found["first_node"] = np.cumsum([0, *(len(tree.column) for _, _, tree in trees)]).astype(np.int32)
    found["first_value"] = np.cumsum([0, *(len(of) for of in values)]).astype(np.int32)
    return found
