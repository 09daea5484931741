"""Boosted trees: the preset beside LightGBM stopped early, other modes of LightGBM, losses, threads, memory and small tables."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.fresh import peak_memory
from benchmarks.row import Row, Work
from benchmarks.rows.equal_loss import Split, judged, light, ours, split_of

STOPPED = ("adult", "letter", "higgs-11k")
LOSSES = {"logcosh": 1.5, "power": 1.5, "matsushita": 1.5, "own phi": 5.0}
PATIENCE, HELD_OUT = 30, 5


def rows(full: bool) -> Iterator[Row]:
    """Quality of the defaults first, then the cost of losses, threads and memory."""
    for name in STOPPED:
        yield Row(
            name=f"ULSClassifier.trees() with its choice beside LightGBM stopped early, {name}",
            prepare=functools.partial(with_choice, name),
            at_least={"LightGBM, stopped": 1.0},
            quality="test log-loss",
            note="both hold out a fifth and are fitted again on all rows; LightGBM has at most 1000 trees",
        )
    yield Row(
        name="100 boosted trees of 31 leaves, rate .1, adult, other modes of LightGBM",
        prepare=functools.partial(other_modes, "adult"),
        at_least={},
        quality="test log-loss",
    )
    yield Row(
        name="ULSClassifier.trees() on 300x10",
        prepare=small_table,
        at_least={"LightGBM": 1.0},
        quality="training error",
        repeats=5,
    )
    yield Row(
        name="100 boosted trees, losses beside the logistic, adult",
        prepare=functools.partial(losses_beside_logistic, "adult"),
        at_least={},
        at_most=LOSSES,
        quality="training error",
    )
    if not full:
        return
    yield Row(
        name="100 boosted trees of 31 leaves, two threads, 1e6x28",
        prepare=functools.partial(two_threads, "1e6x28"),
        at_least={"LightGBM": 8.0},
        quality="test log-loss",
        threads=2,
        repeats=1,
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
        return lambda: 1 - model.set_params(loss=loss).fit(data.train, data.labels).score(data.train, data.labels)

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
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def memory() -> Mapping[str, Work]:
    """Peak memory of a fit in a fresh process."""
    data = split_of("1e6x28")
    scripts = {
        "permissible": (
            "import permissible as pm",
            "m = pm.ULSClassifier.trees(100, 31, 0.1, max_features=1.0, early_stopping=False, n_jobs=1)",
        ),
        "LightGBM": ("from lightgbm import LGBMClassifier", "m = LGBMClassifier(n_jobs=1, verbose=-1)"),
    }
    fit = "; m.fit(X, y); quality = 1 - m.score(X[:1000], y[:1000])"

    def work(imports: str, made: str) -> Any:
        return lambda: peak_memory(data.train, data.labels, imports, f"{made}; m.fit(X[:500], y[:500])", made + fit)

    return {contender: work(*script) for contender, script in scripts.items()}


def many_classes() -> Mapping[str, Work]:
    """Two hundred classes: one tree a round with 200 values a leaf, and LightGBM's 200 trees a round."""
    from permissible.learners.trees.boosted_options import BoostedOptions

    random = np.random.default_rng(0)
    centre = random.normal(size=(200, 20))
    y = random.permutation(np.arange(30_000) % 200)
    X = (centre[y] + 0.9 * random.normal(size=(30_000, 20))).astype(np.float32)
    data = Split(X[:20_000], y[:20_000], X[20_000:], y[20_000:])
    fits = {
        "permissible": ours(data, BoostedOptions(n_trees=300, learning_rate=0.2, max_leaf_nodes=127)),
        "LightGBM": light(data),
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}
