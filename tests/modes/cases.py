"""What the matrices share: the values that an estimator documents for a parameter, fits without warnings, data in parts."""

import re
import signal
import warnings
from contextlib import contextmanager
from functools import cache
from zlib import crc32

import numpy as np
import pytest

from permissible.distributed.data.dataset import BinnedDataset
from tests.modes.problems import PROBLEMS, weights

SECONDS = 20
"""No fit of these small tables takes a second; one that has not ended after so many never will."""


def documented(estimator, parameter):
    """The words in braces after a parameter's name in the docstring: a new one is part of the matrix by being documented."""
    line = re.search(rf"^    {parameter} : (.*)$", estimator.__doc__, re.M).group(1)
    return re.findall(r'"([^"]+)"', re.search(r"\{(.*?)\}", line).group(1))


@contextmanager
def limit(seconds=SECONDS):
    """Every loop has a limit: a fit that does not end is a failure, not a suite that hangs."""

    def late(*_):
        raise TimeoutError(f"the fit did not end within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fitted(model, *given, **named):
    """Fit; what is warned of is judged by the tests of doubts."""
    with limit(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*given, **named)


@cache
def table(problem, seed, weighted):
    """Rows, labels and weights (None or random) of a problem."""
    X, y = PROBLEMS[problem](seed)
    return X, y, weights(len(y), seed + 1) if weighted else None


def in_parts(X, y, sample, **options):
    """The same rows as a data set in three batches."""
    cuts = np.array_split(np.arange(len(y)), 3)
    batches = [
        {**{f"x{j}": X[rows, j] for j in range(X.shape[1])}, "y": y[rows]}
        | ({} if sample is None else {"w": sample[rows]})
        for rows in cuts
    ]
    return BinnedDataset.from_batches(batches, target="y", weight=None if sample is None else "w", **options)


def matrix(cells, flags, many=2, thin=1):
    """Cells of a product with a problem each (they take turns): half of them in `make test`, all of them and with more
    problems in the slow version.

    The last `flags` of a cell are modes with two values each; the half has every pair of them. `thin` leaves one in so many.
    """
    cells = list(cells)
    firsts = [cells[0][-place] for place in range(1, flags + 1)]
    for number, cell in enumerate(cells):
        odd = sum(cell[-place] != first for place, first in enumerate(firsts, 1)) % 2
        for turn in range(many):
            problem = list(PROBLEMS)[(number + number // len(PROBLEMS) + turn) % len(PROBLEMS)]
            name = name_of((*cell, problem))
            marks = (pytest.mark.slow,) if turn or odd or crc32(name.encode()) % thin else ()
            yield pytest.param((*cell, problem, 7 * number % 89 + turn), marks=marks, id=name)


def name_of(cell):
    return "-".join(
        part if isinstance(part, str) else f"{part:g}" if isinstance(part, float) else str(part) for part in cell
    )
