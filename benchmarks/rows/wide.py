"""Few rows and many columns, gene expression in shape: the default of rules beside LightGBM; time, memory and loss."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.data import log_loss
from benchmarks.fresh import peak_memory
from benchmarks.row import Row, Work

N_ROWS, N_COLUMNS, N_FACTORS = 500, 10_000, 20
TIMES_DATA = 3.0


def rows(full: bool) -> Iterator[Row]:
    """A third of LightGBM's processor time; at most three times the memory of the data."""
    shown = f"{N_ROWS}x{N_COLUMNS:,}"
    yield Row(
        name=f"fit the default on wide data, {shown}",
        prepare=times,
        at_least={"LightGBM": 3.0},
        quality="test log-loss",
        repeats=1,
    )
    yield Row(
        name=f"peak memory above wide data, {shown}",
        prepare=memory,
        at_least={f"{TIMES_DATA:g} times the data": 1.0},
        quality="training log-loss",
        unit="MiB",
        repeats=1,
    )


def expression(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns that share a few hidden factors, three of which decide the class."""
    loadings = 0.35 * np.random.default_rng(99).standard_normal((N_FACTORS, N_COLUMNS))
    random = np.random.default_rng(seed)
    factors = random.standard_normal((n_rows, N_FACTORS))
    X = factors @ loadings + random.standard_normal((n_rows, N_COLUMNS))
    score = 1.2 * factors[:, 0] + factors[:, 1] - 0.8 * factors[:, 2]
    return X, (random.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)


def times() -> Mapping[str, Work]:
    """Fit both with their defaults and judge them on other rows."""
    from lightgbm import LGBMClassifier

    import permissible as pm

    (X, y), (other, truth) = expression(N_ROWS, 0), expression(1000, 1)

    def ours() -> float:
        return log_loss(truth, pm.ULSClassifier(n_jobs=1).fit(X, y).predict_proba(other)[:, 1])

    def lightgbm() -> float:
        return log_loss(truth, LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y).predict_proba(other)[:, 1])

    return {"permissible": ours, "LightGBM": lightgbm}


def memory() -> Mapping[str, Callable[[], tuple[float, float]]]:
    """Peaks of fresh processes above the data, and the stated multiple of the data."""
    X, y = expression(N_ROWS, 0)
    judge = "p = np.clip(model.predict_proba(X)[:, 1], 1e-15, 1 - 1e-15); "
    judge += "quality = float(-np.mean(np.log(np.where(y == 1, p, 1 - p))))"
    ours, peer = "ULSClassifier(n_jobs=1)", "LGBMClassifier(n_jobs=1, verbose=-1)"
    small = "Xs, ys = X[:200, :5].copy(), y[:200].copy()"

    def peak(module: str, name: str, made: str) -> tuple[float, float]:
        work = f"model = {made}.fit(X, y); {judge}"
        return peak_memory(X, y, f"from {module} import {name}", f"{small}; {made}.fit(Xs, ys)", work)

    return {
        "permissible": lambda: peak("permissible", "ULSClassifier", ours),
        f"{TIMES_DATA:g} times the data": lambda: (TIMES_DATA * X.nbytes / 2**20, 0.0),
        "LightGBM": lambda: peak("lightgbm", "LGBMClassifier", peer),
    }
