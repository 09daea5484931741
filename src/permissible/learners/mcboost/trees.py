"""Trees and rules as base learners: regression on the boosting weights, on the shared bins.

A leaf holds -sum w / (sum h + l2), the Newton step of the surrogate there (h its second derivative), so every leaf has a
leverage of its own and the step is taken as it is; `exact` adds the line search of Algorithm 1 along it. Along the whole gradient
(`descent="gradient"`) one tree has a value for every coordinate, with the mean of their second derivatives as h (`exact`: least
squares in the norm |w|, and one leverage). A rule is a conjunction of literals with two values, where it holds and elsewhere.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.bins import BinnedTable, encode, layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.models.kinds.forest import Forest, forest_values
from permissible.models.kinds.simplex import scores_of
from permissible.table.table import Table
from permissible.types import Codes, FloatArray

UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Growth:
    """How large a tree or rule may be, and how its tests are found.

    `max_literals` above 0 makes rules. `random_tests`: one random test per column and node competes instead of the best one,
    which is what makes trees differ where rows are few.
    """

    max_leaves: int = 31
    max_depth: int | None = None
    max_literals: int = 0
    min_leaf_weight: float = 1.0
    l2: float = 1.0
    random_tests: bool = False
    exact: bool = False

    def in_unit(self, scale: float) -> "Growth":
        """The same where all weights are multiplied by a power of two: both limits are weights."""
        least, l2 = (min(value * scale, 2.0**1000) for value in (self.min_leaf_weight, self.l2))
        return replace(self, min_leaf_weight=least, l2=l2)


def round_seed(sampling: Sampling, number: int) -> int:
    """The seed of what is random in a round."""
    return int((sampling.seed * 1_000_003 + number) % 2**63)


@dataclass(slots=True, eq=False)
class TreeLearner:
    """Trees or rules on binned rows."""

    binned: BinnedTable
    n_classes: int
    growth: Growth
    descent: str = "coordinate"
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    _bundles: kernel.Bundles | None = field(default=None, init=False, repr=False)
    """Columns of few values joined, for the histograms of stumps; made when the first round needs it."""

    def step(self, state: kernel.State, number: int) -> Round:
        """One round: a tree for every coordinate in turn, or one for the gradient."""
        growth = self.growth
        layout = layout_of(self.binned.binning)
        categorical, bins = layout.categorical, layout.n_codes
        options: dict[str, Any] = {
            "blocks": self.binned.blocks,
            "categorical": categorical,
            "bins": bins,
            "share": self.sampling.rows(number),
            "rate": self.rate,
            "exact": growth.exact,
            "max_leaves": growth.max_leaves,
            "max_depth": growth.max_depth or 0,
            "max_literals": growth.max_literals,
            "min_leaf_weight": growth.min_leaf_weight,
            "l2": growth.l2,
            "random_thresholds": growth.random_tests,
            "column_share": self.sampling.column_share,
            "seed": round_seed(self.sampling, number),
        }
        if self.descent == "gradient":
            made = state.round_trees_gradient(**options)
        else:
            made = state.round_trees(**options, bundles=self._joined(categorical, bins))
        notes = made.pop("notes")
        return Round(made, float(notes[:, 2].max()), bool(notes[:, 1].any()), bool(np.any(made["value"])))

    def _joined(self, categorical: Codes, bins: npt.NDArray[np.int32]) -> kernel.Bundles | None:
        growth, sampled = self.growth, self.sampling.row_share < 1.0
        packed = not growth.exact and kernel.packed_applies(
            categorical, growth.max_leaves, growth.max_literals, growth.min_leaf_weight, growth.random_tests,
            self.sampling.column_share, sampled, self.binned.blocks.shape[1],
        )  # fmt: skip
        if packed and self._bundles is None:
            self._bundles = kernel.Bundles(self.binned.blocks, categorical, bins)
        return self._bundles

    def part(self, rounds: list[Round]) -> Forest:
        """The rounds as one part of a model."""
        return Forest.of(self.binned.binning, self.n_classes, [made.terms for made in rounds])

    def watch(self, table: Table) -> Codes:
        """The codes of other rows."""
        return encode(self.binned.binning, table).blocks

    def scores(self, made: Round, watched: Codes) -> FloatArray:
        """What a round adds to the scores of the watched rows."""
        return scores_of(forest_values(made.terms, watched, self.binned.binning, self.n_classes))
