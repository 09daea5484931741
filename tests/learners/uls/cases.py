"""Small tables for the tests of boosted rules, and the ways to fit them."""

from dataclasses import replace

import numpy as np

from permissible import losses
from permissible.bins import encode, find_bins
from permissible.learners.uls.boost import boost
from permissible.learners.uls.compiled import Examples, boost_compiled
from permissible.learners.uls.loss_rows import CompiledRows, PythonRows
from permissible.losses.surrogate import PythonSurrogate, compiled
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


def fit_compiled(examples, loss, options, **more):
    loss = losses.get(loss)
    return boost_compiled(examples, compiled(loss), loss.name, options, **more)


def fit_readable(examples, loss, options, held=None, **more):
    """The readable loop over the kernels of the compiled one."""
    loss = losses.get(loss)
    kernel = compiled(loss)
    two = options.fit_intercept
    judged = None if held is None else CompiledRows(held, kernel, two)
    scaled = replace(options, l2=options.l2 * kernel.scale)
    rows = CompiledRows(examples, kernel, two)
    return boost(
        rows, kernel.function(), examples.binned.binning, loss.name, scaled, scale=kernel.scale, held=judged, **more
    )


def fit_python(examples, loss, options, held=None, **more):
    """The readable loop over NumPy and the loss's own Python."""
    loss = losses.get(loss)
    two = options.fit_intercept
    judged = None if held is None else PythonRows(held, loss, two)
    rows = PythonRows(examples, loss, two)
    return boost(rows, PythonSurrogate(loss), examples.binned.binning, loss.name, options, held=judged, **more)


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
