"""Trees and rules as base learners: regression on the boosting weights, on the shared bins.

A leaf holds -sum w / (sum h + l2), the Newton step of the surrogate there (h its second derivative), so no line search
is needed; `exact` adds the line search of Algorithm 1. Along the whole gradient (`descent="gradient"`) one tree has a
value for every coordinate, with the mean of their second derivatives as h (`exact`: least squares in the norm |w|, and
one leverage). A rule is a conjunction of literals with two values, one where it holds and one where it does not.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from permissible.bins import BinnedTable, Binning, layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.types import Codes

UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Growth:
    """The size of a tree or rule, and how its splits are found.

    `max_literals` above 0 makes rules. `random_tests`: one random split per column and node competes instead of the
    best one, which makes trees differ on few rows.
    """

    max_leaf_nodes: int = 31
    max_depth: int | None = None
    max_literals: int = 0
    min_leaf_weight: float = 1.0
    l2: float = 1.0
    random_tests: bool = False
    exact: bool = False

    def in_unit(self, scale: float) -> "Growth":
        """The same limits with all weights multiplied by a power of two: both limits are weights."""
        least, l2 = (min(value * scale, 2.0**1000) for value in (self.min_leaf_weight, self.l2))
        return replace(self, min_leaf_weight=least, l2=l2)

    def record(self, column_share: float, seed: int) -> kernel.Growth:
        """The settings as the compiled core takes them."""
        return kernel.Growth(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth or 0,
            max_literals=self.max_literals,
            min_leaf_weight=self.min_leaf_weight,
            l2=self.l2,
            random_thresholds=self.random_tests,
            column_share=column_share,
            seed=seed,
        )

    def packed(self, binning: Binning, sampling: Sampling, sampled: bool, n_rows: int) -> bool:
        """Whether stumps are found from packed histograms, which is faster on many rows."""
        growth = self.record(sampling.column_share, 0)
        return not self.exact and kernel.packed_applies(layout_of(binning).categorical, growth, sampled, n_rows)


def round_seed(sampling: Sampling, number: int) -> int:
    """The random seed of a round."""
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
    """Bundled columns of few values for the histograms of stumps; built when first needed."""

    def step(self, state: kernel.State, number: int) -> Round:
        """One round: a tree for every coordinate in turn, or one for the gradient."""
        growth, sampling, gradient = self.growth, self.sampling, self.descent == "gradient"
        layout = layout_of(self.binned.binning)
        categorical, bins = layout.categorical, layout.n_codes
        made = state.round_trees(
            self.binned.blocks,
            categorical,
            bins,
            growth.record(sampling.column_share, round_seed(sampling, number)),
            share=sampling.rows(number),
            rate=self.rate,
            exact=growth.exact,
            gradient=gradient,
            bundles=None if gradient else self._joined(categorical, bins),
        )
        arrays = made.arrays
        return Round(arrays, made.edge, made.capped, bool(np.any(arrays["value"])))

    def _joined(self, categorical: Codes, bins: npt.NDArray[np.int32]) -> kernel.Bundles | None:
        binned, sampled = self.binned, self.sampling.row_share < 1.0
        packed = self.growth.packed(binned.binning, self.sampling, sampled, binned.n_rows)
        if packed and self._bundles is None:
            self._bundles = kernel.Bundles(binned.blocks, categorical, bins)
        return self._bundles
