"""Losses by name: aliases, parameters, identity, pickling, and refusals."""

import pickle

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.losses import Entropy


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("M", "matsushita"),
        ("Q", "logistic"),
        ("B", "squared"),
        ("upsilon", "power"),
        ("zeta", "logcosh"),
        ("exp", "exponential"),
    ],
)
def test_the_papers_letters_are_aliases(alias, name):
    assert losses.get(alias) == losses.get(name)
    assert losses.get(alias).name == name


def test_a_loss_object_passes_through():
    loss = losses.get("mu", mu=0.5)
    assert losses.get(loss) is loss
    with pytest.raises(ValueError, match=r"`params` must be left out when a loss object is passed"):
        losses.get(loss, mu=0.2)


@pytest.mark.parametrize("name", losses.names())
def test_name_and_params_rebuild_the_loss(name):
    loss = losses.get(name)
    again = losses.get(loss.name, **loss.params)
    assert again == loss
    assert hash(again) == hash(loss)
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert eval(repr(loss), {"losses": losses}) == loss


def test_the_argument_may_be_named():
    loss = losses.get("logistic")
    assert loss.value(margin=0.5) == loss.value(0.5)
    assert loss.score(probability=0.2) == loss.score(0.2)
    with pytest.raises(TypeError, match="`margin` must be the only argument"):
        loss.value(0.5, 0.2)
    with pytest.raises(TypeError, match="`margin` must be the only argument"):
        loss.value(x=0.5)


def test_losses_of_different_parameters_differ():
    assert losses.get("mu", mu=0.5) != losses.get("mu", mu=0.25)
    assert losses.get("power") != losses.get("logistic")
    assert losses.get("exponential") != losses.get("least_squares")
    assert losses.get("logistic") != "logistic"
    assert len({losses.get("M"), losses.get("matsushita"), losses.get("mu", mu=0.1)}) == 2


def bump(p):
    return p * (1 - p)


def test_an_own_phi_that_can_be_pickled_is_pickled():
    loss = losses.from_phi(bump, name="bump")
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.value(0.3) == loss.value(0.3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: losses.get("logit"), "`loss` must be one of logistic, matsushita"),
        (
            lambda: losses.get("logistic", mu=1),
            "loss 'logistic', which takes no parameters, got `mu`",
        ),
        (lambda: losses.get("mu", mu=1.0), r"`mu` must be a number in \[0, 1\), got 1.0"),
        (lambda: losses.get("mu", mu="x"), "`mu` must be a number, got str 'x'"),
        (lambda: losses.get("power", upsilon=0), r"`upsilon` must be a number in \(0, 1\), got 0"),
        (lambda: losses.get("logcosh", zeta=0), "`zeta` must be a number with"),
        (lambda: losses.get("logistic").phi(1.5), r"`probability` must be a probability in \[0, 1\], got 1.5"),
        (lambda: losses.get("logistic").bregman(0.5, -0.1), r"`q` must be a probability in \[0, 1\], got -0.1"),
        (lambda: losses.get("logistic").value("abc"), "`margin` must be a number or an array of real numbers"),
        (
            lambda: losses.get("logistic").value([[1.0], [1.0, 2.0]]),
            "`margin` must be a number or an array of real numbers",
        ),
        (lambda: losses.get("logistic").value(1j), "`margin` must be a number or an array of real numbers"),
        (lambda: losses.get(None), "`loss` must be the name of a loss or a loss object, got NoneType None"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_registered_phi_is_a_loss_everywhere_and_its_name_is_taken():
    losses.register(
        "test-bump", lambda: Entropy(excess=bump, link=lambda p: 2 * p - 1, b=0.25, score_limit=1.0), ("bump",)
    )
    try:
        assert "test-bump" in pm.losses.names(permissible_only=True)
        x = np.linspace(-2, 2, 41)
        assert losses.get("bump").value(x) == pytest.approx(losses.get("squared").value(x), abs=1e-12)
        with pytest.raises(ValueError, match=r"a name that is not taken, got 'bump'; taken are logistic, .*gini.*bump"):
            losses.register("bump", lambda: Entropy(excess=bump, link=bump, b=1.0))
    finally:
        losses.unregister("test-bump")
    assert "test-bump" not in losses.names()
