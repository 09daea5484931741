"""The simulations of [K] section 6: p(x) is constant on slabs of the first coordinate, before a random rotation.

Settings 1.x have slabs of equal width on [-8, 8], 2.x of unequal width on [-4, 4]; the other coordinates are noise on [-1, 1].
Each setting names the boundaries its classifier is trained for; a linear rule attains its Bayes risk.
"""

from dataclasses import dataclass

import numpy as np

from permissible.types import AnyArray

HALF = (0.5,)
THIRDS = (1 / 3, 2 / 3)
QUARTERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class Setting:
    """One simulation: the half-width of the first coordinate, where p(x) jumps, its values, and the target boundaries."""

    name: str
    half_width: float
    cuts: tuple[float, ...]
    probabilities: tuple[float, ...]
    boundaries: tuple[float, ...]

    def bayes_risk(self) -> float:
        """The least theoretical loss (7): (2/K) sum_k min(p (1 - pi_k), (1 - p) pi_k), averaged over the slabs.

        Examples
        --------
        >>> round(SETTINGS["2.1"].bayes_risk(), 6)
        0.191667
        """
        edges = np.array([-self.half_width, *self.cuts, self.half_width])
        share = np.diff(edges) / (2 * self.half_width)
        p = np.array(self.probabilities)[:, None]
        pi = np.array(self.boundaries)[None, :]
        return float(np.sum(share * np.sum(np.minimum(p * (1 - pi), (1 - p) * pi), axis=1)) * 2 / len(self.boundaries))


_SIXTHS = (1 / 6, 3 / 6, 5 / 6)
_EIGHTHS = (1 / 8, 3 / 8, 5 / 8, 7 / 8)
SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("1.1", 8.0, (0.0,), (1 / 4, 3 / 4), HALF),
        Setting("1.2", 8.0, (-8 / 3, 8 / 3), _SIXTHS, THIRDS),
        Setting("1.3", 8.0, (-4.0, 0.0, 4.0), _EIGHTHS, QUARTERS),
        Setting("2.1", 4.0, (-0.6, 0.6), _SIXTHS, THIRDS),
        Setting("2.2", 4.0, (-2.0, 0.0), _SIXTHS, THIRDS),
        Setting("2.3", 4.0, (-0.8, 0.0, 0.8), _EIGHTHS, QUARTERS),
    )
}


def rotation(n_features: int, generator: np.random.Generator) -> AnyArray:
    """Draw a rotation uniformly (Haar): the Q of a Gaussian matrix, signs fixed by R, determinant 1."""
    q, r = np.linalg.qr(generator.standard_normal((n_features, n_features)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return np.asarray(q)


def draw(setting: Setting, n_rows: int, turned: AnyArray, generator: np.random.Generator) -> tuple[AnyArray, AnyArray]:
    """Draw rows and labels (1 or 0) of a setting, turned by a rotation.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X, y = draw(SETTINGS["1.2"], 500, rotation(10, generator), generator)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 10), [0, 1])
    """
    n_features = len(turned)
    before = generator.uniform(-1.0, 1.0, (n_rows, n_features))
    before[:, 0] *= setting.half_width
    cell = np.searchsorted(setting.cuts, before[:, 0], side="right")  # slabs are closed on the left
    probability = np.array(setting.probabilities)[cell]
    label = (generator.random(n_rows) < probability).astype(np.int64)
    return before @ turned.T, label
