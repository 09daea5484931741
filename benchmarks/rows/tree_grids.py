"""Boosted trees beside the best of a grid of LightGBM's: its fastest setting to the loss of its default, and its least loss.

The grid is the same for both sides: learning rates, leaves and, on small tables, half of the columns a tree; for LightGBM
gradients in full and quantised, for us the rows that a search looks at. Every setting is fitted once with many trees; where
its test loss first reaches the target gives its trees. The setting that takes the least time for them is fitted again and
measured. Settings and trees are picked on the test rows, for both sides alike. Few test rows say little, so on small tables
losses are means of several splits: one setting with one number of trees for all of them, and the time is that of all fits.
"""

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.row import Row, Work
from benchmarks.rows.equal_loss import Split, encoded, light, log_loss, ours, softmax, split_of, test_loss

FASTEST = {"adult": 4.0, "higgs-11k": 4.0, "1e5x28": 4.0}
BEST = {"adult": 3.5, "higgs-11k": 3.5, "1e5x28": 3.5}
LARGE = {"fastest": {"covertype": 4.0, "1e6x28": 4.0}, "best": {"covertype": 3.5, "1e6x28": 8.0}}
LEAVES, MOST = (31, 63), {"1e6x28": 200, "covertype": 500}
RATES = {
    "1e6x28": (0.1, 0.2),
    "covertype": (0.1, 0.2, 0.3),
}  # .05, .1 and .2 on smaller tables; slower ones need more trees
COLUMNS = {"adult": (1.0, 0.5), "higgs-11k": (1.0, 0.5)}  # on large tables half of them was worse for both
SEARCHED = ((8_192.0, 0.1), (32_768.0, 0.1), (16_384.0, 0.3))  # rows, and this share of all; all of a small table too
SMALL_SAMPLE = 0.4  # those rows are at most this share of all
SPLITS = {"adult": 3, "higgs-11k": 6}
STAGES = 50  # of LightGBM's trees whose leaves are looked up at a time


@dataclass(frozen=True)
class Fit:
    """One setting: a fit of a split with so many trees, and its test loss after each of them."""

    with_trees: Callable[[Split, int], Callable[[], Any]]
    losses: Callable[[Split, Any], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Tried:
    """A setting with its mean loss after each tree, and the seconds that a tree took on all splits together."""

    fit: Fit
    losses: npt.NDArray[np.float64]
    seconds: float

    def needed(self, target: float) -> int:
        """Trees to the target; 0 where it is not reached."""
        return int(np.argmax(self.losses <= target)) + 1 if self.losses.min() <= target else 0


def rows(full: bool) -> Iterator[Row]:
    """Two rows a data set, which share the fits of the grid."""
    fastest, best = dict(FASTEST), dict(BEST)
    if full:
        fastest, best = fastest | LARGE["fastest"], best | LARGE["best"]
    for name in fastest:
        for kind, ratio in (("default", fastest[name]), ("grid", best[name])):
            target = "the loss of LightGBM's default" if kind == "default" else "the best loss of LightGBM's grid"
            yield Row(
                name=f"boosted trees, each at its fastest of the same grid, to {target}, {name}",
                prepare=functools.partial(contenders, name, kind),
                at_least={"LightGBM": ratio},
                quality="test log-loss",
                repeats=1 if name == "1e6x28" else 3,
            )


def contenders(name: str, kind: str) -> Mapping[str, Work]:
    """Both at their fastest to the target."""
    splits, theirs = splits_of(name), grid(name, "LightGBM")
    if kind == "default":
        target = float(np.mean([test_loss(data, light(data)()) for data in splits]))
    else:
        target = min(float(tried.losses.min()) for tried in theirs)
    return {who: _fastest(splits, grid(name, who), target) for who in ("permissible", "LightGBM")}


def splits_of(name: str) -> tuple[Split, ...]:
    """The splits of a data set."""
    return tuple(split_of(name, number) for number in range(SPLITS.get(name, 1)))


@functools.lru_cache(maxsize=2)
def grid(name: str, contender: str) -> list[Tried]:
    """All settings of one side, fitted on every split."""
    splits, most = splits_of(name), MOST.get(name, 400)
    if contender == "permissible":  # the least loss of theirs may be that of the last tree; trees on a sample cost less
        most = most * 3 // 2
    fits = _ours if contender == "permissible" else _theirs
    found = [_tried(fit, splits, most) for fit in fits(name)]
    return [tried for tried in found if tried is not None]


def _tried(fit: Fit, splits: tuple[Split, ...], most: int) -> Tried | None:
    """None where LightGBM gives up, as it does now and then with quantised gradients and many trees."""
    from lightgbm.basic import LightGBMError

    seconds, losses = 0.0, []
    for data in splits:
        start = time.process_time()
        try:
            fitted = fit.with_trees(data, most)()
        except LightGBMError:
            return None
        seconds += time.process_time() - start
        losses.append(fit.losses(data, fitted))
    return Tried(fit, np.mean(losses, axis=0), seconds / most)


def _fastest(splits: tuple[Split, ...], grid: list[Tried], target: float) -> Work:
    """The setting that reaches the target soonest, fitted on every split; the row fails where none does."""
    reached = [(tried.seconds * tried.needed(target), k) for k, tried in enumerate(grid) if tried.needed(target)]
    if not reached:
        least = min(float(tried.losses.min()) for tried in grid)
        raise RuntimeError(f"a test loss of {target:.4f} is asked, the least of the grid is {least:.4f}")
    best = grid[min(reached)[1]]
    fits = [best.fit.with_trees(data, best.needed(target)) for data in splits]
    losses: list[float] = []

    def work() -> Any:
        start = time.process_time()
        fitted = [fit() for fit in fits]
        seconds = time.process_time() - start
        losses[:] = losses or [test_loss(data, one) for data, one in zip(splits, fitted, strict=True)]
        return seconds, float(np.mean(losses))

    return work


def _common(name: str) -> Iterator[tuple[float, int, float]]:
    """Rate, leaves and share of the columns of each setting."""
    return itertools.product(RATES.get(name, (0.05, 0.1, 0.2)), LEAVES, COLUMNS.get(name, (1.0,)))


def _ours(name: str) -> Iterator[Fit]:
    from permissible.learners.trees.boosted_options import BoostedOptions

    def losses(data: Split, fitted: Any) -> npt.NDArray[np.float64]:
        stages = fitted[0].staged_scores(encoded(data, fitted[1]))
        return np.array([log_loss(data.truth, softmax(scores)) for scores in stages])

    samples = [
        {"search_rows": few, "search_fraction": share, "small_fraction": SMALL_SAMPLE} for few, share in SEARCHED
    ]
    everything = [] if name in LARGE["fastest"] else [{"search_rows": 1e18}]
    for (rate, leaves, share), sample in itertools.product(_common(name), samples + everything):
        options = BoostedOptions(learning_rate=rate, max_leaf_nodes=leaves, column_fraction=share, **sample)

        def with_trees(data: Split, n_trees: int, options: BoostedOptions = options) -> Callable[[], Any]:
            return ours(data, replace(options, n_trees=n_trees))

        yield Fit(with_trees, losses)


def _theirs(name: str) -> Iterator[Fit]:
    for (rate, leaves, share), quantised in itertools.product(_common(name), (False, True)):
        more = {"num_leaves": leaves, "colsample_bytree": share, "use_quantized_grad": quantised}

        def with_trees(data: Split, n_trees: int, rate: float = rate, more: dict[str, Any] = more) -> Callable[[], Any]:
            return light(data, n_trees, rate, **more)

        yield Fit(with_trees, _their_losses)


def _their_losses(data: Split, fitted: Any) -> npt.NDArray[np.float64]:
    """The test loss after each tree, from the leaves of the rows: all stages cost one prediction."""
    booster, score, found = fitted.booster_, np.zeros(len(data.truth)), []
    for first in range(0, booster.num_trees(), STAGES):
        number = min(STAGES, booster.num_trees() - first)
        leaves = booster.predict(data.test, pred_leaf=True, start_iteration=first, num_iteration=number)
        for tree, leaf in enumerate(leaves.reshape(len(score), number).T.astype(np.int64), first):
            score = score + np.array([booster.get_leaf_output(tree, k) for k in range(leaf.max() + 1)])[leaf]
            found.append(log_loss(data.truth, softmax(score[:, None])))
    return np.array(found)
