"""`permissible demo`: a readable model of real data, compared with AdaBoost and logistic regression, and a report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from permissible.cli import options


def command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "permissible-demo.html"
    ),
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learn ten rules that separate malignant from benign tumours, compare with other classifiers, write a report.

    The data (569 tumours, 30 measurements) come with scikit-learn; nothing is downloaded.

    Example: permissible demo
    """
    from permissible.cli import show
    from permissible.cli.io.model_options import ModelOptions
    from permissible.report import write_report

    X, y = tumours()
    if not json:
        show.say("569 breast tumours, 30 measurements each; which are malignant?  (data that come with scikit-learn)")
    with show.progress("learning", json) as tick:
        model = ModelOptions(given=options.EstimatorOptions(compact=True, seed=seed)).estimator().fit(X, y)
        found = compared(X, y, seed, tick)
    write_report(model, X, y, output, title="Which tumours are malignant?", folds=found["permissible, ten rules"])
    if json:
        figures = {
            who: {figure.key: {"mean": figure.mean, "sd": figure.spread} for figure in found[who]} for who in found
        }
        show.as_json({"text": model.to_text(), "report": str(output), "cross_validation": figures})
        return
    show.say()
    show.say(model.to_text())
    show.say()
    lines = [
        [who, *(f"{figure.mean:.4f} ± {figure.spread:.4f}" for figure in figures)] for who, figures in found.items()
    ]
    show.table(
        "10-fold cross-validation, mean ± s.d.", ["", "error", "log-loss", "Brier score"], lines, right=(1, 2, 3)
    )
    show.say(f"The report is in {output.resolve()}: open it in a browser.")


def tumours() -> tuple[dict[str, Any], Any]:
    """The Wisconsin diagnostic breast cancer data: columns by name, and the diagnosis in words, malignant last."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    X = {str(name): bunch.data[:, place] for place, name in enumerate(bunch.feature_names)}
    return X, np.where(bunch.target == 0, "malignant", "benign")


def compared(X: dict[str, Any], y: Any, seed: int, tick: Any) -> dict[str, list[Any]]:
    """Cross-validated figures of the model, the default one, AdaBoost and logistic regression, on the same folds."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from permissible.cli.io.model_options import ModelOptions
    from permissible.evaluation.cross_validation import LabelledRows, cross_validate

    contenders = {
        "permissible, ten rules": ModelOptions(given=options.EstimatorOptions(compact=True, seed=seed)).estimator,
        "permissible, default": ModelOptions(given=options.EstimatorOptions(seed=seed)).estimator,
        "AdaBoost, 100 stumps": lambda: OnMatrix(AdaBoostClassifier(n_estimators=100, random_state=seed)),
        "logistic regression": lambda: OnMatrix(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    }
    rows = LabelledRows(X, y)
    found = {}
    for done, (who, make) in enumerate(contenders.items()):
        tick(done, len(contenders))
        found[who] = cross_validate(rows, make, None, 10, seed)
    return found


class OnMatrix:
    """A classifier of matrices, given columns by name."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: dict[str, Any], y: Any) -> "OnMatrix":
        """Fit to the columns as one matrix."""
        self.classifier.fit(self._matrix(X), y)
        return self

    def predict_proba(self, X: dict[str, Any]) -> Any:
        """Probabilities of the rows."""
        return self.classifier.predict_proba(self._matrix(X))

    @staticmethod
    def _matrix(X: dict[str, Any]) -> Any:
        import numpy as np

        return np.column_stack(list(X.values()))
