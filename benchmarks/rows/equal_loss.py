"""Boosted trees beside LightGBM and XGBoost: the same number of trees, and the time to the same test loss, with binning."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import higgs_like
from benchmarks.row import Row, Work

SAME = {"adult": 4.0, "higgs-11k": 4.0, "covertype": 6.0, "1e5x28": 4.0}
REACHED = {"adult": 6.0, "higgs-11k": 6.0, "covertype": 6.0, "1e5x28": 6.0}
CLASSES = {"letter": 20.0, "pendigits": 5.0}
RULES_LOSS, RULES_SECONDS = 0.26, 4.6
MOST = 400  # trees in the search for how many reach the loss
SEEDS = 4  # one draw of samples and columns says little: the trees that reach a loss vary by a third
SMALL_SAMPLE = 0.5  # as the estimator searches a small table
LARGE = {"same": {"1e6x28": 8.0}, "reached": {"1e6x28": 6.0}, "classes": {"covertype, 7 classes": 10.0}}


@dataclass(frozen=True)
class Split:
    """Training and test rows of one data set; the classes are 0 to K - 1."""

    train: Any
    labels: npt.NDArray[np.int64]
    test: Any
    truth: npt.NDArray[np.int64]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1


def rows(full: bool) -> Iterator[Row]:
    """The same trees, then the loss that LightGBM's default reaches, for two classes and for several."""
    same, reached, classes = dict(SAME), dict(REACHED), dict(CLASSES)
    if full:
        same, reached, classes = same | LARGE["same"], reached | LARGE["reached"], classes | LARGE["classes"]
    for name, ratio in same.items():
        yield Row(
            name=f"100 boosted trees of 31 leaves, rate .1, {name}",
            prepare=functools.partial(same_trees, name),
            at_least={"LightGBM": ratio, "XGBoost": ratio},
            quality="test log-loss",
            repeats=1 if name == "1e6x28" else 3,
        )
    yield Row(
        name=f"rules to a test log-loss of {RULES_LOSS}, covertype",
        prepare=rules_to_loss,
        at_least={f"{RULES_SECONDS} s": 1.0},
        quality="test log-loss",
        repeats=1,
        note="one fit, 6 literals, rate .5, at most 2000 rules; the seconds are a tenth of what 2000 rules took",
    )
    for name, ratio in (reached | classes).items():
        yield Row(
            name=f"boosted trees to the test loss of LightGBM's default, {name}",
            prepare=functools.partial(equal_loss, name),
            at_least={"LightGBM": ratio},
            quality="test log-loss",
            repeats=1 if name == "1e6x28" else 3,
            note=f"one setting of ours: rate .1, 31 leaves, .75 of the columns, samples that grow to 16,384 rows and .3 of "
            f"all (several classes: rate .3); as many trees as the loss needs, mean of {SEEDS} seeds, the largest loss",
        )


@functools.lru_cache(maxsize=8)
def split_of(name: str, number: int = 0) -> Split:
    """A 70/30 split of a data set, or the synthetic table of that size with 100,000 test rows; others by `number`."""
    if name.endswith("x28"):
        n_rows = int(float(name.split("x")[0]))
        X, y = higgs_like(n_rows + 100_000)
        return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])
    X, y = _table(name.split(",")[0])
    if name == "covertype":
        y = (y == np.bincount(y).argmax()).astype(np.int64)
    order = np.random.default_rng(number).permutation(len(y))
    n_train, n_all = (200_000, 300_000) if name.startswith("covertype") else (int(0.7 * len(y)), len(y))
    train, test = order[:n_train], order[n_train:n_all]
    take = (lambda chosen: X.iloc[chosen].reset_index(drop=True)) if hasattr(X, "iloc") else X.__getitem__
    return Split(take(train), y[train], take(test), y[test])


def _table(name: str) -> tuple[Any, npt.NDArray[np.int64]]:
    """A float32 matrix, or a frame with categories; labels as codes."""
    from papers.datasets import load

    data = load(name)
    labels = np.unique(np.asarray(data.target), return_inverse=True)[1].astype(np.int64)
    frame = data.frame()  # with its categorical columns as such
    if "categorical" in data.kinds.values() and name != "covertype":  # whose indicators stay numbers
        return frame, labels
    return np.ascontiguousarray(frame.to_numpy(dtype=np.float32)), labels


def log_loss(truth: npt.NDArray[np.int64], probability: npt.NDArray[np.float64]) -> float:
    """Mean negative log-likelihood of the true classes."""
    own = probability[np.arange(len(truth)), truth] / probability.sum(axis=1)
    return float(-np.mean(np.log(np.clip(own, 1e-15, 1.0))))


def softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probabilities of the classes; one score is that of the second of two classes."""
    wide = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def ours(data: Split, options: Any) -> Callable[[], Any]:
    """A fit of our trees from the table: reading, binning, hashing, boosting; returns the model and its binning."""
    from permissible import losses
    from permissible.bins.encoding import encode
    from permissible.bins.find import find_bins
    from permissible.learners.trees.boosted import FEW_BINS, FEW_ROWS, BoostedRows, boost_trees, kernel_of
    from permissible.table import read

    loss = kernel_of(losses.get("logistic"))
    assert loss is not None

    def fit() -> Any:
        table = read(data.train)
        binning = find_bins(table, FEW_BINS if table.n_rows < FEW_ROWS else 255)
        examples = BoostedRows(encode(binning, table), data.labels, data.n_classes)
        model, _ = boost_trees(examples, loss, options)
        return model, binning

    return fit


def light(data: Split, n_trees: int = 100, rate: float = 0.1, **more: Any) -> Callable[[], Any]:
    """A fit of LightGBM with its defaults, or more."""
    from lightgbm import LGBMClassifier

    maker = functools.partial(LGBMClassifier, n_estimators=n_trees, learning_rate=rate, n_jobs=1, verbose=-1, **more)
    return lambda: maker().fit(data.train, data.labels)


def extreme(data: Split) -> Callable[[], Any]:
    """A fit of XGBoost's histograms, leaf by leaf, 31 leaves."""
    from xgboost import XGBClassifier

    maker = functools.partial(
        XGBClassifier, n_estimators=100, learning_rate=0.1, tree_method="hist", grow_policy="lossguide", max_leaves=31,
        max_depth=0, n_jobs=1, enable_categorical=True,
    )  # fmt: skip
    return lambda: maker().fit(data.train, data.labels)


def judged(data: Split, fit: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> Work:
    """Times the fit alone, not its test loss, which is computed once."""
    known: list[float] = []

    def work() -> Any:
        start = clock()
        model = fit()
        seconds = clock() - start
        if not known:
            known.append(test_loss(data, model))
        return seconds, known[0]

    return work


def test_loss(data: Split, fitted: Any) -> float:
    """The test log-loss of a fitted model, of ours with its binning."""
    if not isinstance(fitted, tuple):
        return log_loss(data.truth, np.asarray(fitted.predict_proba(data.test), dtype=np.float64))
    return log_loss(data.truth, softmax(fitted[0].scores(encoded(data, fitted[1]))))


def encoded(data: Split, binning: Any) -> Any:
    """The test rows as codes."""
    from permissible.bins.encoding import encode
    from permissible.table import read

    return encode(binning, read(data.test, binning.schema))


def same_trees(name: str) -> Mapping[str, Work]:
    """A hundred trees of 31 leaves each."""
    from permissible.learners.trees.boosted_options import BoostedOptions

    data = split_of(name)
    fits = {
        "permissible": ours(data, BoostedOptions(small_fraction=SMALL_SAMPLE)),
        "LightGBM": light(data),
        "XGBoost": extreme(data),
    }
    return {contender: judged(data, fit) for contender, fit in fits.items()}


def rules_to_loss() -> Mapping[str, Work]:
    """As many rules as the loss needs, beside the stated seconds; without that loss the row fails."""
    import permissible as pm

    data = split_of("covertype")

    def rules(number: int) -> Any:
        more = {"learning_rate": 0.5, "early_stopping": False, "n_jobs": 1, "random_state": 0}
        return pm.ULSClassifier(n_rounds=number, max_literals=6, **more)

    stages = rules(2000).fit(data.train, data.labels).staged_predict_proba(data.test)
    needed = next((k for k, found in enumerate(stages, 1) if log_loss(data.truth, found) <= RULES_LOSS), None)
    if needed is None:
        raise RuntimeError(f"2000 rules do not reach a test loss of {RULES_LOSS}")

    def stated() -> float:
        begun = time.process_time()
        while time.process_time() - begun < RULES_SECONDS:
            pass
        return RULES_LOSS

    return {
        "permissible": judged(data, lambda: rules(needed).fit(data.train, data.labels)),
        f"{RULES_SECONDS} s": stated,
    }


def equal_loss(name: str) -> Mapping[str, Work]:
    """LightGBM's default, and as many trees of ours as reach its test loss, in the mean of several seeds."""
    from permissible.learners.trees.boosted_options import BoostedOptions

    data = split_of(name)
    peer = light(data)
    target = test_loss(data, peer())
    searched = {"search_rows": 16384.0, "search_fraction": 0.3, "small_fraction": 0.4}
    two = BoostedOptions(MOST, learning_rate=0.1, column_fraction=0.75, **searched)
    setting = two if data.n_classes == 2 else BoostedOptions(MOST, learning_rate=0.3)
    fits = [_reaching(data, replace(setting, seed=seed), target) for seed in range(SEEDS)]
    known = [test_loss(data, fit()) for fit in fits]

    def mean() -> Any:
        start = time.process_time()
        for fit in fits:
            fit()
        return (time.process_time() - start) / SEEDS, max(known)

    return {"permissible": mean, "LightGBM": judged(data, peer)}


def _reaching(data: Split, setting: Any, target: float) -> Callable[[], Any]:
    model, binning = ours(data, setting)()
    stages = model.staged_scores(encoded(data, binning))
    needed = next((k for k, scores in enumerate(stages, 1) if log_loss(data.truth, softmax(scores)) <= target), None)
    if needed is None:
        raise RuntimeError(f"{MOST} trees do not reach a test loss of {target:.4f}")
    return ours(data, replace(setting, n_trees=needed))
