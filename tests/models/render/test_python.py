"""The Python export scores like the model, to the last bit, and imports nothing."""

import ast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.models.card.actions import Actions
from permissible.models.card.from_model import scorecard
from permissible.models.render.python import module
from tests.models.random_models import ODD_NAMES, rows_of, rule_models, table_for

HARD = Actions("cuts", ("no", "yes"), (0.5,), (0.0,), cut_goes_up=True, by_score=True)


@given(model=rule_models([*ODD_NAMES, "", "\0", "\ud800"]), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_written_functions_agree_with_the_model(model, seed):
    source = module(scorecard(model, model.schema), HARD)
    space: dict = {}
    exec(compile(source, "exported", "exec"), space)
    table = table_for(model, 25, seed)
    rows = rows_of(table)
    np.testing.assert_array_equal([space["score"](row) for row in rows], model.scores(table))
    np.testing.assert_allclose(
        [space["probability"](row) for row in rows], model.probabilities(table)[:, 1], rtol=1e-12, atol=1e-14
    )
    assert [space["decide"](row) for row in rows] == ["yes" if value >= 0 else "no" for value in model.scores(table)]


@given(model=rule_models())
@settings(max_examples=20, deadline=None)
def test_it_imports_math_and_calls_nothing_of_the_users(model):
    tree = ast.parse(module(scorecard(model, model.schema), HARD))
    imports = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert imports == ["math"]
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called <= {"_missing", "scores", "probabilities", "zip", "sum", "float", "_link"}
