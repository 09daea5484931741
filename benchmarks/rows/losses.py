"""Losses: a million margins of the logistic loss against the bare sigmoid of scipy, which does less."""

from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.row import Row, Work


def contenders(method: str) -> Mapping[str, Work]:
    from scipy.special import expit

    from permissible import losses

    margins = np.random.default_rng(0).normal(0, 5, 1_000_000)
    function = getattr(losses.get("logistic"), method)
    return {
        "permissible": lambda: float(np.mean(function(margins))),
        "scipy expit": lambda: float(np.mean(expit(-margins))),
    }


def rows(full: bool) -> Iterator[Row]:
    """Yield the value and the weight; at most twice the time of the sigmoid is a ratio of at least one half."""
    for method in ("value", "weight"):
        yield Row(
            name=f"1e6 logistic margins, {method}",
            prepare=lambda method=method: contenders(method),
            at_least={"scipy expit": 0.5},
            quality="mean",
            repeats=15 if full else 7,
        )
