"""What the loss of a phi and that of a psi have in common: a name with parameters, the data of the function, and its link."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from permissible.losses.elementwise import as_probabilities, elementwise
from permissible.losses.entropy import Entropy, Formula, Functor, LinkFormula
from permissible.types import FloatArray

if TYPE_CHECKING:
    from permissible.losses.margin_loss import Psi

Rebuild: TypeAlias = tuple[Callable[..., object], tuple[object, ...]]


class NamedLoss:
    """A loss that is compared, copied and stored by its name and parameters; a user's own by the call that makes it.

    So the formulas may be any functions: they are not stored, but made again.
    """

    name: str
    params: Mapping[str, float]
    rebuild: Rebuild | None
    maker: ClassVar[str]

    @property
    def function(self) -> "Entropy | Psi":
        """The phi or the psi, as data."""
        raise NotImplementedError

    @property
    def left_link(self) -> Formula:
        """The score of a probability in (0, 1/2]."""
        raise NotImplementedError

    @property
    def score_limit(self) -> float:
        """The score of probability 1, the limit of the link; infinite for most losses."""
        return self.function.score_limit

    @property
    def functor(self) -> Functor | None:
        """The compiled form; None for a user's own function."""
        return self.function.functor

    @property
    def formula(self) -> LinkFormula | None:
        """The probability of a score as text; None where it has no closed form."""
        return self.function.formula

    @elementwise("probability", as_probabilities)
    def score(self, probability: FloatArray) -> FloatArray:
        """Real prediction of a probability, g(p) = -phi'(p); -score_limit at 0 and +score_limit at 1.

        Without a phi, it is the score at which the conditional risk of the probability is least.
        """
        p = np.minimum(probability, 1 - probability)
        left = np.where(p > 0, self.left_link(np.where(p > 0, p, 0.5)), -self.score_limit)
        left = np.where(np.isnan(p), np.nan, left)
        return np.where(probability > 0.5, -left, left)

    def _key(self) -> tuple[object, ...]:
        return (type(self), self.name, tuple(sorted(self.params.items())), self.rebuild)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedLoss) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        if self.rebuild is not None:
            return f"losses.{self.maker}(name={self.name!r})"
        shown = "".join(f", {key}={value!r}" for key, value in self.params.items())
        return f"losses.get({self.name!r}{shown})"

    def __getstate__(self) -> tuple[str, dict[str, float], Rebuild | None]:
        return self.name, dict(self.params), self.rebuild

    def __setstate__(self, state: tuple[str, dict[str, float], Rebuild | None]) -> None:
        from permissible.losses.registry import get

        name, params, own = state
        made = get(name, **params) if own is None else own[0](*own[1])
        self.__dict__.update(vars(made))
