"""ULS over parts: the learner of learners/uls/boost.py on rows that lie in blocks on disk or on workers. Same model, bit for bit.

What an estimator does in memory is done here with questions to the parts: which rows are held out, which candidate and how many
rules they choose, and the fit on all rows.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from permissible.distributed.asked import numbered, surveyed
from permissible.distributed.uls_rows import MergedRows, Selection, ULSSettings, WeightFacts
from permissible.learners.uls.boost import boost
from permissible.learners.uls.holdout import LARGE, Choice, choose_by, few, held_bounds, large_bounds, probe, repeats
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Facts
from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.losses.surrogate import PythonSurrogate, compiled
from permissible.rows.source import Source

Watch = Callable[[int], bool]


def fit_labels(
    data: Source, labels: Sequence[int], loss: Loss, candidates: Sequence[ULSOptions], stopping: bool, *,
    n_threads: int = 1, watch: Watch | None = None,
) -> list[tuple[Trace, Choice]]:  # fmt: skip
    """Boost rules for each label against the rest; where a question is a message, those of all labels travel in one."""
    lock = threading.Lock()

    def watched(number: int) -> bool:
        with lock:  # a bar on the terminal is one for all labels
            return watch is None or watch(number)

    def fit(label: int, source: Source) -> tuple[Trace, Choice]:
        return fit_label(source, label, loss, candidates, stopping, n_threads=n_threads, watch=watched)

    return data.each({str(label): partial(fit, label) for label in labels})


def fit_label(
    data: Source, label: int, loss: Loss, candidates: Sequence[ULSOptions], stopping: bool, *,
    n_threads: int = 1, watch: Watch | None = None,
) -> tuple[Trace, Choice]:  # fmt: skip
    """Boost rules for one label against the rest: hold out, choose, fit on all rows."""

    def rows(selection: Selection, two_sums: bool) -> MergedRows:
        return merged_rows(data, label, loss, selection, two_sums, n_threads)

    def run(options: ULSOptions, kept: Selection, held: Selection | None) -> Trace:
        return data.journal.run(lambda: boosted(options, kept, held))

    def boosted(options: ULSOptions, kept: Selection, held: Selection | None) -> Trace:
        fitted = rows(kept, options.fit_intercept)
        judged = None if held is None else rows(held, options.fit_intercept)
        try:
            return boost_over(fitted, judged, data, loss, options, watch)
        finally:
            for opened in (fitted, judged):
                if opened is not None:
                    opened.close()

    chosen = Choice(candidates[0], {})
    if stopping and _repeats(data):
        chosen = choose_by(candidates, lambda options: run(options, Selection(), None), 0.0, by_itself=True)
    elif stopping:
        bounds = _bounds(data, label)
        if bounds is not None:
            kept, held = Selection("kept", bounds), Selection("held", bounds)
            judged = _total(data, label, held)
            share = judged / (_total(data, label, kept) + judged)
            chosen = choose_by(candidates, lambda options: run(options, kept, held), share)
    return run(chosen.options, Selection(), None), chosen


def boost_over(
    rows: MergedRows, held: MergedRows | None, data: Source, loss: Loss, options: ULSOptions, watch: Watch | None
) -> Trace:
    """The readable loop, in the units of the loss's kernel where it has one."""
    kernel = compiled(loss)
    more: dict[str, Any] = {"held": held, "watch": watch, "recall": data.journal.recall}
    if kernel is None:
        return boost(rows, PythonSurrogate(loss), data.binning, loss.name, options, **more)
    scaled = replace(options, l2=options.l2 * kernel.scale)
    return boost(rows, kernel.function(), data.binning, loss.name, scaled, scale=kernel.scale, **more)


def merged_rows(
    data: Source, label: int, loss: Loss, selection: Selection, two_sums: bool, n_threads: int = 1
) -> MergedRows:
    """Open the chosen rows of every part."""
    counts = numbered(data, "rows_of", label, selection)
    starts = np.cumsum([0, *(counts[number] for number in sorted(counts))])
    first_rows = {number: int(start) for number, start in zip(sorted(counts), starts, strict=False)}
    facts, copies = _facts(data, label, selection)
    settings = ULSSettings(label, loss, two_sums, copies, selection, first_rows, n_threads)
    return MergedRows(data, settings, facts)


def _facts(data: Source, label: int, selection: Selection) -> tuple[Facts, bool]:
    """The facts of the chosen rows, and whether their weights are copies of a row."""
    found: list[WeightFacts] = surveyed(data, "weights", label, selection)
    n_rows = sum(part.n_rows for part in found)
    total = math.fsum(partial for part in found for partial in part.partials)
    if not data.weighted:
        return Facts(n_rows, float(n_rows), 1.0, False), False
    copies = all(part.whole for part in found if part.n_rows)
    largest = 1.0 if copies else max(part.largest for part in found if part.n_rows)
    return Facts(n_rows, total, largest, not copies), copies


def _total(data: Source, label: int, selection: Selection) -> float:
    found: list[WeightFacts] = surveyed(data, "weights", label, selection)
    return math.fsum(partial for part in found for partial in part.partials)


def _repeats(data: Source) -> bool:
    """Whether the same rows come again and again (uls/holdout.py)."""
    if data.n_rows >= LARGE:
        return few(len(np.unique(np.concatenate(surveyed(data, "lowest", probe(data.n_rows))))))
    return repeats(np.concatenate([part[0] for part in surveyed(data, "contents")]))


def _bounds(data: Source, label: int) -> tuple[int, int] | None:
    """Up to which hash the rows of each class are held out; None when no sensible split exists."""
    if data.n_rows >= LARGE:
        bounds = large_bounds()
    else:
        parts = surveyed(data, "contents")
        hashes = np.concatenate([part[0] for part in parts])
        positive = np.concatenate([part[1] for part in parts]) == label
        weight = np.concatenate([part[2] for part in parts]) if data.weighted else None
        bounds = held_bounds(hashes, positive, weight)
    return bounds if _splits(data, label, bounds) else None


def _splits(data: Source, label: int, bounds: tuple[int, int]) -> bool:
    """Whether both classes have rows on both sides."""
    negatives, positives = (
        sum(surveyed(data, "rows_of", label, Selection("held", only))) for only in ((bounds[0], -1), (-1, bounds[1]))
    )
    in_label = int(np.sum(surveyed(data, "classes", len(data.classes)), axis=0)[label])
    return bool(0 < negatives < data.n_rows - in_label and 0 < positives < in_label)
