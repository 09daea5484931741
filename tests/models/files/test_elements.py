"""Models come back from a document equal, number for number, and a bent document is refused by name."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings

from permissible import losses
from permissible.models.files.elements import read_schema, schema_document
from permissible.models.files.json_node import Node
from permissible.models.files.models import model_document, read_model
from permissible.models.files.strict_json import dump, parse
from tests.models.random_models import ODD_NAMES, rule_models, table_for

ALL_LOSSES = [(name, {}) for name in losses.names()]


@given(model=rule_models([*ODD_NAMES, "", "\0", "\ud800"], ALL_LOSSES))
@settings(max_examples=60, deadline=None)
def test_rules_come_back_equal(model):
    text = dump({"schema": schema_document(model.schema), "model": model_document(model)})
    fields = Node(parse(text.encode()), "").fields("schema", "model")
    again = read_model(fields["model"], read_schema(fields["schema"]), {})
    assert again.schema == model.schema
    assert repr(again.rules) == repr(model.rules)  # repr, as an unused threshold is NaN
    assert again.loss == model.loss
    table = table_for(model)
    np.testing.assert_array_equal(again.scores(table), model.scores(table))
    np.testing.assert_array_equal(again.probabilities(table)[:, 1], model.probabilities(table)[:, 1])


@given(model=rule_models(["age", "colour"], [("logistic", {})]))
@settings(max_examples=40, deadline=None)
def test_no_bent_document_gets_through_without_a_sentence(model):
    """Every place of a document is replaced by something else in turn: it is refused, or means another valid model."""
    document = parse(dump(model_document(model)))
    for path in places(document):
        for instead in (None, "x", -1, [], {}):
            bent = replaced(copy.deepcopy(document), path, instead)
            reason = refusal_of(bent, model.schema)
            assert reason is None or reason.startswith("`")


def refusal_of(document, schema):
    """Why a document is refused, None when it is not; any error but a refusal goes through."""
    try:
        read_model(Node(document, "model"), schema, {})
    except ValueError as error:
        return str(error)
    return None


def places(data, path=()):
    yield path
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(data, path, value):
    if not path:
        return value
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def test_a_users_own_loss_must_be_handed_in_again():
    own = losses.from_phi(lambda p: p * (1 - p), lambda p: 1 - 2 * p, name="mine")
    from permissible.models.kinds.rules import RuleModel
    from permissible.table.schema import Column, Schema

    model = RuleModel(Schema((Column("x"),)), own, 0.5, (), np.zeros(0))
    node = Node(model_document(model), "model")
    with pytest.raises(ValueError, match=r"`losses` must be a mapping with the loss 'mine'.*pm.load\(path, losses="):
        read_model(node, model.schema, {})
    assert read_model(node, model.schema, {"mine": own}).loss is own
