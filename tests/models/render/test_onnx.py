"""ONNX graphs give the labels and probabilities of the model, in onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.bins.literal import Literal
from permissible.models.card.actions import Actions
from permissible.models.card.from_model import scorecard
from permissible.models.kinds.rules import RuleModel
from permissible.models.render.onnx import to_graph
from permissible.table.schema import Column, Schema
from tests.models.random_models import ODD_NAMES, rule_models, table_for

HARD = Actions("cuts", ("no", "yes"), (0.5,), (0.0,), cut_goes_up=True, by_score=True)


def run(model_proto, table, dtype):
    session = ort.InferenceSession(model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_inputs()]
    if names == ["X"] and all(column.kind != "categorical" for column in table.schema.columns):
        return session.run(None, {"X": np.column_stack(table.columns).astype(dtype)})
    feed = {}
    for name, column, values in zip(names, table.schema.columns, table.columns, strict=True):
        if column.kind != "categorical":
            feed[name] = values.astype(dtype)[:, None]
        else:
            words = [*column.categories, "never seen", ""]
            feed[name] = np.array([[words[code]] for code in values], dtype=object)
    return session.run(None, feed)


@given(model=rule_models([*ODD_NAMES, ""]), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_float64_graphs_agree_with_the_model(model, seed):
    table = table_for(model, 20, seed)
    if any("" in column.categories for column in model.schema.columns):
        return  # in a graph the empty text is a missing one
    label, probability, score = run(to_graph(scorecard(model, model.schema), HARD, "float64"), table, np.float64)
    np.testing.assert_allclose(score[:, 0], model.scores(table), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(probability[:, 1], model.probabilities(table)[:, 1], rtol=1e-9, atol=1e-12)
    sure = np.abs(model.scores(table)) > 1e-12
    assert (label[sure] == np.where(model.scores(table) >= 0, "yes", "no")[sure]).all()


@given(model=rule_models(["age", "b", "c"]), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_float32_graphs_agree_to_single_precision(model, seed):
    if any("" in column.categories for column in model.schema.columns):
        return
    table = table_for(model, 20, seed)
    _, probability, score = run(to_graph(scorecard(model, model.schema), HARD), table, np.float32)
    np.testing.assert_allclose(score[:, 0], model.scores(table), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(probability[:, 1], model.probabilities(table)[:, 1], rtol=1e-3, atol=1e-3)


def test_the_number_type_is_checked():
    model = RuleModel(Schema((Column("x"),)), losses.get("logistic"), 0.0, ((Literal(0, ">", 1.0, (0,)),),), np.ones(1))
    with pytest.raises(ValueError, match="`dtype` must be 'float32' or 'float64', got 'half'"):
        to_graph(scorecard(model, model.schema), HARD, "half")
