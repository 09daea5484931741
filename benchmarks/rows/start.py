"""Start-up: importing the library and the first fit of a small table, in a fresh process, beyond importing scikit-learn."""

from collections.abc import Iterator

from benchmarks.fresh import start_up
from benchmarks.row import Row

OURS = "import permissible as pm; pm.ULSClassifier(n_rounds=20, max_literals=1, early_stopping=False).fit(X, y)"
LIGHTGBM = "import lightgbm; lightgbm.LGBMClassifier(n_estimators=20, max_depth=1, verbose=-1).fit(X, y)"


def rows(full: bool) -> Iterator[Row]:
    """One row; the limit we state, a tenth of a second, takes part as a contender."""
    yield Row(
        name="import and first fit",
        prepare=lambda: {
            "permissible": lambda: (start_up(OURS), 0.0),
            "the stated 0.1 s": lambda: (0.1, 0.0),
            "LightGBM": lambda: (start_up(LIGHTGBM), 0.0),
        },
        at_least={"the stated 0.1 s": 1.0},
        quality="none",
        repeats=5 if full else 3,
    )
