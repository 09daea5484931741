"""Small tables for the tests of boosted rules, and the ways to fit them."""

from dataclasses import fields, replace

import numpy as np

from permissible import losses
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.learners.uls.boost import LoopTask, boost
from permissible.learners.uls.compiled import boost_compiled
from permissible.learners.uls.criteria.draws import search_layout
from permissible.learners.uls.loss_rows import LossRows, RuleOpening, open_rows
from permissible.learners.uls.rows import Examples
from permissible.losses.surrogate import PythonSurrogate
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.table import read


def noisy_table(n_rows=240, seed=0, missing=True):
    """Numbers, a category and missing values; labels that no rule explains fully."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n_rows))
    d = rng.integers(0, 6, n_rows)
    score = a + (b > 0.3) * (d < 2) - 0.5 * (d == 4) + 0.8 * rng.normal(size=n_rows)
    if missing:
        b = np.where(rng.random(n_rows) < 0.1, np.nan, b)
    colour = np.array(["red", "green", "blue", "grey", "pink", "black"])[d]
    return {"a": a, "b": b, "c": np.round(c), "colour": list(colour)}, score > 0


def examples_of(columns, positive, weight=None):
    table = read(columns)
    return Examples(encode(find_bins(table), table), np.asarray(positive, dtype=bool), weight)


def source_of(examples):
    part = MemoryPart(examples.binned, examples.positive.astype(np.int64), examples.weight)
    return LocalSource(
        (part,), examples.binned.binning, np.arange(2), len(examples.positive), examples.weight is not None
    )


def keys_of(examples, options):
    """The layout with keys, where the search draws."""
    return {"layout": search_layout(source_of(examples), 1, options.noise > 0, copies=True)}


def opened(examples, loss, options, opening=RuleOpening, n_threads=1):
    """The rows of a fit in memory, as one part."""
    source = source_of(examples)
    sampled = options.search_fraction < 1.0
    rows = open_rows(source, 1, losses.get(loss), options.fit_intercept, n_threads=n_threads, sampled=sampled)
    return replace(rows, rows=source.open(opening(**vars_of(rows.rows._opening))))


def vars_of(opening):
    return {field.name: getattr(opening, field.name) for field in fields(opening)}


class InPython(RuleOpening):
    """Rows that ask the loss itself."""

    def _rows(self, examples, state):
        return LossRows(examples, self.loss, self.two_sums, self.n_threads, state)


def fit_compiled(examples, loss, options, validation=None, n_threads=1):
    rows = opened(examples, loss, options, n_threads=n_threads)
    held = None if validation is None else opened(validation, loss, options)
    task = LoopTask.of(losses.get(loss), examples.binned.binning, **keys_of(examples, options))
    return boost_compiled(rows, held, task, options)


def fit_readable(examples, loss, options, held=None):
    """The readable loop over the kernels of the compiled one."""
    held = None if held is None else opened(held, loss, options)
    task = LoopTask.of(losses.get(loss), examples.binned.binning, **keys_of(examples, options))
    return boost(opened(examples, loss, options), held, task, options)


def fit_python(examples, loss, options):
    """The readable loop over NumPy and the loss's own Python."""
    loss = losses.get(loss)
    task = LoopTask(loss.name, PythonSurrogate(loss), 1.0, examples.binned.binning, **keys_of(examples, options))
    return boost(opened(examples, loss, options, InPython), None, task, options)


def scores(examples, trace):
    """The score of each row after each round, from the rules alone: (rounds + 1, rows)."""
    found = []
    for n_rounds in range(len(trace.rounds) + 1):
        intercept, terms = trace.terms(n_rounds)
        score = np.full(len(examples.positive), intercept)
        for rule, coefficient in terms.items():
            score += np.where(covered(examples, rule), coefficient, -coefficient)
        found.append(score)
    return np.array(found)


def covered(examples, rule):
    mask = np.ones(len(examples.positive), dtype=bool)
    for literal in rule:
        mask &= literal.covers(examples.binned.column_codes(literal.column))
    return mask
