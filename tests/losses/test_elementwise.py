"""Numbers in, numbers of the same shape out: for every loss, a user's own too, whatever the shape."""

import numpy as np
import pytest

from permissible import losses

OWN = [
    losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine"),
    losses.from_psi(lambda x: np.exp(-x), lambda x: -np.exp(-x), name="exp"),
]
METHODS = ("value", "weight", "curvature", "margin", "probability", "score", "impurity")


@pytest.mark.parametrize("loss", [*(losses.get(name) for name in losses.names()), *OWN], ids=lambda loss: loss.name)
@pytest.mark.parametrize("method", METHODS)
def test_a_table_of_numbers_gives_the_table_of_their_results(loss, method):
    flat = np.linspace(0.05, 0.95, 24)
    wanted = getattr(loss, method)(flat)
    for shape in ((4, 6), (2, 3, 4), (24, 1)):
        np.testing.assert_array_equal(getattr(loss, method)(flat.reshape(shape)), wanted.reshape(shape))
    assert getattr(loss, method)(flat[3]) == wanted[3]
    assert getattr(loss, method)(flat[:0].reshape(0, 2)).shape == (0, 2)
