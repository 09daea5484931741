"""ULSClassifier: what is refused, and what an interruption or a time limit leaves."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from permissible import DoubtfulFitWarning, ULSClassifier


@pytest.fixture(scope="module")
def breast():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "nope"}, "`loss` must be one of"),
        ({"n_rounds": 0}, "`n_rounds` must be an integer of at least 1"),
        ({"max_literals": "many"}, "`max_literals` must be"),
        ({"learning_rate": 1.5}, "`learning_rate` must be"),
        ({"scheme": "other"}, "`scheme` must be"),
        ({"learner": "words"}, "`learner` must be"),
        ({"l2_regularization": -1.0}, "`l2_regularization` must be"),
        ({"search_fraction": 0.0}, "`search_fraction` must be"),
        ({"search_fraction": 0.5}, "`search_fraction` must be 1.0 or .* since a search might see none"),
        ({"early_stopping": "maybe"}, "`early_stopping` must be"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(options, sentence):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=sentence):
        ULSClassifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "weight", "sentence"),
    [
        (np.zeros((5, 2)), np.zeros(5), None, "one class only"),
        (np.zeros((0, 2)), np.zeros(0), None, "0 sample"),
        (np.zeros((5, 0)), np.arange(5) % 2, None, "0 feature"),
        (np.array([[np.inf], [1.0]]), [0, 1], None, "inf"),
        (np.zeros((2, 1)), np.array([0.0, np.nan]), None, "NaN"),
        (np.zeros((2, 1)), [0, 1], [-1.0, 1.0], "sample_weight"),
        (np.zeros((2, 1)), [0, 1], [0.0, 0.0], "sample_weight"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(X, y, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        ULSClassifier().fit(X, y, sample_weight=weight)


def test_a_column_missing_at_predict_is_named(breast):
    X, y = breast
    model = ULSClassifier(n_rounds=3, early_stopping=False).fit(X, y)
    with pytest.raises(ValueError, match="mean radius"):
        model.predict(X.drop(columns="mean radius"))


INTERRUPTED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background of a shell inherits deaf ears
import numpy as np
from sklearn.exceptions import NotFittedError
from permissible import ULSClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(60000, 20))
y = X[:, 0] + rng.normal(size=len(X)) > 0
ULSClassifier(n_rounds=1).fit(X[:100], y[:100])  # everything is loaded
model = ULSClassifier(n_rounds=10**6, max_literals=3, early_stopping=False)
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.process_time()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    assert time.process_time() - begun < 4
try:
    model.predict(X)
except NotFittedError:
    print("nothing half")
"""


def test_interruption_leaves_nothing_half():
    """In a process of its own: a signal to this one would also reach whatever else runs in it."""
    answer = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=120
    )
    assert answer.stdout == "nothing half\n", answer.stderr


def test_max_time_keeps_the_rules_so_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] + rng.normal(size=3000) > 0
    with pytest.warns(DoubtfulFitWarning, match="it reached the time limit"):
        model = ULSClassifier(n_rounds=10**6, early_stopping=False, max_time=0.3).fit(X, y)
    assert model.certificate_.stopped == "time"
    assert model.score(X, y) > 0.6


def test_verbose_shows_a_bar(breast, capsys):
    X, y = breast
    ULSClassifier(n_rounds=20, early_stopping=False, verbose=1).fit(X, y)
    assert "rules" in capsys.readouterr().out
