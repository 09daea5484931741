"""Boosted rules: fits and predictions beside LightGBM, XGBoost, AdaBoost and imodels; same bins and rounds, loss beside time."""

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.data import higgs_like, log_loss
from benchmarks.fresh import peak_memory
from benchmarks.row import Row, Work

ROUNDS = 100
N_ROWS, N_COLUMNS, N_FACTORS = 500, 10_000, 20  # few rows and many columns, gene expression in shape
TIMES_DATA = 3.0


def rows(full: bool) -> Iterator[Row]:
    """Large fits on ready bins and with binning, small fits with everything, equal loss, prediction, memory."""
    size = 1_000_000 if full else 200_000
    shown = f"{size:.0e}x28".replace("e+0", "e")
    for literals, depth, ratio in ((1, 1, 3.0), (2, 2, 2.5), (3, 2, 2.0)):
        for share, word in (("auto", "default search"), (1.0, "search on all rows")):
            yield Row(
                name=f"fit {ROUNDS} rounds, {shown}, ready bins, l={literals} against depth {depth}, {word}",
                prepare=functools.partial(fits_on_bins, size, literals, depth, share),
                at_least=dict.fromkeys(("LightGBM", "XGBoost"), ratio),
                quality="training log-loss",
            )
    yield Row(
        name=f"fit {ROUNDS} rounds, {shown}, with binning, l=2 against depth 2",
        prepare=functools.partial(fits_from_matrix, size),
        at_least=dict.fromkeys(("LightGBM", "XGBoost"), 4.0),
        quality="test log-loss",
    )
    yield Row(
        name=f"fit {ROUNDS} rounds, 300x10, everything included, l=1",
        prepare=small_fits,
        at_least={"AdaBoostClassifier": 20.0, "imodels BoostedRules": 20.0, "LightGBM": 1.0},
        quality="training log-loss",
        repeats=10,
    )
    for n_rows, ratio in ((200_000, {"LightGBM, tuned": 2.0}), (40_000, {})):  # below 1e5 rows every row is searched
        yield Row(
            name=f"time to the test loss of the best-tuned LightGBM, {n_rows:.0e}x28".replace("e+0", "e"),
            prepare=functools.partial(equal_loss, n_rows),
            at_least=ratio,
            quality="test log-loss",
        )
    for literals in (1, 2, 3):
        yield Row(
            name=f"predict {shown}, {ROUNDS} rounds, l={literals}",
            prepare=functools.partial(predictions, size, literals),
            at_least={"XGBoost": 10.0},
            quality="test log-loss",
            repeats=5,
        )
    yield Row(
        name=f"peak memory above the data, {shown}, l=2",
        prepare=functools.partial(memory, size),
        at_least={"LightGBM": 2.0},
        quality="training log-loss",
        unit="MiB",
        repeats=3,
    )
    yield from wide_rows()


def fits_on_bins(n_rows: int, literals: int, depth: int, share: float | str) -> Mapping[str, Work]:
    """Data sets are binned before the clock starts."""
    import lightgbm
    import xgboost

    from permissible import losses
    from permissible.bins.encoding import encode
    from permissible.bins.find import find_bins
    from permissible.bins.hashing import row_hashes
    from permissible.learners.uls.fit import Task, fit_rules
    from permissible.learners.uls.options import ULSOptions
    from permissible.rows.local import LocalSource
    from permissible.rows.part import MemoryPart
    from permissible.table import read

    X, y = higgs_like(n_rows)
    table = read(X)
    binned, hashes = encode(find_bins(table), table), row_hashes(table, 0, 1)
    part = MemoryPart(binned, y.astype(np.int64), None, lambda: hashes)
    source = LocalSource((part,), binned.binning, np.arange(2), n_rows, False)
    fraction = (0.3 if n_rows > 100_000 else 1.0) if share == "auto" else float(share)
    options = ULSOptions(ROUNDS, literals, l2=1.0, learning_rate=0.3, search_fraction=fraction)
    task = Task(losses.get("logistic"), (options,), stopping=False)
    light = {"objective": "binary", "max_bin": 255, "verbose": -1, "num_threads": 1}
    light |= {"max_depth": depth, "num_leaves": 2**depth, "learning_rate": 0.3}
    light_data = lightgbm.Dataset(X, label=y, params=light, free_raw_data=False).construct()
    extreme = {"objective": "binary:logistic", "tree_method": "hist", "max_bin": 255, "nthread": 1, "max_depth": depth}
    extreme_data = xgboost.QuantileDMatrix(X, label=y, max_bin=255, nthread=1)
    known: dict[str, float] = {}

    def once(name: str, judge: Callable[[], float]) -> float:
        if name not in known:
            known[name] = judge()
        return known[name]

    def ours() -> float:
        return fit_rules(source, 1, task).trace.rounds[-1].surrogate * float(np.log(2))

    def of_lightgbm() -> float:
        model = lightgbm.train(light, light_data, num_boost_round=ROUNDS)
        return once("lightgbm", lambda: log_loss(y, model.predict(X)))

    def of_xgboost() -> float:
        model = xgboost.train(extreme, extreme_data, num_boost_round=ROUNDS)
        return once("xgboost", lambda: log_loss(y, model.predict(extreme_data)))

    return {"permissible": ours, "LightGBM": of_lightgbm, "XGBoost": of_xgboost}


def _ours(literals: int = 2, **more: object) -> object:
    import permissible as pm

    return pm.ULSClassifier(
        n_rounds=ROUNDS, max_literals=literals, early_stopping=False, random_state=0, **{"beam": 1, **more}
    )


def fits_from_matrix(n_rows: int) -> Mapping[str, Work]:
    """From a float matrix to a fitted estimator."""
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    X, y = higgs_like(n_rows + 100_000)
    train, labels, test, truth = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
    makers = {
        "permissible": _ours,
        "LightGBM": lambda: LGBMClassifier(
            n_estimators=ROUNDS, max_depth=2, num_leaves=4, learning_rate=0.3, n_jobs=1, verbose=-1
        ),
        "XGBoost": lambda: XGBClassifier(n_estimators=ROUNDS, max_depth=2, tree_method="hist", n_jobs=1),
    }
    return {name: _fit_and_judge(make, train, labels, test, truth) for name, make in makers.items()}


def _fit_and_judge(make: Callable[[], object], X: object, y: object, test: object, truth: np.ndarray) -> Work:
    """The time of a row is that of fitting: the model is judged in the unmeasured first turn only."""
    known: list[float] = []

    def work() -> float:
        model = make().fit(X, y)  # type: ignore[attr-defined]
        if not known:
            known.append(log_loss(truth, model.predict_proba(test)[:, 1]))
        return known[0]

    return work


def small_fits() -> Mapping[str, Work]:
    """A small table: validation, binning and all."""
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import AdaBoostClassifier

    X, y = higgs_like(300, 10)
    X = X.astype(np.float64)
    makers = {
        "permissible": lambda: _ours(1),
        "AdaBoostClassifier": lambda: AdaBoostClassifier(n_estimators=ROUNDS),
        "LightGBM": lambda: LGBMClassifier(n_estimators=ROUNDS, max_depth=1, num_leaves=2, n_jobs=1, verbose=-1),
    }
    try:
        from imodels import BoostedRulesClassifier

        makers["imodels BoostedRules"] = lambda: BoostedRulesClassifier(n_estimators=ROUNDS)
    except ImportError:  # it asks for more than it declares on some machines; the row then has one peer less
        pass
    return {name: _fit_and_judge(make, X, y, X, y) for name, make in makers.items()}


def equal_loss(n_rows: int) -> Mapping[str, Work]:
    """The least time at which each reaches the loss that the best-tuned LightGBM of two literals' depth reaches."""
    from lightgbm import LGBMClassifier

    X, y = higgs_like(n_rows + 50_000)
    train, labels, test, truth = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]

    def light(rate: float) -> object:
        return LGBMClassifier(
            n_estimators=ROUNDS, max_depth=2, num_leaves=4, learning_rate=rate, n_jobs=1, verbose=-1
        ).fit(train, labels)

    rates = (0.1, 0.2, 0.3, 0.5, 0.8)
    reached = {rate: log_loss(truth, light(rate).predict_proba(test)[:, 1]) for rate in rates}  # type: ignore[attr-defined]
    best = min(reached, key=reached.__getitem__)
    target = reached[best] + 0.002
    import permissible as pm

    grown = pm.ULSClassifier(n_rounds=600, max_literals=2, early_stopping=False, random_state=0)
    stages = grown.fit(train, labels).staged_predict_proba(test)
    needed = next((k + 1 for k, p in enumerate(stages) if log_loss(truth, p[:, 1]) <= target), 600)
    staged = [log_loss(truth, light(best).predict_proba(test, num_iteration=k)[:, 1]) for k in range(5, ROUNDS + 1, 5)]  # type: ignore[attr-defined]
    trees = 5 * (1 + int(np.argmax(np.array(staged) <= target)))
    makers = {
        "permissible": lambda: grown.set_params(n_rounds=needed),
        "LightGBM, tuned": lambda: LGBMClassifier(
            n_estimators=trees, max_depth=2, num_leaves=4, learning_rate=best, n_jobs=1, verbose=-1
        ),
    }
    return {name: _fit_and_judge(make, train, labels, test, truth) for name, make in makers.items()}


def predictions(n_rows: int, literals: int) -> Mapping[str, Work]:
    """Probabilities of all rows by a fitted estimator, with all that its predict does."""
    from xgboost import XGBClassifier

    X, y = higgs_like(n_rows)
    part = slice(0, min(n_rows, 100_000))
    ours = _ours(literals).fit(X[part], y[part])  # type: ignore[attr-defined]
    peer = XGBClassifier(n_estimators=ROUNDS, max_depth=min(literals, 2), tree_method="hist", n_jobs=1).fit(
        X[part], y[part]
    )
    judged = {"permissible": ours, "XGBoost": peer}
    known = {name: log_loss(y, model.predict_proba(X)[:, 1]) for name, model in judged.items()}

    def work(name: str) -> Work:
        def once() -> float:
            judged[name].predict_proba(X)
            return known[name]

        return once

    return {name: work(name) for name in judged}


def memory(n_rows: int) -> Mapping[str, Callable[[], tuple[float, float]]]:
    """Peak resident memory of a fit above the loaded table, each in a fresh process."""
    X, y = higgs_like(n_rows)
    judge = "p = model.predict_proba(X[:20000])[:, 1]; quality = float(-np.mean(np.log(np.where(y[:20000] == 1, p, 1 - p))))"
    ours = "ULSClassifier(n_rounds=100, max_literals=2, early_stopping=False, random_state=0)"
    peer = "LGBMClassifier(n_estimators=100, max_depth=2, num_leaves=4, n_jobs=1, verbose=-1)"
    small = "Xs, ys = X[:2000].copy(), y[:2000].copy()"
    return {
        "permissible": lambda: peak_memory(
            X,
            y,
            "from permissible import ULSClassifier",
            f"{small}; {ours}.fit(Xs, ys)",
            f"model = {ours}.fit(X, y); {judge}",
        ),
        "LightGBM": lambda: peak_memory(
            X,
            y,
            "from lightgbm import LGBMClassifier",
            f"{small}; {peer}.fit(Xs, ys)",
            f"model = {peer}.fit(X, y); {judge}",
        ),
    }


def wide_rows() -> Iterator[Row]:
    """A third of LightGBM's processor time; at most three times the memory of the data."""
    shown = f"{N_ROWS}x{N_COLUMNS:,}"
    yield Row(
        name=f"fit the default on wide data, {shown}",
        prepare=wide_times,
        at_least={"LightGBM": 3.0},
        quality="test log-loss",
        repeats=1,
    )
    yield Row(
        name=f"peak memory above wide data, {shown}",
        prepare=wide_memory,
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


def wide_times() -> Mapping[str, Work]:
    """Fit both with their defaults and judge them on other rows."""
    from lightgbm import LGBMClassifier

    import permissible as pm

    (X, y), (other, truth) = expression(N_ROWS, 0), expression(1000, 1)

    def ours() -> float:
        return log_loss(truth, pm.ULSClassifier(n_jobs=1).fit(X, y).predict_proba(other)[:, 1])

    def lightgbm() -> float:
        return log_loss(truth, LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y).predict_proba(other)[:, 1])

    return {"permissible": ours, "LightGBM": lightgbm}


def wide_memory() -> Mapping[str, Callable[[], tuple[float, float]]]:
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
