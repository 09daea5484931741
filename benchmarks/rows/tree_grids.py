"""Boosted trees beside the best of a grid of LightGBM's: its fastest setting to the loss of its default, and its least loss.

The grid is the same for both sides: learning rates, leaves, and for LightGBM gradients in full and quantised, for us the rows
that a search looks at. Every setting is fitted once with many trees; where its test loss first reaches the target gives its
trees. The setting that takes the least time for them is fitted again and measured. Settings and trees are picked on the test
rows, for both sides alike.
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
from benchmarks.rows.equal_loss import Split, encoded, judged, light, log_loss, ours, softmax, split_of, test_loss

FASTEST = {"adult": 4.0, "higgs-11k": 4.0, "1e5x28": 4.0}
BEST = {"adult": 3.5, "higgs-11k": 3.5, "1e5x28": 3.5}
LARGE = {"fastest": {"covertype": 4.0, "1e6x28": 4.0}, "best": {"covertype": 3.5, "1e6x28": 8.0}}
RATES, LEAVES, MOST = (0.05, 0.1, 0.2), (31, 63), {"1e6x28": 200, "covertype": 500}
SEARCHED = (8_192.0, 16_384.0, 32_768.0)


@dataclass(frozen=True)
class Fit:
    """One setting: a fit with so many trees, and its test loss after each of them."""

    with_trees: Callable[[int], Callable[[], Any]]
    losses: Callable[[Any], npt.NDArray[np.float64]]


def rows(full: bool) -> Iterator[Row]:
    """Two rows a data set."""
    fastest, best = dict(FASTEST), dict(BEST)
    if full:
        fastest, best = fastest | LARGE["fastest"], best | LARGE["best"]
    for kind, sets in (("default", fastest), ("grid", best)):
        for name, ratio in sets.items():
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
    data, most = split_of(name), MOST.get(name, 400)
    rates = (*RATES, 0.3) if name == "covertype" else RATES
    theirs = [_tried(fit, most) for fit in _theirs(data, rates)]
    target = (
        test_loss(data, light(data)()) if kind == "default" else min(float(losses.min()) for _, losses, _ in theirs)
    )
    found = {"permissible": [_tried(fit, most) for fit in _ours(data, rates)], "LightGBM": theirs}
    return {contender: judged(data, _fastest(tried, target)) for contender, tried in found.items()}


def _tried(fit: Fit, most: int) -> tuple[Fit, npt.NDArray[np.float64], float]:
    """The fit with its losses and the seconds of one tree."""
    start = time.process_time()
    fitted = fit.with_trees(most)()
    seconds = time.process_time() - start
    return fit, fit.losses(fitted), seconds / most


def _fastest(tried: list[tuple[Fit, npt.NDArray[np.float64], float]], target: float) -> Callable[[], Any]:
    """The fit that reaches the target soonest; the row fails where none does."""
    reached = [(seconds * (int(np.argmax(losses <= target)) + 1), k) for k, (_, losses, seconds) in enumerate(tried)]
    reached = [one for one in reached if tried[one[1]][1].min() <= target]
    if not reached:
        least = min(float(losses.min()) for _, losses, _ in tried)
        raise RuntimeError(f"a test loss of {target:.4f} is asked, the least of the grid is {least:.4f}")
    fit, losses, _ = tried[min(reached)[1]]
    return fit.with_trees(int(np.argmax(losses <= target)) + 1)


def _ours(data: Split, rates: tuple[float, ...]) -> Iterator[Fit]:
    from permissible.learners.trees.boosted_options import BoostedOptions

    for rate, leaves, searched in itertools.product(rates, LEAVES, SEARCHED):
        options = BoostedOptions(learning_rate=rate, max_leaf_nodes=leaves, search_rows=searched)

        def losses(fitted: Any) -> npt.NDArray[np.float64]:
            stages = fitted[0].staged_scores(encoded(data, fitted[1]))
            return np.array([log_loss(data.truth, softmax(scores)) for scores in stages])

        def with_trees(n_trees: int, options: BoostedOptions = options) -> Callable[[], Any]:
            return ours(data, replace(options, n_trees=n_trees))

        yield Fit(with_trees, losses)


def _theirs(data: Split, rates: tuple[float, ...]) -> Iterator[Fit]:
    for rate, leaves, quantised in itertools.product(rates, LEAVES, (False, True)):
        more = {"num_leaves": leaves, "use_quantized_grad": quantised}

        def losses(fitted: Any) -> npt.NDArray[np.float64]:
            score, found = np.zeros(len(data.truth)), []
            for tree in range(fitted.booster_.num_trees()):  # one tree at a time: all stages cost one prediction
                score = score + fitted.booster_.predict(
                    data.test, raw_score=True, start_iteration=tree, num_iteration=1
                )
                found.append(log_loss(data.truth, softmax(score[:, None])))
            return np.array(found)

        def with_trees(n_trees: int, rate: float = rate, more: dict[str, Any] = more) -> Callable[[], Any]:
            return light(data, n_trees, rate, **more)

        yield Fit(with_trees, losses)
