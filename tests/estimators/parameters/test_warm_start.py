"""ULSClassifier with warm_start: a continuation is the fit in one piece, and what it reports is true of the rows at hand."""

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible import losses

MODES = {
    "classic": {},
    "corrective": {"scheme": "corrective"},
    "block": {"scheme": 3},
    "without intercept": {"fit_intercept": False},
    "own phi": {"loss": losses.from_phi(lambda p: np.asarray(p) * (1 - np.asarray(p)), name="own")},
    "F1": {"loss": "F1"},
    "E2": {"loss": "E2"},
    "auto": {"loss": "auto"},
    "columns": {"learner": "column"},
    "columns, corrective": {"learner": "column", "scheme": "corrective"},
    "columns, block": {"learner": "column", "scheme": 2},
}
every_mode = pytest.mark.parametrize("mode", MODES)


def rows(seed=0, n=200, scale=1.0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] * X["c"] + random.normal(size=n) > 0.2).astype(int)
    return scale * X, y.to_numpy()


def made(mode, n_rounds, **more):
    columns = MODES[mode].get("learner") == "column"
    return pm.ULSClassifier(n_rounds=n_rounds, **MODES[mode], **({} if columns else {"early_stopping": False}), **more)


@every_mode
def test_a_fit_in_two_pieces_is_the_fit_in_one(mode):
    X, y = rows()
    pieces = made(mode, 3, warm_start=True).fit(X, y)
    chosen = {"loss": pieces.loss_evidence_.chosen} if mode == "auto" else {}  # it was chosen for three rounds
    pieces.set_params(n_rounds=9).fit(X, y)
    whole = made(mode, 9).set_params(**chosen).fit(X, y)
    assert pieces.rules_ == whole.rules_
    np.testing.assert_allclose(pieces.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-9)
    assert pieces.certificate_.gradient_norm == pytest.approx(whole.certificate_.gradient_norm, rel=1e-6, nan_ok=True)
    for name, values in whole.history_.items():
        if name == "loss":
            assert pieces.history_[name].tolist() == values.tolist()
        else:
            np.testing.assert_allclose(pieces.history_[name], values, rtol=1e-7, atol=1e-9)


@every_mode
def test_on_other_rows_history_and_certificate_are_true_of_them(mode):
    X, y = rows()
    others, labels = rows(seed=1, n=170, scale=0.4)
    model = made(mode, 5, warm_start=True).fit(X, y).set_params(n_rounds=8).fit(others, labels)
    margins = [np.where(labels == 1, score, -score) for score in model.staged_decision_function(others)]
    assert len(margins) == len(model.history_["surrogate"]) >= 5
    for margin, said, error, name in zip(
        margins, model.history_["surrogate"], model.history_["train_error"], model.history_["loss"], strict=True
    ):
        loss = MODES[mode]["loss"] if name == "own" else losses.get(str(name))
        mean = np.mean(loss.value(margin)) / float(loss.value(0.0))
        assert said == pytest.approx(mean, rel=1e-9)
        assert error == pytest.approx(np.mean((margin < 0) | ((margin == 0) & (labels == 0))), abs=1e-12)
    assert model.certificate_.surrogate == model.history_["surrogate"][-1]
    assert not [doubt for doubt in model.certificate_.doubts if doubt.kind == "surrogate rises"]


def test_support_is_that_of_the_rows_at_hand():
    X, y = rows()
    others, labels = rows(seed=1, n=170, scale=0.4)
    model = made("classic", 5, warm_start=True).fit(X, y).set_params(n_rounds=8).fit(others, labels)
    heaviest = np.argsort(-np.abs(model.coefficients_), kind="stable")
    rules = [model.rules_[place] for place in heaviest]
    for rule, support in zip(rules, model.rules_table()["support"], strict=True):
        covered = np.ones(len(others), dtype=bool)
        for literal in rule:
            values = others.iloc[:, literal.column].to_numpy()
            covered &= values <= literal.threshold if literal.test == "<=" else values > literal.threshold
        assert support == pytest.approx(covered.mean())


@pytest.mark.parametrize("mode", ["classic", "columns"])
def test_other_columns_are_refused_in_one_sentence(mode):
    X, y = rows()
    model = made(mode, 4, warm_start=True).fit(X, y).set_params(n_rounds=6)
    for other, words in (
        (X[["b", "a", "c", "d"]], "column 'b' in the place of 'a'"),
        (X[["a", "b", "c"]], "3 columns for 4"),
        (X.to_numpy(), "columns without names"),
    ):
        with pytest.raises(ValueError, match=f"`X` must be of the columns of the last fit.*{words}"):
            model.fit(other, y)
    with pytest.raises(ValueError, match="`y` must be made of the classes of the last fit"):
        model.fit(X, y + 1)
    assert len(model.history_["surrogate"]) == 4  # a refusal leaves the model as it was


def test_other_kinds_and_categories_are_refused():
    X, y = rows()
    X["k"] = pd.Categorical(np.where(X["a"] > 0, "up", "down"))
    model = made("classic", 4, warm_start=True).fit(X, y).set_params(n_rounds=6)
    with pytest.raises(ValueError, match="a numeric column 'k' for a categorical one"):
        model.fit(X.assign(k=1.0), y)
    with pytest.raises(ValueError, match="other categories in column 'k'"):
        model.fit(X.assign(k=pd.Categorical(np.where(X["a"] > 0, "up", "flat"))), y)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"loss": "matsushita"}, "`loss` must be that of the last fit"),
        ({"fit_intercept": False}, "`fit_intercept` must be that of the last fit"),
        ({"max_bins": 7}, "`max_bins` must be that of the last fit"),
        ({"learner": "column"}, "`learner` must be that of the last fit"),
        ({"n_rounds": 3}, "`n_rounds` must be at least the 4 rounds already fitted"),
    ],
)
def test_settings_of_the_earlier_rounds_are_kept(changed, words):
    X, y = rows()
    model = made("classic", 4, warm_start=True).fit(X, y)
    model.set_params(**{"n_rounds": 6, **changed, **({"early_stopping": "auto"} if "learner" in changed else {})})
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_a_model_from_a_file_has_no_rounds_to_go_on_from(tmp_path):
    X, y = rows()
    pm.save(made("classic", 4, warm_start=True).fit(X, y), tmp_path / "model.json")
    loaded = pm.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="`warm_start` must be False for the first fit"):
        loaded.fit(X, y)


def test_validation_rows_are_only_looked_at_without_early_stopping():
    X, y = rows()
    others = rows(seed=1)
    looked = made("classic", 12).fit(X, y, validation=others)
    assert len(looked.history_["validation"]) == 12
    assert looked.selection_ is None
    margin = np.where(others[1] == 1, 1, -1) * looked.decision_function(others[0])
    assert looked.history_["validation"][-1] == pytest.approx(np.mean(np.logaddexp(0, -margin)) / np.log(2))
