"""The other classifiers of the demo, as their own users would set them up: logistic regression and, where installed, LightGBM.

Each takes columns by name, as the library's estimators do, and gives probabilities; the demo decides in the same way for all.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from permissible.types import AnyArray, FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Columns = dict[str, AnyArray]


class LogisticRegressionOnColumns:
    """Logistic regression on one-hot categories and standardised numbers."""

    def fit(self, X: Columns, y: AnyArray) -> "LogisticRegressionOnColumns":
        """Fit the pipeline."""
        from sklearn.compose import ColumnTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        texts = [j for j, values in enumerate(X.values()) if values.dtype == object]
        numbers = [j for j in range(len(X)) if j not in texts]
        one_hot = OneHotEncoder(handle_unknown="ignore")
        columns = ColumnTransformer([("categories", one_hot, texts), ("numbers", StandardScaler(), numbers)])
        self.pipeline = make_pipeline(columns, LogisticRegression(max_iter=2000)).fit(_objects(X), y)
        return self

    def predict_proba(self, X: Columns) -> FloatArray:
        """Probabilities of the rows."""
        return np.asarray(self.pipeline.predict_proba(_objects(X)))


class LightGBMOnColumns:
    """LightGBM with native categories, the number of trees by early stopping on a fifth of the rows."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: Columns, y: AnyArray) -> "LightGBMOnColumns":
        """Fit with a hold-out, as LightGBM's guide has it."""
        import lightgbm
        from sklearn.model_selection import train_test_split

        texts = {name: values for name, values in X.items() if values.dtype == object}
        self.categories = {name: sorted({v for v in values if v is not None}) for name, values in texts.items()}
        matrix = self._matrix(X)
        kept, held_out = train_test_split(np.arange(len(y)), test_size=0.2, random_state=self.seed, stratify=y)
        model = lightgbm.LGBMClassifier(
            n_estimators=1000, learning_rate=0.05, random_state=self.seed, n_jobs=1, verbose=-1
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # eval_set is deprecated in the newest version; older ones know no other
            self.model = model.fit(
                matrix[kept],
                y[kept],
                eval_set=[(matrix[held_out], y[held_out])],
                categorical_feature=[j for j, name in enumerate(X) if name in self.categories],
                callbacks=[lightgbm.early_stopping(50, verbose=False)],
            )
        return self

    def predict_proba(self, X: Columns) -> FloatArray:
        """Probabilities of the rows."""
        return np.asarray(self.model.predict_proba(self._matrix(X)))

    def _matrix(self, X: Columns) -> FloatArray:
        columns = []
        for name, values in X.items():
            place = {category: float(code) for code, category in enumerate(self.categories.get(name, ()))}
            columns.append([place.get(value, np.nan) for value in values] if name in self.categories else values)
        return np.column_stack(columns).astype(np.float64)


def contenders(seed: int) -> dict[str, Callable[[], "BaseEstimator"]]:
    """The classifiers of the demo by name, ours last."""
    from permissible.estimators.uls import ULSClassifier

    found: dict[str, Callable[[], BaseEstimator]] = {"logistic regression": LogisticRegressionOnColumns}
    if find_spec("lightgbm") is not None:
        found["LightGBM"] = lambda: LightGBMOnColumns(seed)
    found["permissible, short list"] = lambda: ULSClassifier.compact(random_state=seed)
    found["permissible"] = lambda: ULSClassifier(random_state=seed)
    return found


def _objects(X: Columns) -> AnyArray:
    made = np.empty((len(next(iter(X.values()))), len(X)), dtype=object)
    for j, values in enumerate(X.values()):
        made[:, j] = values
    return made
