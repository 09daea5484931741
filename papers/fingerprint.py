"""Do kept results belong to today's models? A few small fits of the algorithms behind them, as numbers kept beside the results.

`docs/results/fingerprint.json` holds the scores that these fits gave when the results were last made or checked; a test compares
them with those of today. When one differs, the pages that it names have to be run again (or shown not to depend on it), and
then `python -m papers.fingerprint` keeps the new numbers. What could not be run again says so on its page: `EARLIER`.
"""

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.protocols.public import public
from permissible.types import AnyArray

Maker = Callable[[], Any]
KEPT = Path(__file__).parents[1] / "docs" / "results" / "fingerprint.json"
EARLIER = {
    "peers": "The row of `ULSClassifier` is that of the default before rules left its average",
    "boundary-rules": "The logistic rules are those of the defaults before their search drew",
    "beijbom-2014": "MCBoost's trees are grown otherwise since then",
}
"""What pages say of numbers that today's models would not give; whoever runs them again takes the sentence away."""
ROWS = 12
"""Scores that are kept of each fit, evenly over its rows."""


def _data(classes: int) -> tuple[AnyArray, AnyArray]:
    """Rows of whole numbers with noise, the same on every machine."""
    state = np.arange(240 * 6, dtype=np.int64).reshape(240, 6)
    table = ((state * 7919 + 104729) % 1009 % 7).astype(np.float64)
    noise = (np.arange(240) * 31 + 17) % 11
    return table, ((table[:, 0] + 2 * table[:, 1] - table[:, 2] + noise) // 8 % classes).astype(np.int64)


def fits() -> dict[str, tuple[tuple[str, ...], Maker, int]]:
    """The fits by name: the pages that depend on it, how to make the estimator, and the number of classes."""
    plain, pages = public("ULSClassifier").plain, ("nips-2008", "icpr-2008")
    found: dict[str, tuple[tuple[str, ...], Maker, int]] = {}
    for name in ("matsushita", "logistic", "squared", "power", "exponential", "E1", "F1", "E2", "F2"):
        found[f"uls {name}"] = pages, partial(plain, name, n_rules=10, max_literals=2), 2
    for literals, rounds in ((10, 20), (1, 50)):
        make = partial(plain, "matsushita", n_rules=rounds, max_literals=literals)
        found[f"margins {literals} {rounds}"] = ("tpami-2009",), make, 2
    for name in ("matsushita", "logistic", "squared"):
        make = partial(public("UDTClassifier"), name, max_leaf_nodes=8, smoothing=0.0)
        found[f"trees {name}"] = ("tpami-2009",), make, 2
    costs = [[0.0, 2.0, 5.0], [2.0, 0.0, 3.0], [5.0, 3.0, 0.0]]
    for name in ("gll", "gel", "ls", "lt", "mc"):
        make = partial(
            public("MCBoostClassifier"), name, cost_matrix=costs, n_rounds=20, calibration=None, learner="linear"
        )
        found[f"guess-averse {name}"] = ("beijbom-2014",), make, 3
    for name, boundaries in (("boundaries", (0.25, 0.5, 0.75)), ("boundaries soft", "soft")):
        make = partial(public("BoundaryClassifier"), boundaries, alpha=1.0, tol=1e-9)
        found[name] = ("kimes",), make, 2
    for learner in ("rule", "tree"):
        make = partial(public("BoundaryClassifier"), (0.2, 0.6), learner=learner, alpha=0.015, n_rounds=10)
        found[f"boundary {learner}s"] = ("boundary-rules",), make, 2
    for name in ("ULSClassifier", "UDTClassifier", "BoundaryClassifier"):
        shown: tuple[str, ...] = ("peers", "boundary-rules") if name == "ULSClassifier" else ("peers",)
        found[f"defaults of {name}"] = shown, public(name), 2
    return found


def scores(make: Maker, classes: int) -> list[float]:
    """Some scores of a fit."""
    table, label = _data(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(table, label)
        rows = table[:: len(table) // ROWS]
        found = np.asarray(
            model.decision_function(rows) if hasattr(model, "decision_function") else model.predict_proba(rows)
        )
    return [float(value) for value in found.ravel()]


def main() -> None:
    """Keep the scores of today."""
    kept = {
        name: {"pages": list(pages), "scores": scores(make, classes)} for name, (pages, make, classes) in fits().items()
    }
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{len(kept)} fits kept in {KEPT.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
