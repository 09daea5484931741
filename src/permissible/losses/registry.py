"""Losses by name: estimators, tests, plots and the command line use this registry.

A registered phi can be used wherever a loss is accepted, and every property test of the library runs on it.
"""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from permissible.losses import catalogue
from permissible.losses.catalogue import log_cosh, power
from permissible.losses.entropy import Entropy
from permissible.losses.margin_loss import MarginLoss, Psi, exponential, least_squares
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.validation import Words, refusal, refusal_type

Loss: TypeAlias = PermissibleLoss | MarginLoss
Factory: TypeAlias = Callable[..., Entropy | Psi]

FIRST = ("mu", "matsushita", "logistic", "squared")
SECOND = ("mu", "matsushita", "logistic", "power")
BAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"F1": FIRST, "F2": SECOND, "E1": FIRST, "E2": SECOND, "F*": (*FIRST, "power")}
)
"""The losses among which the papers' adaptive flavours choose, round by round or fold by fold ([N] section 6).

F1 and F2 pick each round the loss whose step gives the least training error, E1 and E2 the one whose rule has the largest edge;
F* runs each loss alone and keeps the best. [I] lists four of the five functions of F* (E22). Ties go to the order of the bag.
"""

_factories: dict[str, Factory] = {}
_aliases: dict[str, str] = {}


def register(name: str, factory: Factory, aliases: tuple[str, ...] = ()) -> None:
    """Add a loss: `factory(**params)` returns its phi (an Entropy) or its psi.

    Parameters
    ----------
    name : str
        The name users pass as ``loss=``.
    factory : callable
        Keyword parameters with defaults; returns an Entropy (or a Psi).
    aliases : tuple of str
        Other names for it, such as the papers' letters.

    Examples
    --------
    >>> from permissible import losses
    >>> from permissible.losses.catalogue import squared
    >>> losses.register("my-gini", squared)
    >>> losses.get("my-gini").impurity(0.5)
    1.0
    >>> losses.unregister("my-gini")
    """
    for key in (name, *aliases):
        if key in _factories or key in _aliases:
            taken = ", ".join((*_factories, *_aliases))
            raise refusal("name", "a name that is not taken", key, f"taken are {taken}")
    _factories[name] = factory
    _aliases.update(dict.fromkeys(aliases, name))


def unregister(name: str) -> None:
    """Remove a loss and its aliases from the registry.

    >>> from permissible import losses
    >>> losses.unregister("never registered")
    """
    from permissible.losses.own.tabulation import tabulated  # loaded only for a user's own loss

    tabulated.cache_clear()  # the name may come to mean another phi
    _factories.pop(name, None)
    for alias in [alias for alias, target in _aliases.items() if target == name]:
        del _aliases[alias]


def names(permissible_only: bool = False) -> list[str]:
    """Registered names in order of registration; with `permissible_only` those that have a phi.

    Examples
    --------
    >>> from permissible import losses
    >>> "exponential" in losses.names(), "exponential" in losses.names(permissible_only=True)
    (True, False)
    """
    return [name for name, factory in _factories.items() if not permissible_only or isinstance(factory(), Entropy)]


def get(loss: str | Loss, **params: float) -> Loss:
    """Return the loss of a name, or a loss object as it is.

    Parameters
    ----------
    loss : str or loss
        ``"logistic"``, ``"matsushita"``, ``"mu"`` (mu=), ``"squared"``, ``"power"`` (upsilon=), ``"logcosh"`` (zeta=),
        ``"exponential"``, ``"least_squares"``, one of the papers' letters (``"M"``, ``"Q"``, ``"B"``), or a loss object.
    **params
        Parameters of phi.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.get("mu", mu=0.5).value(0.0)
    1.0
    >>> losses.get("Q")
    losses.get('logistic')
    """
    if isinstance(loss, PermissibleLoss | MarginLoss):
        if params:
            raise refusal("params", "left out when a loss object is passed", params)
        return loss
    if not isinstance(loss, str):
        raise refusal_type(
            "loss", "the name of a loss or a loss object", loss, f"the names are {', '.join(_factories)}"
        )
    name = _aliases.get(loss, loss)
    if name not in _factories:
        raise refusal("loss", f"one of {', '.join(_factories)}", loss)
    factory = _factories[name]
    known = inspect.signature(factory).parameters
    for key, value in params.items():
        if key not in known:
            takes = f"`{', '.join(known)}`" if known else "no parameters"
            raise refusal("params", f"parameters of loss {name!r}, which takes {takes}", Words(f"`{key}`"))
        params[key] = _number(key, value)
    full = {key: params.get(key, parameter.default) for key, parameter in known.items()}
    made = factory(**full)
    return PermissibleLoss(name, full, made) if isinstance(made, Entropy) else MarginLoss(name, full, made)


def _number(key: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise refusal_type(key, "a number", value) from None


register("logistic", catalogue.logistic, ("Q", "entropy", "log"))
register("matsushita", catalogue.matsushita, ("M",))
register("mu", catalogue.mu_matsushita, ("mu-matsushita", "mu_matsushita"))
register("squared", catalogue.squared, ("B", "gini"))
register("power", power, ("upsilon",))
register("logcosh", log_cosh, ("zeta", "log-cosh", "log_cosh"))
register("exponential", exponential, ("exp", "adaboost"))
register("least_squares", least_squares, ("square", "sqr"))
