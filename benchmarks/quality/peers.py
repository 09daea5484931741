"""The classifiers that are compared, with what each of them needs of a table, and how large its model is."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import permissible as pm
from permissible.types import AnyArray, FloatArray

SEED = 0
STOPPED_ROUNDS, PATIENCE = 1000, 50


class Fitted(NamedTuple):
    """Probabilities of a table, (rows, classes), and the size of the model: rules, leaves, terms or curves."""

    probabilities: Callable[[pd.DataFrame], FloatArray]
    size: float


Fit = Callable[[pd.DataFrame, AnyArray], Fitted]


class Dummies:
    """A 0/1 column a category and medians for missing values, from the training rows."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.fill = frame.select_dtypes("number").median().fillna(0.0)  # a column may be empty
        self.columns = pd.get_dummies(frame).columns

    def __call__(self, frame: pd.DataFrame) -> AnyArray:
        """The rows as numbers."""
        found = pd.get_dummies(frame.fillna(self.fill)).reindex(columns=self.columns, fill_value=0)
        return found.to_numpy(dtype=np.float64)


class Codes:
    """Categories as codes, the same in training and test rows."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.categories = {c: frame[c].cat.categories for c in frame.columns if frame[c].dtype == "category"}

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows with the categories of training."""
        return frame.assign(**{c: pd.Categorical(frame[c], known) for c, known in self.categories.items()})


def rules(**settings: Any) -> Fit:
    """ULSClassifier, or its preset `compact`."""
    compact, seed = settings.pop("compact", False), settings.pop("seed", SEED)

    def fit(frame: pd.DataFrame, y: AnyArray) -> Fitted:
        make = pm.ULSClassifier.compact if compact else pm.ULSClassifier
        model = make(n_jobs=1, random_state=seed, **settings).fit(frame, y)
        own = model.rules_ if len(model.classes_) == 2 else [rule for one in model.rules_ for rule in one]
        return Fitted(model.predict_proba, len(own))

    return fit


def boosted_classes(frame: pd.DataFrame, y: AnyArray) -> Fitted:
    """MCBoostClassifier as it comes."""
    model = pm.MCBoostClassifier(n_jobs=1, random_state=SEED).fit(frame, y)
    return Fitted(model.predict_proba, float(model.n_rounds_))


def smoothed_tree(frame: pd.DataFrame, y: AnyArray) -> Fitted:
    """UDTClassifier as it comes."""
    model = pm.UDTClassifier(n_jobs=1, random_state=SEED).fit(frame, y)
    return Fitted(model.predict_proba, float(len(model.model_.leaves)))


def numbers(make: Callable[[], Any], size: Callable[[Any, int], float]) -> Fit:
    """A scikit-learn classifier of numbers."""

    def fit(frame: pd.DataFrame, y: AnyArray) -> Fitted:
        encode = Dummies(frame)
        X = encode(frame)
        model = make().fit(X, y)
        return Fitted(lambda other: model.predict_proba(encode(other)), size(model, X.shape[1]))

    return fit


def logistic() -> Any:
    """Logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def forest() -> Any:
    """A random forest of 300 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(300, random_state=SEED, n_jobs=1)


def figs() -> Any:
    """FIGS with its defaults."""
    from imodels import FIGSClassifier

    return FIGSClassifier()


def lightgbm(stopped: bool) -> Fit:
    """LightGBM with its defaults, or stopped by a fifth of the rows."""

    def fit(frame: pd.DataFrame, y: AnyArray) -> Fitted:
        import lightgbm as lgb
        from sklearn.model_selection import train_test_split

        encode = Codes(frame)
        X = encode(frame)
        X.columns = [f"c{j}" for j in range(X.shape[1])]
        model = lgb.LGBMClassifier(n_jobs=1, random_state=SEED, verbose=-1)
        if stopped:
            a, b, c, d = train_test_split(X, y, test_size=0.2, stratify=y, random_state=SEED)
            model.set_params(n_estimators=STOPPED_ROUNDS)
            model.fit(a, c, eval_set=[(b, d)], callbacks=[lgb.early_stopping(PATIENCE, verbose=False)])
        else:
            model.fit(X, y)
        leaves = model.booster_.num_trees() * 31
        return Fitted(lambda other: model.predict_proba(encode(other).set_axis(X.columns, axis=1)), leaves)

    return fit


def xgboost(frame: pd.DataFrame, y: AnyArray) -> Fitted:
    """XGBoost with its defaults."""
    from xgboost import XGBClassifier

    encode = Codes(frame)
    model = XGBClassifier(n_jobs=1, random_state=SEED, enable_categorical=True).fit(encode(frame), y)
    leaves = int((model.get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum())
    return Fitted(lambda other: model.predict_proba(encode(other)), leaves)


def catboost(frame: pd.DataFrame, y: AnyArray) -> Fitted:
    """CatBoost, 300 iterations."""
    from catboost import CatBoostClassifier

    named = [c for c in frame.columns if frame[c].dtype == "category"]

    def encode(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(**{c: rows[c].astype(object).where(rows[c].notna(), "missing").astype(str) for c in named})

    model = CatBoostClassifier(
        iterations=300, random_seed=SEED, thread_count=1, verbose=False, allow_writing_files=False, cat_features=named
    ).fit(encode(frame), y)
    return Fitted(lambda other: model.predict_proba(encode(other)), int(np.sum(model.get_tree_leaf_counts())))


def ebm(**settings: Any) -> Fit:
    """Explainable boosting machine."""

    def fit(frame: pd.DataFrame, y: AnyArray) -> Fitted:
        from interpret.glassbox import ExplainableBoostingClassifier

        encode = Codes(frame)
        model = ExplainableBoostingClassifier(n_jobs=1, random_state=SEED, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(encode(frame), y)
        return Fitted(lambda other: model.predict_proba(encode(other)), len(model.term_features_))

    return fit


PEERS: dict[str, Fit] = {
    "ULS": rules(),
    "ULS compact": rules(compact=True),
    "ULS, ensemble=5": rules(ensemble=5),
    "UDT": smoothed_tree,
    "MCBoost": boosted_classes,
    "LightGBM stopped": lightgbm(stopped=True),
    "LightGBM": lightgbm(stopped=False),
    "logistic": numbers(logistic, lambda _, width: width),
    "EBM, 2 bags": ebm(outer_bags=2, interactions=0),
    "XGBoost": xgboost,
    "forest": numbers(forest, lambda model, _: sum(tree.get_n_leaves() for tree in model.estimators_)),
    "FIGS": numbers(figs, lambda model, _: model.complexity_),
    "CatBoost": catboost,
    "EBM": ebm(),
}
"""By name; the last one only within the time budget."""
