"""The protocol of Table 2: its trials, and what it gives on sets that are quick to run."""

import os

import numpy as np
import pytest

from papers.datasets import suite
from papers.guess_averse import ALGORITHMS, published_means, risks, trial
from papers.protocols import matrices
from papers.protocols.matrices import MEAN_COST, ORDERED, ROUNDING, over_all
from papers.store import unit

needs_data = pytest.mark.skipif(not os.environ.get("PERMISSIBLE_DATA"), reason="PERMISSIBLE_DATA names no data folder")


def means_and_distances(name, n_trials):
    """The mean risk of each algorithm, and how many combined standard errors it lies from the published one."""
    found = np.array([[*risks(trial(name, number)).values()] for number in range(n_trials)])
    published = np.array([published_means()[name, algorithm] for algorithm in ALGORITHMS])
    means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_trials)
    combined = np.maximum(np.hypot(published[:, 1], errors), 0.005)
    return means, dict(zip(ALGORITHMS, (means - published[:, 0]) / combined, strict=True))


def test_published_means_cover_every_set_and_algorithm():
    known = published_means()
    assert set(known) == {(name, algorithm) for name in suite("guess-averse") for algorithm in ALGORITHMS}


@pytest.mark.data
@needs_data
def test_trials_are_those_of_the_paper():
    one = trial("image-segmentation", 0)
    assert (len(one.train[1]), len(one.test[1])) == (210, 2100)
    np.testing.assert_array_equal(one.costs, one.costs.T)
    off_diagonal = one.costs[~np.eye(7, dtype=bool)]
    assert off_diagonal.min() >= 1
    assert off_diagonal.max() <= 10
    other = trial("ecoli", 1)
    assert (len(other.train[1]), len(other.test[1])) == (258, 78)
    assert not np.array_equal(other.train[0], trial("ecoli", 2).train[0])


@pytest.mark.data
@needs_data
def test_image_segmentation_agrees_with_the_published_means_and_order():
    means, distance = means_and_distances("image-segmentation", n_trials=50)
    assert all(abs(value) <= 2.0 for value in distance.values()), distance
    mc, _, _, gll, ls, lt = means
    assert gll < mc
    assert min(ls, lt) > max(means[:4])


@pytest.mark.data
@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["pendigits", "optdigits", "satimage"])
def test_sets_with_a_predefined_split_agree_with_the_published_means(name):
    means, distance = means_and_distances(name, n_trials=25)
    # MC on the optical digits depends on which codeword each class has, by more than the draws of the matrices do.
    ordered = ("MC", "P-MC") if name == "optdigits" else ()
    assert all(abs(value) <= 2.5 for algorithm, value in distance.items() if algorithm not in ordered), distance
    mc, _, _, gll, ls, lt = means
    assert gll < mc
    assert min(ls, lt) > max(means[:4])


@pytest.mark.data
@pytest.mark.slow
@needs_data
def test_the_order_of_the_classes_explains_mc_on_the_optical_digits():
    units = [unit("guess-averse", "optdigits", ORDERED, number, {"rounds": 100, "seed": 0}) for number in range(8)]
    payloads = [matrices.work(one) for one in units]
    for method in ("MC", "P-MC"):
        risk = [over_all(np.array(one[method]), np.array(one["MC"]), MEAN_COST * one["error"])[0] for one in payloads]
        mean, error = published_means()["optdigits", method]
        assert abs(np.mean(risk) - mean) <= 2.5 * np.hypot(np.std(risk, ddof=1), max(error, ROUNDING)), risk


@pytest.mark.data
@needs_data
def test_auto_beats_the_papers_linear_boosting_on_image_segmentation():
    found = [risks(trial("image-segmentation", number), ("GLL", "AUTO")) for number in range(10)]
    assert np.mean([one["AUTO"] for one in found]) < 0.75 * np.mean([one["GLL"] for one in found])
