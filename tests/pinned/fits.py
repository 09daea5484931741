"""About sixty small fits whose models are kept: estimators x losses x schemes x memory and blocks, by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import permissible as pm
from permissible import losses

ROWS = 240


class Fit(NamedTuple):
    """A fit to be kept; `exact` unless its model passes through BLAS or NumPy's exp and log.

    Their last bits differ between processors, those of the compiled core do not.
    """

    run: Callable[[], Any]
    exact: bool = True


def table(classes: int = 2) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers with gaps, counts, truth values and categories; labels that are words."""
    random = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "real": np.where(random.random(ROWS) < 0.1, np.nan, np.round(random.standard_normal(ROWS), 3)),
            "count": random.integers(0, 9, ROWS),
            "colour": random.choice(["red", "green", "blue"], ROWS),
            "truth": random.random(ROWS) < 0.5,
            "other": np.round(random.standard_normal(ROWS), 2),
        }
    )
    score = frame["real"].fillna(1) + 0.3 * frame["count"] + (frame["colour"] == "red") - frame["truth"]
    score += 0.7 * random.standard_normal(ROWS)
    place = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return frame, pd.Series(np.array(["low", "middle", "high"])[place * (2 if classes == 2 else 1)], name="label")


def numbers(classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The columns of `table` that are numbers, without gaps."""
    frame, y = table(classes)
    return frame[["count", "truth", "other"]].to_numpy(dtype=np.float64), y.to_numpy()


def weights() -> np.ndarray:
    """Weights that are not whole numbers."""
    return np.round(np.random.default_rng(1).random(ROWS) + 0.1, 3)


def in_memory(model: Any, classes: int = 2, weighted: bool = False) -> Callable[[], Any]:
    """A fit on the mixed table."""
    return lambda: model.fit(*table(classes), sample_weight=weights() if weighted else None)


def on_numbers(model: Any, classes: int = 2, weighted: bool = False) -> Callable[[], Any]:
    """A fit on the columns that are numbers."""
    return lambda: model.fit(*numbers(classes), sample_weight=weights() if weighted else None)


def in_blocks(model: Any, classes: int = 2, weighted: bool = False, of_numbers: bool = False) -> Callable[[], Any]:
    """A fit on blocks on disk."""

    def run() -> Any:
        frame, y = table(classes)
        frame = frame[["count", "truth", "other"]].astype(float) if of_numbers else frame
        whole = frame.assign(label=y, w=weights())
        more = {"weight": "w"} if weighted else {"drop": ["w"]}
        values = {"keep_values": True} if of_numbers else {}
        return model.fit(pm.BinnedDataset.from_batches([whole[:100], whole[100:]], target="label", **more, **values))

    return run


SINE = losses.from_phi(lambda p: np.sin(np.pi * p), name="sine")
OWN_PSI = losses.from_psi(lambda x: np.logaddexp(0, -2 * x) / 2, lambda x: -1 / (1 + np.exp(2 * x)), name="own psi")
LOSSES = ("logistic", "squared", "mu", "matsushita", "power", "logcosh", "exponential", "least_squares", SINE, OWN_PSI)
SHORT = {"n_rounds": 6, "max_literals": 2, "early_stopping": False}


def name_of(loss: Any) -> str:
    """The name of a loss or of its object."""
    return loss if isinstance(loss, str) else loss.name


def rules() -> dict[str, Fit]:
    """ULS with rules."""
    uls = pm.ULSClassifier
    found = {f"uls-{name_of(loss)}": Fit(in_memory(uls(loss, **SHORT)), isinstance(loss, str)) for loss in LOSSES}
    for loss in ("logistic", "squared", "logcosh", "exponential", "matsushita"):
        found[f"uls-corrective-{loss}"] = Fit(in_memory(uls(loss, scheme="corrective", **SHORT)), exact=False)
    found |= {f"uls-{flavour}": Fit(in_memory(uls(flavour, **SHORT))) for flavour in ("F1", "F2", "E1", "E2", "F*")}
    found |= {
        "uls-default": Fit(in_memory(uls(n_rounds=12))),
        "uls-auto": Fit(in_memory(uls("auto", n_rounds=5))),
        "uls-one-value": Fit(in_memory(uls(fit_intercept=False, **SHORT))),
        "uls-weighted": Fit(in_memory(uls(n_rounds=8), weighted=True)),
        "uls-three-classes": Fit(in_memory(uls(n_rounds=5), classes=3)),
        "uls-block": Fit(in_memory(uls(scheme=2, **SHORT)), exact=False),
        "uls-beam": Fit(in_memory(uls(beam=8, n_rounds=5, max_literals=3, early_stopping=False))),
        "uls-points": Fit(in_memory(uls.points(n_rules=4)), exact=False),
        "uls-pairwise": Fit(in_memory(uls(n_rounds=6, early_stopping=False, interaction_cst="pairwise")), exact=False),
        "uls-compact": Fit(in_memory(uls.compact(n_rules=6)), exact=False),
        "uls-plain": Fit(in_memory(uls.plain("matsushita", n_rules=8, max_literals=2))),
        "uls-tree": Fit(on_numbers(uls(learner="tree", n_rounds=12, early_stopping=False))),
        "uls-columns": Fit(on_numbers(uls(learner="column", n_rounds=30)), exact=False),
        "uls-columns-corrective": Fit(on_numbers(uls("power", learner="column", scheme="corrective")), exact=False),
        "uls-blocks-default": Fit(in_blocks(uls(n_rounds=12))),
        "uls-blocks-weighted": Fit(in_blocks(uls("matsushita", **SHORT), weighted=True)),
        "uls-blocks-corrective": Fit(in_blocks(uls(scheme="corrective", **SHORT)), exact=False),
        "uls-blocks-sine": Fit(in_blocks(uls(SINE, **SHORT)), exact=False),
        "uls-blocks-three-classes": Fit(in_blocks(uls(n_rounds=5), classes=3)),
    }
    return found


def trees() -> dict[str, Fit]:
    """UDT."""
    udt = pm.UDTClassifier
    found = {f"udt-{name_of(loss)}": Fit(in_memory(udt(loss, max_leaf_nodes=8))) for loss in LOSSES[:6]}
    return found | {
        "udt-pruned": Fit(in_memory(udt(pruning="auto"))),
        "udt-three-classes": Fit(in_memory(udt("matsushita", max_leaf_nodes=9, smoothing=1.0), classes=3)),
        "udt-weighted": Fit(in_memory(udt(max_leaf_nodes=8, min_samples_leaf=5), weighted=True)),
        "udt-blocks": Fit(in_blocks(udt(max_leaf_nodes=8))),
        "udt-blocks-pruned": Fit(in_blocks(udt(pruning="auto"), classes=3)),
    }


def boundaries() -> dict[str, Fit]:
    """Boundary classifiers; all through BLAS."""
    boundary = pm.BoundaryClassifier
    fits = {
        "boundary-hard": on_numbers(boundary()),
        "boundary-weighted": on_numbers(boundary(pm.Weighted(0.2)), weighted=True),
        "boundary-reject": on_numbers(boundary(pm.Reject(0.2))),
        "boundary-three": on_numbers(boundary((0.25, 0.5, 0.75), loss="matsushita")),
        "boundary-descent": on_numbers(boundary((0.25, 0.75), solver="dcd")),
        "boundary-subgradient": on_numbers(boundary((0.25, 0.75), solver="psgd", max_iter=50)),
        "boundary-soft": on_numbers(boundary("soft")),
        "boundary-rbf": on_numbers(boundary((0.3, 0.7), kernel="rbf")),
        "boundary-cv": on_numbers(pm.BoundaryClassifierCV((0.3, 0.7), alphas=(1e-3, 1e-2, 1e-1))),
        "boundary-blocks": in_blocks(boundary((0.25, 0.75)), of_numbers=True),
    }
    return {name: Fit(run, exact=False) for name, run in fits.items()}


def multiclass() -> dict[str, Fit]:
    """MCBoost."""
    mcboost = pm.MCBoostClassifier
    found = {
        f"mcboost-{loss}": Fit(on_numbers(mcboost(loss, learner="linear", n_rounds=6), classes=3))
        for loss in ("gll", "gel", "ls", "lt", "mc")
    }
    for learner in ("linear-full", "rule", "tree"):
        found[f"mcboost-{learner}"] = Fit(on_numbers(mcboost(learner=learner, n_rounds=6), classes=3), exact=False)
    return found | {
        "mcboost-costs": Fit(
            in_memory(mcboost(learner="rule", n_rounds=6, cost_matrix=[[0, 1, 4], [1, 0, 1], [2, 1, 0]]), classes=3),
            exact=False,
        ),
        "mcboost-gradient": Fit(
            in_memory(mcboost(learner="tree", descent="gradient", n_rounds=5), classes=3), exact=False
        ),
        "mcboost-auto": Fit(on_numbers(mcboost(learner="auto", n_rounds=5), classes=3), exact=False),
        "mcboost-blocks-rule": Fit(in_blocks(mcboost(learner="rule", n_rounds=6), classes=3), exact=False),
        "mcboost-blocks-tree": Fit(in_blocks(mcboost(learner="tree", n_rounds=5), classes=3, weighted=True)),
    }


FITS = rules() | trees() | boundaries() | multiclass()
