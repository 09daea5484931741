"""What other layers must know of a loss are fields of it: its compiled form, its formula, its functions by name."""

import ast
import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import permissible
from permissible import losses
from permissible.losses.surrogate import compiled

NAMES = {*losses.names(), "mu", "gll", "gel", "mc", "ls", "lt"}
PACKAGE = Path(permissible.__file__).parent
ALLOWED = {
    "kernels/reference/mcboost.py",  # the twin of a kernel that gets a loss by its name
    "decisions/cost.py",  # `power` is an argument there
}


def comparisons(path):
    """The lines that compare something with the name of a loss, or choose by it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            parts = [node.pattern]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        else:
            continue
        found = {leaf.value for part in parts for leaf in ast.walk(part) if isinstance(leaf, ast.Constant)}
        if {name for name in found if isinstance(name, str)} & NAMES:
            yield node.lineno if not isinstance(node, ast.match_case) else node.pattern.lineno


def test_no_loss_is_chosen_by_its_name():
    found = {
        str(path.relative_to(PACKAGE)): lines for path in PACKAGE.rglob("*.py") if (lines := list(comparisons(path)))
    }
    assert set(found) <= ALLOWED, found


@pytest.mark.parametrize("name", losses.names())
def test_what_is_stored_of_a_loss_are_its_name_and_parameters(name):
    """So a file of skops, which stores functions by their names, holds none of its formulas."""
    loss = losses.get(name)
    loss.weight(0.5), loss.largest_curvature  # which keep formulas and values in the loss
    assert loss.__getstate__() == (name, dict(loss.params), None)
    assert all(type(value) is float for value in loss.params.values())
    again = copy.deepcopy(loss)
    assert again == loss
    assert again.weight(0.5) == loss.weight(0.5)


@pytest.mark.parametrize("make", [losses.hinge, losses.squared_hinge, losses.dwd, lambda: losses.lum(2.0, 0.5)])
def test_a_large_margin_loss_is_stored_by_the_call_that_makes_it(make):
    loss = make()
    again = pickle.loads(pickle.dumps(loss))
    assert repr(again) == repr(loss)
    assert again.value(0.3) == loss.value(0.3)


@pytest.mark.parametrize("name", losses.names())
def test_every_built_in_loss_has_a_compiled_form_and_only_power_has_no_formula(name):
    loss = losses.get(name)
    assert compiled(loss) is loss.functor is not None
    assert loss.impurity_functor is not None
    assert (loss.formula is None) == (name == "power")


def test_a_loss_with_the_name_of_another_is_not_taken_for_it():
    """Compiled form and formula belong to phi, not to its name."""
    sine = losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="logistic")
    assert (sine.functor, sine.formula, compiled(sine).name) == (None, None, "table")


@pytest.mark.parametrize("name", [name for name in losses.names() if losses.get(name).formula is not None])
def test_the_formula_is_the_probability(name):
    loss = losses.get(name)
    known = loss.formula
    score = np.linspace(-min(known.limit, 30.0), 0.0, 101)[1:-1]
    text = known.below.format(x="score", exp="np.exp", sqrt="np.sqrt", ln="np.log")
    np.testing.assert_allclose(eval(text, {"np": np, "score": score}), loss.probability(score), rtol=1e-9)
