"""learner="tree" over the product of its modes: each leaf of a tree has the value that scipy finds for its rows."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

import permissible as pm
from permissible.bins.encoding import encode
from permissible.kernels._core import boosted as kernels
from permissible.models.kinds.boosted import kernel_form
from permissible.table import read
from tests.modes.cases import matrix, table
from tests.modes.referee import LOSSES
from tests.modes.uls import Mode, fit_of

OWN_PSI = ("own psi", "own exp")  # refused: trees need a compiled loss
KNOWN = [label for label in LOSSES if label not in OWN_PSI]
CELLS = list(product(KNOWN, ("tree",), ("classic",), (True, False), (0.0, 1.0), (False, True)))
MATRIX = [
    pytest.param((*param.values[0][:6], "memory", *param.values[0][6:]), marks=param.marks, id=param.id)
    for param in matrix(CELLS, 3)
]


def leaves_of_first_tree(fit):
    """The rows of each leaf of the first tree, and its value."""
    if not fit.model.model_.n_trees:
        return []
    forest = fit.model.model_.forest.first(1)
    binned = encode(forest.binning, read(fit.X, forest.binning.schema))
    trees = kernels.Trees(*kernel_form(forest, 1))
    leaf = trees.leaves(kernels.Codes(binned.blocks, binned.n_columns), 0)
    return [(leaf == place, value) for place, value in enumerate(trees.values[:, 0].tolist())]


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
    for inside, value in leaves_of_first_tree(fit):
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


@pytest.mark.parametrize("label", OWN_PSI)
def test_a_psi_of_one_s_own_is_refused(label):
    X, y, _ = table("boolean", 0, False)
    with pytest.raises(ValueError, match="`loss` must be a built-in loss or a tabulated phi for trees"):
        pm.ULSClassifier(LOSSES[label][0], learner="tree").fit(X, y)
