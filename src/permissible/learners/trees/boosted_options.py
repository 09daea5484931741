"""How boosted trees are grown and added: every number that a fit takes, in the unit of its weights."""

from dataclasses import dataclass, replace

LEAST_CURVATURE = 1e-6
"""Of a leaf: integers hold no smaller sums."""


@dataclass(frozen=True, slots=True)
class BoostedOptions:
    """How trees are grown and added.

    Parameters
    ----------
    n_trees : int
        Rounds, at most.
    max_leaf_nodes : int
        Leaves of a tree, between 2 and 256.
    max_depth : int
        0 is no limit.
    learning_rate : float
        Factor on each step.
    l2 : float
        Each value v of a leaf costs l2 v^2 / 2 beside the sum of b F.
    min_samples_leaf : float
        Rows of a leaf, estimated by its share of the curvature.
    min_curvature : float
        Sum of curvatures of a leaf.
    category_smoothing, category_l2 : float
        Added to the curvature of a category before categories are sorted, and to that of both sides of a set.
    column_fraction : float
        Fraction of the columns that one tree may use.
    search_rows, search_fraction : float
        The search looks at `search_rows` rows and this fraction of all; at all rows where that is nearly as many. The first
        tree looks at a fifth of that, or at 8,192 rows; from then on it grows, until learning rate times trees is 10.
    small_fraction : float
        `search_rows` are at most this fraction of all rows.
    exact : bool
        Solve (35) exactly before shrinking, instead of one safe Newton step.
    patience : int
        Rounds without a smaller held-out loss after which to stop; 0 is never.
    rival : tuple of float and int
        The sum of held-out losses that another fit reached, and its trees: stop when half as many trees again would not
        reach it, were every doubling to gain what the last one gained. A loss below 0 is none.
    track_loss : bool
        Record the training loss of every round.
    fit_intercept : bool
        Begin from the best constant instead of 0.
    bundle : bool
        Sum columns of zeros and ones that exclude each other as one: the same model sooner.
    monotone : tuple of int
        Of each column -1, 0 or 1; empty for no constraint.
    interactions : tuple of tuple of int
        Groups of columns that may meet on a path; empty for any.
    seed : int
    """

    n_trees: int = 100
    max_leaf_nodes: int = 31
    max_depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1.0
    min_samples_leaf: float = 1.0
    min_curvature: float = 0.2
    category_smoothing: float = 1.0
    category_l2: float = 20.0
    column_fraction: float = 1.0
    search_rows: float = 32768.0
    search_fraction: float = 0.1
    small_fraction: float = 1.0
    exact: bool = False
    patience: int = 0
    rival: tuple[float, int] = (-1.0, 0)
    track_loss: bool = False
    fit_intercept: bool = True
    bundle: bool = True
    monotone: tuple[int, ...] = ()
    interactions: tuple[tuple[int, ...], ...] = ()
    seed: int = 0

    def in_unit(self, scale: float) -> "BoostedOptions":
        """The same where all weights are multiplied by a number: these parameters are weights too."""
        names = ("l2", "min_curvature", "category_smoothing", "category_l2")
        scaled = {name: getattr(self, name) * scale for name in names}
        return replace(self, **{**scaled, "min_curvature": max(scaled["min_curvature"], LEAST_CURVATURE)})

    def sample_size(self, total: float) -> float:
        """How many of `total` rows the search looks at."""
        wanted = min(self.search_rows, self.small_fraction * total) + self.search_fraction * total
        return wanted if wanted < 0.9 * total else total
