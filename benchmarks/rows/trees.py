"""One tree: UDT beside scikit-learn's DecisionTreeClassifier and one tree of LightGBM, binning included, log-loss beside time."""

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.data import higgs_like, log_loss
from benchmarks.row import Row, Work


def rows(full: bool) -> Iterator[Row]:
    """Large, where it is stated 30x and 2x; small, where it is stated no slower than scikit-learn."""
    size = 1_000_000 if full else 200_000
    yield Row(
        name=f"tree of 255 leaves, {size:.0e}x28, with binning".replace("e+0", "e"),
        prepare=lambda: contenders(size, 28, 255),
        at_least={"DecisionTreeClassifier": 30.0, "LightGBM, 1 tree": 2.0} if full else {"LightGBM, 1 tree": 2.0},
        quality="test log-loss",
        note="LightGBM has no entropy trees: one Newton step from the prior; all are judged by the frequencies of their leaves",
    )
    for n_rows, n_columns in ((300, 10), (1000, 20), (10_000, 20)):
        yield Row(
            name=f"tree of 31 leaves, {n_rows}x{n_columns}",
            prepare=functools.partial(contenders, n_rows, n_columns, 31),
            at_least={"DecisionTreeClassifier": 1.0},
            quality="test log-loss",
            repeats=15,
        )
    yield Row(
        name="tree of 255 leaves, 1e5x28, predict 1e5 rows",
        prepare=lambda: predictors(100_000, 28, 255),
        at_least={},
        quality="test log-loss",
        repeats=5,
    )


def contenders(n_rows: int, n_columns: int, leaves: int) -> Mapping[str, Work]:
    """Fit one entropy tree each on the same rows and judge it on others, probabilities smoothed alike (Laplace)."""
    from lightgbm import LGBMClassifier
    from sklearn.tree import DecisionTreeClassifier

    import permissible as pm

    X, y = higgs_like(2 * n_rows if n_rows < 100_000 else n_rows + 100_000, n_columns)
    train, labels, test, truth = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]

    def judge(leaf_of_train: np.ndarray, leaf_of_test: np.ndarray) -> float:
        """Log-loss of the leaves' smoothed frequencies: the same for every contender, so that partitions are compared."""
        size = leaf_of_train.max() + 1
        positive = np.bincount(leaf_of_train, weights=labels, minlength=size) + 1
        return log_loss(truth, (positive / (np.bincount(leaf_of_train, minlength=size) + 2))[leaf_of_test])

    known: dict[str, float] = {}

    def once(name: str, leaves_of: Callable[[np.ndarray], np.ndarray]) -> float:
        """Judge in the unmeasured first turn only: the time of a row is that of fitting."""
        if name not in known:
            known[name] = judge(leaves_of(train), leaves_of(test))
        return known[name]

    def ours() -> float:
        model = pm.UDTClassifier(max_leaf_nodes=leaves, random_state=0).fit(train, labels)
        return once("ours", model.apply)

    def sklearn_tree() -> float:
        model = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=leaves, random_state=0).fit(train, labels)
        return once("sklearn", model.apply)

    def lightgbm_tree() -> float:
        model = LGBMClassifier(
            n_estimators=1,
            num_leaves=leaves,
            min_child_samples=1,
            min_child_weight=0,
            reg_lambda=0,
            learning_rate=1.0,
            max_bin=255,
            n_jobs=1,
            verbose=-1,
        ).fit(train, labels)
        return once("lightgbm", lambda X: model.predict(X, pred_leaf=True).ravel().astype(int))

    return {"permissible": ours, "DecisionTreeClassifier": sklearn_tree, "LightGBM, 1 tree": lightgbm_tree}


def predictors(n_rows: int, n_columns: int, leaves: int) -> Mapping[str, Work]:
    """Predict with a fitted tree each."""
    from sklearn.tree import DecisionTreeClassifier

    import permissible as pm

    X, y = higgs_like(2 * n_rows, n_columns)
    train, labels, test, truth = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
    ours = pm.UDTClassifier(max_leaf_nodes=leaves, smoothing=1.0, random_state=0).fit(train, labels)
    peer = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=leaves, random_state=0).fit(train, labels)
    return {
        "permissible": lambda: log_loss(truth, ours.predict_proba(test)[:, 1]),
        "DecisionTreeClassifier": lambda: log_loss(truth, peer.predict_proba(test)[:, 1]),
    }
