"""Boosted trees: the preset beside LightGBM stopped early, other modes of LightGBM, losses, threads, memory and small tables."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.fresh import longest_path, peak_memory
from benchmarks.row import Row, Work
from benchmarks.rows.equal_loss import Split, judged, light, ours, split_of, test_loss

STOPPED, STOPPED_LARGE = ("adult", "letter", "higgs-11k", "pendigits"), ("covertype", "covertype, 7 classes")
MODES, MODES_LARGE = ("adult", "higgs-11k"), ("covertype", "1e5x28")
LOSSES = {"logcosh": 1.5, "power": 1.5, "matsushita": 1.5, "own phi": 5.0}
PATIENCE, HELD_OUT = 30, 5
TURNS = 3  # fits of each contender and number of threads


def rows(full: bool) -> Iterator[Row]:
    """Quality of the defaults first, then the cost of losses; with `full` also large data."""
    for name in (*STOPPED, *(STOPPED_LARGE if full else ())):
        yield Row(
            name=f"ULSClassifier.trees() with its choice beside LightGBM stopped early, {name}",
            prepare=functools.partial(with_choice, name),
            at_least={"LightGBM, stopped": 1.0},
            quality="test log-loss",
            repeats=1 if name in STOPPED_LARGE else 3,
            note="both hold out a fifth and are fitted again on all rows; LightGBM has at most 1000 trees",
        )
    for name in (*MODES, *(MODES_LARGE if full else ())):
        yield Row(
            name=f"100 boosted trees of 31 leaves, rate .1, {name}, other modes of LightGBM",
            prepare=functools.partial(other_modes, name),
            at_least={},
            quality="test log-loss",
            repeats=1 if name in MODES_LARGE else 3,
        )
    yield Row(
        name="ULSClassifier.trees() on 300x10",
        prepare=small_table,
        at_least={"LightGBM": 1.0},
        quality="training error",
        repeats=5,
    )
    for name in ("adult", *(("covertype",) if full else ())):
        yield Row(
            name=f"100 boosted trees, losses beside the logistic, {name}",
            prepare=functools.partial(losses_beside_logistic, name),
            at_least={},
            at_most=LOSSES,
            quality="training error",
        )
    if full:
        yield from large_rows()


def large_rows() -> Iterator[Row]:
    """Threads, memory, many classes and many rules, on data too large for a quick run."""
    yield Row(
        name="100 boosted trees of 31 leaves, two threads, 1e6x28",
        prepare=functools.partial(two_threads, "1e6x28"),
        at_least={"LightGBM": 8.0},
        quality="test log-loss",
        threads=2,
        repeats=1,
    )
    yield Row(
        name="100 boosted trees of 31 leaves, the busiest of two threads beside one thread, 1e6x28",
        prepare=second_thread,
        at_least={"LightGBM": 1.0},
        quality="training error",
        unit="of the time of one thread",
        repeats=1,
        note=f"processor time of the thread that took most, the least of {TURNS} fits, over that of one thread; with binning",
    )
    yield Row(
        name="peak memory of 100 boosted trees above the data, 1e6x28",
        prepare=memory,
        at_least={"LightGBM": 1 / 0.6},
        quality="training error",
        unit="MiB",
        repeats=1,
    )
    yield Row(
        name="boosted trees, 200 classes, 20,000x20",
        prepare=many_classes,
        at_least={"LightGBM": 3.0},
        quality="test log-loss",
        repeats=1,
    )
    yield Row(
        name="MCBoostClassifier(), 200 classes, 20,000x20",
        prepare=many_classes_linear,
        at_least={"LightGBM": 3.0},
        quality="test log-loss",
        repeats=1,
    )
    yield Row(
        name="2000 rules on covertype, beside the time that they took before searches looked at a sample",
        prepare=many_rules,
        at_least={"a tenth of 46 s": 1.0},
        quality="test log-loss",
        unit="s of processor time",
        repeats=1,
    )


def stopped(data: Split) -> Callable[[], Any]:
    """LightGBM stopped early on a fifth of the rows, then fitted again on all."""
    from lightgbm import LGBMClassifier, early_stopping

    held = np.zeros(len(data.labels), dtype=bool)
    held[np.random.default_rng(1).permutation(len(held))[: len(held) // HELD_OUT]] = True

    def taken(chosen: Any) -> Any:
        return data.train[chosen] if isinstance(data.train, np.ndarray) else data.train.loc[chosen]

    def fit() -> Any:
        first = LGBMClassifier(n_estimators=1000, n_jobs=1, verbose=-1).fit(
            taken(~held),
            data.labels[~held],
            eval_set=[(taken(held), data.labels[held])],
            callbacks=[early_stopping(PATIENCE, verbose=False)],
        )
        return light(data, max(first.best_iteration_, 1))()

    return fit


def with_choice(name: str) -> Mapping[str, Work]:
    """The preset with its defaults, and LightGBM stopped early."""
    import permissible as pm

    data = split_of(name)
    fits = {
        "permissible": lambda: pm.ULSClassifier.trees(n_jobs=1).fit(data.train, data.labels),
        "LightGBM, stopped": stopped(data),
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def other_modes(name: str) -> Mapping[str, Work]:
    """LightGBM with quantised gradients and with GOSS, and CatBoost."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier

    from permissible.learners.trees.boosted_options import BoostedOptions

    data = split_of(name)

    def lightgbm(**more: Any) -> Callable[[], Any]:
        return lambda: LGBMClassifier(n_jobs=1, verbose=-1, **more).fit(data.train, data.labels)

    def catboost() -> Any:
        frame = not isinstance(data.train, np.ndarray)
        named = [c for c in data.train.columns if data.train[c].dtype.name == "category"] if frame else []
        train, test = (_text(table, named) for table in (data.train, data.test))
        model = CatBoostClassifier(iterations=100, thread_count=1, verbose=False, allow_writing_files=False)
        fitted = model.fit(train, data.labels, cat_features=named)
        fitted.predict_proba = functools.partial(_predict, fitted.predict_proba, test)
        return fitted

    fits = {
        "permissible": ours(data, BoostedOptions()),
        "LightGBM": light(data),
        "LightGBM, quantised": lightgbm(use_quantized_grad=True),
        "LightGBM, GOSS": lightgbm(data_sample_strategy="goss"),
        "CatBoost": catboost,
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def _text(table: Any, named: list[str]) -> Any:
    if not named:  # a matrix of numbers
        return table
    return table.assign(**{name: table[name].astype(object).fillna("missing").astype(str) for name in named})


def _predict(predict: Any, test: Any, _: Any) -> Any:
    """CatBoost takes no missing categories: predict on the table with words for them."""
    return predict(test)


def small_table() -> Mapping[str, Work]:
    """The defaults on 300 rows: choice and refit beside a hundred trees of LightGBM."""
    from lightgbm import LGBMClassifier
    from sklearn.datasets import make_classification

    import permissible as pm

    X, y = make_classification(300, 10, random_state=0)
    return {
        "permissible": lambda: 1 - pm.ULSClassifier.trees(n_jobs=1).fit(X, y).score(X, y),
        "LightGBM": lambda: 1 - LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y).score(X, y),
    }


def losses_beside_logistic(name: str) -> Mapping[str, Work]:
    """The logistic loss as ours, every other one as a peer: its ratio is what it costs."""
    import permissible as pm

    data = split_of(name)
    own = pm.losses.from_phi(lambda p: np.sqrt(p * (1 - p)) * (1 + 0.1 * p * (1 - p)), name="own")

    def fit(loss: Any) -> Work:
        model = pm.ULSClassifier.trees(100, 31, 0.1, max_features=1.0, early_stopping=False, n_jobs=1)

        def work() -> Any:
            start = time.process_time()
            fitted = model.set_params(loss=loss).fit(data.train, data.labels)
            return time.process_time() - start, 1 - fitted.score(data.train, data.labels)

        return work

    return {"permissible": fit("logistic"), **{name: fit(own if name == "own phi" else name) for name in LOSSES}}


def two_threads(name: str) -> Mapping[str, Work]:
    """The same trees with two threads each, wall time."""
    from lightgbm import LGBMClassifier

    import permissible as pm

    data = split_of(name)
    preset = pm.ULSClassifier.trees(100, 31, 0.1, max_features=1.0, early_stopping=False, n_jobs=2)
    fits: dict[str, Callable[[], Any]] = {
        "permissible": lambda: preset.fit(data.train, data.labels),
        "permissible, one thread": lambda: preset.set_params(n_jobs=1).fit(data.train, data.labels),
        "LightGBM": lambda: LGBMClassifier(n_jobs=2, verbose=-1).fit(data.train, data.labels),
        "LightGBM, one thread": light(data),
    }
    return {contender: judged(data, fit, time.perf_counter) for contender, fit in fits.items()}


SCRIPTS = {
    "permissible": (
        "import permissible as pm",
        "m = pm.ULSClassifier.trees(100, 31, 0.1, max_features=1.0, early_stopping=False, n_jobs={threads})",
    ),
    "LightGBM": ("from lightgbm import LGBMClassifier", "m = LGBMClassifier(n_jobs={threads}, verbose=-1)"),
}


JUDGE = "quality = 1 - m.score(X[:1000], y[:1000])"


def _scripts(contender: str, threads: int) -> tuple[Any, ...]:
    """The data, and the scripts of a fit in a fresh process, after one of a few rows."""
    data, (imports, made) = split_of("1e6x28"), SCRIPTS[contender]
    made = made.format(threads=threads)
    return data.train, data.labels, imports, f"{made}; m.fit(X[:500], y[:500])", f"{made}; m.fit(X, y)"


def memory() -> Mapping[str, Work]:
    """Peak memory of a fit."""

    def work(contender: str) -> tuple[float, float]:
        *data, fit = _scripts(contender, 1)
        return peak_memory(*data, f"{fit}; {JUDGE}")

    return {contender: functools.partial(work, contender) for contender in SCRIPTS}


def second_thread() -> Mapping[str, Work]:
    """What of a fit's time with one thread is left to the busier of two."""

    def work(contender: str) -> tuple[float, float]:
        runs = [[longest_path(*_scripts(contender, threads), JUDGE) for threads in (1, 2)] for _ in range(TURNS)]
        one, two = (min(run[k][0] for run in runs) for k in range(2))
        return two / one, runs[-1][1][1]

    return {contender: functools.partial(work, contender) for contender in SCRIPTS}


def _two_hundred() -> Split:
    """Two hundred classes around centres of their own."""
    random = np.random.default_rng(0)
    centre = random.normal(size=(200, 20))
    y = random.permutation(np.arange(30_000) % 200)
    X = (centre[y] + 0.9 * random.normal(size=(30_000, 20))).astype(np.float32)
    return Split(X[:20_000], y[:20_000], X[20_000:], y[20_000:])


def many_classes() -> Mapping[str, Work]:
    """One tree a round with 200 values a leaf, and LightGBM's 200 trees a round."""
    from permissible.learners.trees.boosted_options import BoostedOptions

    data = _two_hundred()
    fits = {
        "permissible": ours(data, BoostedOptions(n_trees=300, learning_rate=0.2, max_leaf_nodes=127)),
        "LightGBM": light(data),
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def many_classes_linear() -> Mapping[str, Work]:
    """MCBoost with its defaults on the same classes."""
    import permissible as pm

    data = _two_hundred()
    fits = {
        "permissible": lambda: pm.MCBoostClassifier(n_jobs=1).fit(data.train, data.labels),
        "LightGBM": light(data),
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def many_rules() -> Mapping[str, Any]:
    """Rules of at most six literals, all of them kept; and the seconds that they may take."""
    import permissible as pm

    data = split_of("covertype")

    def fit() -> tuple[float, float]:
        start = time.process_time()
        rules = pm.ULSClassifier(n_rounds=2000, max_literals=6, early_stopping=False, n_jobs=1)
        rules.fit(data.train, data.labels)
        return time.process_time() - start, test_loss(data, rules)

    return {"permissible": fit, "a tenth of 46 s": lambda: (4.6, 0.0)}
