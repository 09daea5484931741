"""Prints a digest of each fit that goes through registers: ``python -m tests.learners.uls.registers`` (test_registers.py)."""

import hashlib

import numpy as np

from permissible import losses
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Examples
from permissible.table import read
from tests.learners.uls.cases import fit_compiled


def digest() -> str:
    """Rules and coefficients of fits with every loss in lanes, every kind of weight, sampled and not, as one hash."""
    random = np.random.default_rng(0)
    X = random.standard_normal((3003, 11)).round(1)
    positive = X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(3003) > 0
    table = read(X)
    codes = encode(find_bins(table), table)
    weights = (None, random.integers(1, 9, 3003).astype(float), random.random(3003) + 0.1)
    found = hashlib.sha256()
    for name in ("logistic", "matsushita", "squared", "exponential"):
        loss = losses.get(name)
        for weight in weights:
            for share in (1.0, 0.5):
                options = ULSOptions(12, 3, l2=1.0, learning_rate=0.5, search_fraction=share)
                trace = fit_compiled(Examples(codes, positive, weight), loss, options)
                found.update(repr(trace.rounds).encode())
                found.update(repr(trace.terms()[0]).encode())
    return found.hexdigest()


if __name__ == "__main__":
    print(digest())
