"""The step of a tree or rule: its splits, the values of its leaves, and both as the arrays of a model."""

from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import MISSING
from permissible.models.kinds.forest import Forest
from permissible.models.kinds.simplex import codewords
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TreeStep:
    """A tree or rule with the values of its leaves, learning rate and leverage included."""

    # In the order in which they were made: the leaf divided, the test (0 code <= cut, 1 the same or missing, 2 a set),
    # the cut, the column, and the four words of a set. Rows that fail go to a new leaf.
    splits: IntArray
    inside: int  # -1; of a rule the leaf that passes every literal: it becomes leaf 1, all others leaf 0
    value: FloatArray  # what a leaf adds: along a coordinate, or to the score of each class
    coordinate: int  # -1 for all
    # The fraction of the weight that agrees with the leaves, and whether a line search found no finite minimum.
    edge: float = 0.0
    capped: bool = False

    def moves(self, n_classes: int) -> FloatArray:
        """What each leaf adds to the score of each class, (leaves, M)."""
        return moves_of(self.value, self.coordinate, n_classes)

    def in_coordinates(self, n_classes: int) -> FloatArray:
        """The values along the coordinates of f: f = 2 (M-1)/M Y' S inverts (23)."""
        if self.coordinate >= 0:
            return self.value
        return np.asarray(2 * (n_classes - 1) / n_classes * self.value @ codewords(n_classes))


def moves_of(value: FloatArray, coordinate: int, n_classes: int) -> FloatArray:
    """Values along a coordinate as changes of every score, S = Y f / 2."""
    if coordinate >= 0:
        value = value * (codewords(n_classes)[:, coordinate] / 2)[None, :]
    return np.ascontiguousarray(value)


@dataclass(frozen=True, slots=True, eq=False)
class TreeRound:
    """The trees of one round."""

    steps: tuple[TreeStep, ...]


def forest_of(binning: Binning, n_classes: int, rounds: list[TreeRound]) -> Forest:
    """The trees of all rounds as a component of a model."""
    steps = [step for made in rounds for step in made.steps]
    splits = np.concatenate([step.splits for step in steps]) if steps else np.zeros((0, 8), dtype=np.int64)
    children = [_children(step) for step in steps]
    left, right = np.concatenate(children, axis=1) if children else np.zeros((2, 0), dtype=np.int32)
    test, cut = splits[:, 1], splits[:, 2]
    below = np.arange(256)[None, :] <= cut[:, None]
    below[:, MISSING] = test == 1
    by_set = np.ascontiguousarray(splits[:, 4:]).view(np.uint8).reshape(-1, 32)
    values = [step.in_coordinates(n_classes).ravel() for step in steps]
    arrays: dict[str, AnyArray] = {
        "column": splits[:, 3].astype(np.int32),
        "code": np.where(test == 2, -1, cut).astype(np.int32),
        "left": left,
        "right": right,
        "mask": np.where((test == 2)[:, None], by_set, np.packbits(below, axis=1, bitorder="little")),
        "first_node": np.cumsum([0, *(len(step.splits) for step in steps)]).astype(np.int32),
        "first_value": np.cumsum([0, *map(len, values)]).astype(np.int32),
        "coordinate": np.array([step.coordinate for step in steps], dtype=np.int32),
        "value": np.concatenate(values) if values else np.zeros(0),
    }
    round_ = np.repeat(np.arange(len(rounds)), [len(made.steps) for made in rounds]).astype(np.int64)
    return Forest(binning, n_classes, arrays, round_)


def _children(step: TreeStep) -> AnyArray:
    """Children of each split, (2, splits): a split, or ~leaf; of a rule ~1 inside and ~0 outside."""
    children = np.zeros((2, len(step.splits)), dtype=np.int32)
    holder: dict[int, tuple[int, int]] = {}
    for split, divided in enumerate(step.splits[:, 0].tolist()):
        if divided in holder:
            children[holder[divided]] = split
        holder[divided], holder[split + 1] = (0, split), (1, split)
    for leaf, place in holder.items():
        children[place] = ~leaf if step.inside < 0 else ~int(leaf == step.inside)
    return children
