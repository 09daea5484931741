"""learner="tree" over the product of its modes: each leaf of a tree has the value that scipy finds for its rows."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.modes.cases import matrix
from tests.modes.referee import LOSSES
from tests.modes.uls import Mode, covered, fit_of

CELLS = list(product(LOSSES, ("tree",), ("classic",), (True, False), (0.0, 1.0), (False, True)))
MATRIX = [
    pytest.param((*param.values[0][:6], "memory", *param.values[0][6:]), marks=param.marks, id=param.id)
    for param in matrix(CELLS, 3)
]


def leaves_of_first_tree(fit):
    """The first rounds whose rules do not overlap: the leaves of the first tree."""
    rounds, taken, found = fit.model._traces[0].rounds, np.zeros(len(fit.sign), dtype=bool), []
    for step in rounds:
        inside = covered(step.rule, fit.X)
        if (inside & taken).any():
            break
        taken |= inside
        found.append((inside, step.value_in, step.value_out))
    return found


@pytest.mark.parametrize("cell", MATRIX)
def test_history_and_certificate_give_the_surrogate_of_the_scores(cell):
    fit = fit_of(Mode(*cell))
    wanted = [fit.surrogate(scores) for scores in fit.staged]
    np.testing.assert_allclose(fit.model.history_["surrogate"], wanted, rtol=1e-7, atol=1e-8)
    assert fit.certificate.surrogate == pytest.approx(fit.surrogate(fit.scores), rel=1e-7, abs=1e-8)
    if fit.mode.l2 == 0:
        start = fit.surrogate(np.full(len(fit.sign), fit.start))
        assert (np.diff(np.append(start, wanted)) <= 1e-9).all()


@pytest.mark.parametrize("cell", MATRIX)
def test_the_leaves_of_the_first_tree_have_their_exact_values(cell):
    mode = Mode(*cell)
    fit = fit_of(mode)
    for inside, value, outside in leaves_of_first_tree(fit):
        assert outside == 0.0
        sign, sample = fit.sign[inside], fit.sample[inside]

        def slope(step, sign=sign, sample=sample):
            return float(sample @ (sign * mode.referee.weight(sign * (fit.start + step)))) - mode.l2 * step

        pure = len(np.unique(sign)) == 1 and mode.l2 == 0
        if not pure:
            wanted = brentq(slope, -1e4, 1e4, xtol=1e-14, rtol=1e-14)
            at = [slope(value), slope(wanted)]
            close = abs(value - wanted) <= 1e-6 * max(1.0, abs(wanted))
            assert close or abs(at[0]) <= abs(at[1]) + 1e-9 * fit.sample.sum(), f"{value:.9g} for {wanted:.9g}"
        else:
            assert value * sign[0] > 0  # no finite value, or any beyond the end of the scores
