"""Shared checks refuse in one sentence that names the argument, what was expected and what came."""

import numpy as np
import pytest

from permissible.validation import one_of, probabilities, real_array, weights


def test_an_unknown_name_is_refused_with_the_nearest_one():
    assert one_of("solver", "auto", ["auto", "dual"]) == "auto"
    with pytest.raises(ValueError, match="got 'duel'; did you mean 'dual'"):
        one_of("solver", "duel", ["auto", "dual"])
    with pytest.raises(ValueError, match=r"got 'zzz'\.$"):
        one_of("solver", "zzz", ["auto", "dual"])
    with pytest.raises(TypeError, match="got int 3"):
        one_of("solver", 3, ["auto", "dual"])


@pytest.mark.parametrize(
    ("check", "values", "words"),
    [
        (real_array, [1.0, np.nan], "got nan"),
        (real_array, [[1.0]], r"shape \(1, 1\)"),
        (real_array, ["a"], "got list"),
        (real_array, 3.0, r"shape \(\)"),
        (probabilities, [0.5, -0.1], "between 0 and 1, got -0.1"),
    ],
)
def test_arrays_are_checked(check, values, words):
    with pytest.raises((ValueError, TypeError), match=words):
        check("values", values)


def test_lengths_and_weights_are_checked():
    np.testing.assert_array_equal(weights("w", [0, 2], length=2), [0.0, 2.0])
    for values, words in (([1.0], "2 finite numbers"), ([1.0, -1.0], "not negative"), ([0, 0], "all zero")):
        with pytest.raises(ValueError, match=words):
            weights("w", values, length=2)
