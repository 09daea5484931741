"""The compiled loop for built-in losses, called once for a whole fit. The same loop to be read is in learners/uls/boost.py."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.layout import layout_of
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.trace import Round, Trace, literal_of, stop_of
from permissible.losses.entropy import Functor
from permissible.types import AnyArray, BoolArray, FloatArray

Watch = Callable[[int], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Binned rows with a label each: `positive`, and a sample weight (None: 1 each).

    Where they are a part of a larger table, `first_row` rows come before them, and `copies` says whether the weights of the
    whole table are whole numbers.
    """

    binned: BinnedTable
    positive: BoolArray
    weight: FloatArray | None = None
    first_row: int = 0
    copies: bool | None = None

    @property
    def whole(self) -> bool:
        """Whether sample weights count as copies of a row."""
        return whole(self.weight) if self.copies is None else self.copies

    def take(self, chosen: AnyArray) -> "Examples":
        """The chosen rows (positions)."""
        blocks = np.ascontiguousarray(self.binned.blocks[:, chosen])
        weight = None if self.weight is None else self.weight[chosen]
        return Examples(BinnedTable(self.binned.binning, blocks, len(chosen)), self.positive[chosen], weight)

    @property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(len(self.positive)) if self.weight is None else math.fsum(self.weight)


def whole(weight: FloatArray | None) -> bool:
    """Whether sample weights are whole numbers that the kernels can treat as copies of a row."""
    if weight is None:
        return False
    return bool((weight <= kernels.MULTIPLICITY_LIMIT).all() and (weight == np.rint(weight)).all())


def kernel_rows(
    examples: Examples, loss: Functor, two_sums: bool, n_threads: int = 1, state: FloatArray | None = None
) -> kernels.Rows:
    """The examples as the kernels hold them during a fit; the states of their margins lie in `state`, if given."""
    return kernels.Rows(
        examples.binned.blocks, examples.binned.n_columns, np.ascontiguousarray(examples.positive).view(np.uint8),
        examples.weight, examples.whole, loss.name, loss.parameter, two_sums, n_threads, examples.first_row, state,
        loss.table,
    )  # fmt: skip


def boost_compiled(
    examples: Examples,
    loss: Functor,
    loss_name: str,
    options: ULSOptions,
    *,
    validation: Examples | None = None,
    start_scores: FloatArray | None = None,
    first_round: int = 0,
    n_threads: int = 1,
    watch: Watch | None = None,
) -> Trace:
    """Boost rules by the classic scheme, from start to end in compiled code."""
    rows = kernel_rows(examples, loss, options.fit_intercept, n_threads)
    held = None if validation is None else kernel_rows(validation, loss, options.fit_intercept, n_threads)
    found = kernels.boost(
        rows, held, layout_of(examples.binned.binning).by_column, n_rounds=options.n_rules, max_literals=options.max_literals,
        beam=options.beam, fit_constant=options.fit_intercept, l2=options.l2 * loss.scale,
        learning_rate=options.learning_rate, share=options.search_fraction, tolerance=options.tolerance,
        seed=options.seed, first_round=first_round, start_constant=start_scores is None,
        max_seconds=options.max_seconds,
        start_scores=None if start_scores is None else start_scores / loss.scale, callback=watch,
    )  # fmt: skip
    return _trace(found, examples, validation, loss, loss_name)


def _trace(found: dict[str, Any], examples: Examples, held: Examples | None, loss: Functor, name: str) -> Trace:
    at_zero = float(loss.function().at(np.zeros(1))[0, 0])
    total, scale = examples.total, loss.scale
    unit, held_unit = at_zero * total, float("nan") if held is None else at_zero * held.total
    binning = examples.binned.binning
    rounds = []
    for literals, value_in, value_out, _, edge, weight, surrogate, error, validation, _, passes, *more in found[
        "rounds"
    ]:
        covered, hits, endless = more
        rounds.append(
            Round(
                rule=tuple(literal_of(literal, binning) for literal in literals), value_in=scale * value_in,
                value_out=scale * value_out, edge=edge, weight=weight, surrogate=surrogate / unit,
                train_error=error / total, loss=name, validation=validation / held_unit, passes=passes,
                support=covered / total, positive=hits / covered if covered else math.nan, endless=endless,
            )
        )  # fmt: skip
    return Trace(
        constant=scale * found["constant"], rounds=tuple(rounds), stop=stop_of(found["stop"]),
        start_surrogate=found["start_surrogate"] / unit, start_error=found["start_error"] / total,
        start_validation=found["start_validation"] / held_unit, total_weight=total,
        largest_edge=found["largest_edge"], gradient_norm=found["gradient_norm"],
    )  # fmt: skip
