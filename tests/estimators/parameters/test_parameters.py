"""No parameter without effect: in every mode a changed value changes the model, or the fit refuses or warns.

Parameters are taken from the signatures, so a new one without a value in the tables of parameters.py fails by its name.
"""

import contextlib
import inspect
import io
import warnings
from functools import cache

import numpy as np
import pytest

import permissible as pm
from tests.estimators.parameters.parameters import (
    AGAIN,
    MODES,
    READ,
    VALUES,
    WATCHED,
    arguments,
    asked_of,
    excused,
    rows_of,
    table,
)

SHOWN = (
    "history_",
    "certificate_",
    "selection_",
    "loss_evidence_",
    "n_iter_",
    "pruning_path_",
    "cv_risks_",
    "alpha_",
    "n_rounds_",
    "objective_",
)
every_mode = pytest.mark.parametrize("mode", MODES, ids=str)


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "X", "y")]


class Outcome:
    """What a fit showed: why it was refused, what it warned of and printed, or what the model says."""

    def __init__(self, model, given, asked, **more):
        self.refused, self.said, self.shown = "", [], []
        out = io.StringIO()
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
            warnings.simplefilter("always")
            try:
                model.fit(*given, **more)
            except ValueError as error:
                self.refused = str(error)
                return
            self.shown = [plain(getattr(model, name, None)) for name in SHOWN]
            self.shown += [plain(ask(asked)) for ask in (model.predict, model.predict_proba, model.decision_function)]
        self.said, self.printed = sorted({str(warning.message) for warning in caught}), out.getvalue()


def plain(value):
    """Values of any depth as tuples of numbers and words."""
    if isinstance(value, dict):
        return tuple((key, plain(of)) for key, of in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(plain(of) for of in value)
    if hasattr(value, "__dataclass_fields__"):
        return tuple(plain(getattr(value, name)) for name in value.__dataclass_fields__)
    return np.asarray(value) if isinstance(value, np.ndarray) else value


def same(one, other):
    """Whether two shown values are equal, up to rounding."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            return False
        return np.allclose(one, other, 1e-9, 1e-12, True) if one.dtype.kind == "f" else np.array_equal(one, other)
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, 1e-9, 1e-12, True))
    return type(one) is type(other) and (one is other or bool(one == other))


def fitted(mode, argument=None, **changed):
    given = {} if argument is None else {argument: arguments(mode)[argument]}
    return Outcome(mode.made(**changed), rows_of(mode), asked_of(mode), **given)


@cache
def usual(position):
    return fitted(MODES[position])


def noticed(before, after):
    """Whether a change was refused, warned of, or is seen in what the model says."""
    return (
        bool(after.refused)
        or bool(set(after.said) - set(before.said))
        or not same(tuple(before.shown), tuple(after.shown))
    )


@pytest.mark.parametrize("estimator", VALUES, ids=lambda estimator: estimator.__name__)
def test_every_parameter_has_a_value_that_should_matter(estimator):
    known = {*VALUES[estimator], *READ, *WATCHED}
    assert [name for name in parameters(estimator.__init__) if name not in known] == []
    mode = next(mode for mode in MODES if mode.estimator is estimator)
    assert [name for name in parameters(estimator.fit) if name not in arguments(mode)] == []


@every_mode
def test_the_defaults_of_a_mode_are_neither_refused_nor_warned_of(mode):
    found = usual(MODES.index(mode))
    assert (found.refused, found.said) == ("", [])


@every_mode
def test_no_parameter_without_effect(mode):
    before, idle = usual(MODES.index(mode)), []
    for name in parameters(mode.estimator.__init__):
        own = getattr(mode.made(), name)
        values = [value for value in VALUES[mode.estimator].get(name, ()) if not np.array_equal(value, own)]
        if not values:
            continue
        seen = [noticed(before, fitted(mode, **{name: value})) for value in values]
        if not (
            any(seen) if isinstance(own, str) and own == "auto" else all(seen)
        ):  # one value may say what "auto" does
            idle.append(name)
    assert [name for name in idle if not excused(mode, name)] == []


@every_mode
def test_no_argument_of_fit_without_effect(mode):
    before = usual(MODES.index(mode))
    idle = [name for name in parameters(mode.estimator.fit) if not noticed(before, fitted(mode, name))]
    assert idle == []


@every_mode
def test_parameters_that_never_change_the_model_are_read_in_every_mode(mode):
    for name, value in READ.items():
        if name in parameters(mode.estimator.__init__):
            assert name in fitted(mode, **{name: value}).refused


@every_mode
def test_verbose_prints(mode):
    if "verbose" in parameters(mode.estimator.__init__):
        assert fitted(mode, verbose=1).printed != ""


@every_mode
def test_warm_start_goes_on_or_is_refused(mode):
    """Fitted on some rows and then on others, the model differs from one that has only seen the others."""
    if "warm_start" not in parameters(mode.estimator.__init__):
        return
    assert any(goes_on(mode, again, seed) for again in AGAIN[mode.estimator] for seed in (1, 0))


def goes_on(mode, again, seed):
    ends = []
    for warm in (False, True):
        model = mode.made(warm_start=warm)
        first = Outcome(model, rows_of(mode), asked_of(mode))
        ends.append(first if first.refused else Outcome(model.set_params(**again), rows_of(mode, seed), asked_of(mode)))
    assert not ends[0].refused
    return noticed(*ends)


def test_tol_matters_where_problems_are_not_small(monkeypatch):
    monkeypatch.setattr("permissible.learners.boundary.kernel.POLISH_ROWS", 0)
    X, y = table(2)
    many, labels = table(2, n=21_000)
    for rows, more in (((X, y), {"kernel": "rbf"}), ((many, labels), {})):
        ends = [pm.BoundaryClassifier(alpha=1e-4, tol=tol, **more).fit(*rows) for tol in (0.1, 1e-6)]
        assert ends[0].gap_ > 2 * ends[1].gap_


def test_a_seed_changes_some_mode_of_every_estimator():
    for estimator in VALUES:
        modes = [mode for mode in MODES if mode.estimator is estimator]
        assert any(noticed(usual(MODES.index(mode)), fitted(mode, random_state=7)) for mode in modes)


class Stop:
    """A callback that ends a fit at once."""

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **more):
        pass

    def on_fit_task_end(self, estimator, context, **more):
        return True


@pytest.mark.skipif(not hasattr(pm.ULSClassifier, "set_callbacks"), reason="scikit-learn before 1.9 has no callbacks")
@pytest.mark.parametrize("mode", [mode for mode in MODES if hasattr(mode.estimator, "set_callbacks")], ids=str)
def test_a_callback_ends_the_fit_and_the_certificate_says_so(mode):
    model = mode.made().set_callbacks(Stop())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*rows_of(mode))
    assert model.certificate_.stopped == "callback"
