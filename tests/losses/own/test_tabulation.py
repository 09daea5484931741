"""The table of an own loss against the exact inversion of its link, and how seldom the user's function is called for it."""

import numpy as np
import pytest

from permissible import losses
from permissible.losses.own.tabulation import LossTable, tabulated
from permissible.losses.surrogate import compiled
from tests.losses.own.phis import Counted, entropy, own

SMOOTH = ["logistic", "logistic by complex step", "matsushita", "heavy tail", "gini", "sine"]
TABLES = ["table of 33", "table of 1001"]
ROUGH = ["logistic by differences", "logistic of single numbers", "table of 33 without derivative"]


def margins(loss, seed=0):
    """Margins where weights lie between 1e-12 and 1 - 1e-12, dense and spread."""
    rng = np.random.default_rng(seed)
    end = min(-float(loss.score(1e-12)), 1e6)
    x = np.concatenate((rng.uniform(0, min(end, 10), 500), end * 10 ** rng.uniform(-10, 0, 300), [0.0]))
    return np.concatenate((x, -x))


@pytest.mark.parametrize("name", [*SMOOTH, *TABLES])
def test_weight_and_loss_are_those_of_the_exact_inversion_to_1e_12(name):
    loss = own(name)
    table = tabulated(loss)
    assert table is not None
    x = margins(loss)
    value, weight, _, _ = table.at(x).T
    # A score is known to its last digit only, which near the end of the scores is the larger error.
    blur = 1e-15 * np.abs(x) * np.asarray(loss.curvature(x))
    exact = np.asarray(loss.weight(x))
    assert (np.abs(weight - exact) <= 2e-12 * exact + blur).all()
    assert value == pytest.approx(loss.b * np.asarray(loss.value(x)), rel=2e-12, abs=1e-14)


@pytest.mark.parametrize("name", ["logistic", "matsushita", "heavy tail", "gini"])
def test_curvature_is_the_derivative_of_the_weight(name):
    loss = own(name)
    x = margins(loss)
    x = x[np.abs(x) < 0.999 * min(loss.score_limit, np.inf)]
    assert tabulated(loss).at(x)[:, 2] == pytest.approx(loss.curvature(x), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("name", ROUGH)
def test_a_link_by_differences_is_tabulated_to_the_digits_that_it_has(name):
    loss = own(name)
    x = margins(loss)
    x = x[np.abs(x) < float(loss.score(0.9999))]
    table = tabulated(loss)
    assert table is not None
    assert table.at(x)[:, 1] == pytest.approx(loss.weight(x), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", [*SMOOTH, "table of 33"])
def test_the_compiled_functor_is_its_readable_twin(name):
    loss = own(name)
    table = tabulated(loss)
    x = np.concatenate((margins(loss), [1e300, -1e300, -0.0]))
    np.testing.assert_allclose(compiled(loss).function().at(x), table.at(x), rtol=1e-12, atol=1e-14)
    x = np.concatenate((table.breaks, -table.breaks))  # there a derivative may be taken from either side
    np.testing.assert_allclose(compiled(loss).function().at(x)[:, :2], table.at(x)[:, :2], rtol=1e-11, atol=1e-14)


def test_every_value_weight_and_curvature_agree_as_derivatives_across_a_kink():
    loss = own("table of 33")
    x = np.linspace(-3.1, 3.1, 4001)
    step = 1e-6
    at, ahead, behind = (compiled(loss).function().at(np.ascontiguousarray(x + s)) for s in (0.0, step, -step))
    assert (behind[:, 0] - ahead[:, 0]) / (2 * step) == pytest.approx(at[:, 1], abs=1e-6)
    assert (np.diff(at[:, 1]) <= 1e-15).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_the_users_function_is_called_some_hundred_times_however_many_fits_follow(name):
    slope = {"gini": lambda p: 1 - 2 * p, "sine": lambda p: np.pi * np.cos(np.pi * p)}.get(name)
    given = own(name).rebuild[1]
    phi, prime = Counted(given[0]), None if slope is None else Counted(slope)
    loss = losses.from_phi(phi, prime, name=name)
    first = compiled(loss)
    calls = phi.calls + (prime.calls if prime else 0)
    numbers = phi.numbers + (prime.numbers if prime else 0)
    assert (calls, numbers) < (3000, 1_000_000)
    assert first is not None
    again = losses.from_phi(phi, prime, name=name)  # as clone() and unpickling do
    built = phi.numbers
    assert isinstance(tabulated(again), LossTable)
    assert phi.numbers == built


def test_a_link_that_needs_too_many_cells_keeps_the_exact_path(monkeypatch):
    monkeypatch.setattr("permissible.losses.own.tabulation.CELLS", 100)
    loss = losses.from_phi(lambda p: 1.0 * entropy(p), name="crowded")
    assert tabulated(loss) is None
    assert compiled(loss) is None
