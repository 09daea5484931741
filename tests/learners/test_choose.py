"""Choosing: the mean curve decides the stage, the least loss the candidate, and ties go to the simpler one."""

from functools import partial

import numpy as np
import pytest

from permissible.learners.choose import Fold, Sure, choose, mean_curve, race, stage_of

CURVES = {"short": np.array([1.0, 0.6, 0.5, 0.7]), "long": np.array([1.0, 0.7, 0.497]), "best": np.array([1.0, 0.4])}


def test_the_first_candidate_stays_unless_another_is_clearly_better():
    assert choose(["short", "long"], CURVES.get, least_gain=0.01).chosen.candidate == "short"
    assert choose(["short", "long"], CURVES.get).chosen.candidate == "long"
    found = choose(["short", "long", "best"], CURVES.get, least_gain=0.01)
    assert (found.chosen.candidate, found.chosen.stage, found.chosen.loss) == ("best", 1, 0.4)
    assert [tried.stage for tried in found.tried] == [2, 2, 1]


def test_equal_stages_go_to_the_first_or_the_last():
    flat = np.array([0.5, 0.3, 0.3 * (1 + 1e-14), 0.4])
    assert choose([0], lambda _: flat).chosen.stage == 1
    assert choose([0], lambda _: flat, equals="last").chosen.stage == 2
    assert choose([0], lambda _: np.array([0.1, 0.2]), first_stage=1).chosen.stage == 1
    assert choose([0], lambda _: np.array([0.1]), first_stage=1).chosen.stage == 0


def test_the_mean_over_splits_is_weighted():
    sums = [(np.array([2.0, 1.0]), 1.0), (np.array([4.0, 8.0]), 3.0)]
    assert mean_curve([0, 1], lambda split: sums[split]).tolist() == [1.5, 2.25]


def one_by_one(runs):
    return [fold.losses(candidate, last) for fold, candidate, last in runs]


def raced(folds, names, **more):
    """Race named curves: `folds` holds a mapping from name to curve for each fold; also the fits that were made.

    A curve is all that a fit can give, or a pair: what it gives before it stops early, and all.
    """
    fits = []

    def losses(fold, name, last):
        fits.append(name)
        early, whole = fold[name] if isinstance(fold[name], tuple) else (fold[name], fold[name])
        return np.array(whole[: last + 1] if last else early)

    return race([Fold(partial(losses, fold), 1.0) for fold in folds], names, run=one_by_one, **more), fits


def test_the_minimum_of_the_mean_curve_is_chosen_and_not_a_mean_of_minima():
    found, _ = raced([{"a": [3, 1, 2, 2]}, {"a": [3, 4, 2, 1]}], ["a"])
    assert found.chosen.curve.tolist() == [3.0, 2.5, 2.0, 1.5]
    assert (found.chosen.stage, found.chosen.loss) == (3, 1.5)


def test_a_fit_that_ends_by_itself_goes_on_with_its_last_value():
    found, fits = raced([{"a": [4, 2]}, {"a": [4, 2, 1]}], ["a"])
    assert found.chosen.curve.tolist() == [4.0, 2.0, 1.5]
    assert len(fits) == 3


def test_a_fit_that_stopped_early_is_made_again_up_to_the_least_mean():
    stopped = [4, 2, 2.5], [4, 2, 2.5, 4, 9, 9]
    found, fits = raced([{"a": stopped}, {"a": [4, 3, 2, 1.5, 1]}], ["a"])
    assert found.chosen.curve[:5].tolist() == [4.0, 2.5, 2.25, 2.75, 5.0]  # with 2.5 to the end, stage 4 would win
    assert (found.chosen.stage, found.chosen.loss) == (2, 2.25)
    assert len(fits) == 3
    known, fits = raced([{"a": stopped}, {"a": [4, 1, 2, 3]}], ["a"])
    assert (known.chosen.stage, len(fits)) == (1, 2)


def test_within_a_tenth_of_a_standard_error_the_simpler_is_chosen():
    spread = [0.0, 0.2, 0.4, 0.6, 0.8]  # standard deviation 0.316, standard error 0.141
    near = [{"short": [1 + s + 0.013], "long": [1 + s]} for s in spread]
    far = [{"short": [1 + s + 0.015], "long": [1 + s]} for s in spread]
    assert raced(near, ["short", "long"])[0].chosen.candidate == "short"
    assert raced(far, ["short", "long"])[0].chosen.candidate == "long"


def test_a_hopeless_candidate_is_not_fitted_on_the_later_folds():
    folds = [{"good": [1.0], "bad": [1.5], "close": [1.01 if k else 0.99]} for k in range(5)]
    found, fits = raced(folds, ["good", "bad", "close"])
    assert [fits.count(name) for name in ("good", "bad", "close")] == [5, 3, 5]
    assert found.chosen.candidate == "good"
    assert [tried.loss for tried in found.tried][1] == 1.5


def test_first_stage_and_weights_count():
    folds = [Fold(lambda *_: np.array([0.0, 2.0, 1.0]), 1.0), Fold(lambda *_: np.array([0.0, 1.0, 3.0]), 3.0)]
    found = race(folds, ["a"], first_stage=1, run=one_by_one)
    assert found.chosen.curve.tolist() == [0.0, 1.25, 2.5]
    assert found.chosen.stage == 1


@pytest.mark.parametrize(("to_beat", "least", "rounds"), [(2.0, 0, 5), (2.0, 4, 5), (2.0, 5, None), (0.5, 0, None)])
def test_a_last_fit_makes_the_rounds_that_are_sure_and_no_other(to_beat, least, rounds):
    curve, known = [9.0, 3.0, 1.0, 4.0, 1.0, 0.5, 7.0], []
    sure = Sure(3.0, to_beat, least, 6)

    def run(_):
        losses = iter(curve[1:])
        known.extend(sure._rounds for _ in sure.told(6, lambda: next(losses)))
        return stage_of("a", np.array(curve))

    class OneAfterTheOther:
        def each(self, fits):
            return [fit(self) for fit in fits.values()]

    def fit(_, most):
        return most, len([*sure.rounds(None)])

    found, outcome = sure.follow(OneAfterTheOther(), run, fit)
    assert found.stage == 5
    assert outcome == (None if rounds is None else (rounds, rounds))
    assert known == ([0, 0, 2, 2, 2, 5] if to_beat == 2.0 else [0] * 6)  # what is sure before each round only grows
