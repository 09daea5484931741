"""Pure mathematics on arrays: one function phi, and the loss, weight, link, impurity and surrogates derived from it."""

from typing import TYPE_CHECKING

from permissible._lazy import attach
from permissible.losses.bags import BAGS
from permissible.losses.entropy import Entropy
from permissible.losses.margin_loss import MarginLoss
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.registry import Loss, get, names, register, unregister

if TYPE_CHECKING:
    from permissible.losses.boundary.consistency import Consistency, check_consistency
    from permissible.losses.boundary.large_margin import LargeMarginLoss, dwd, hinge, lum, squared_hinge
    from permissible.losses.boundary.line_conditions import LinesVerdict
    from permissible.losses.boundary.piecewise import PiecewiseLinear, WeightedHinges
    from permissible.losses.multiclass.guess_aversion import Counterexample, GuessAversion, is_guess_averse
    from permissible.losses.multiclass.losses import (
        GEL,
        GLL,
        LS,
        LT,
        MC,
        MulticlassLoss,
        StructuredHinge,
        get_multiclass,
    )
    from permissible.losses.own.phi import from_phi
    from permissible.losses.own.psi import from_psi

# What a fit of a loss by name does not need is loaded when first used.
_LATER = {
    "boundary.consistency": ["Consistency", "check_consistency"],
    "multiclass.guess_aversion": ["Counterexample", "GuessAversion", "is_guess_averse"],
    "boundary.large_margin": ["LargeMarginLoss", "dwd", "hinge", "lum", "squared_hinge"],
    "boundary.line_conditions": ["LinesVerdict"],
    "multiclass.losses": ["GEL", "GLL", "LS", "LT", "MC", "MulticlassLoss", "StructuredHinge", "get_multiclass"],
    "own.phi": ["from_phi"],
    "own.psi": ["from_psi"],
    "boundary.piecewise": ["PiecewiseLinear", "WeightedHinges"],
}
__getattr__ = attach(
    __name__, [], {name: f"{__name__}.{module}" for module, listed in _LATER.items() for name in listed}
)[0]

__all__ = [
    "BAGS",
    "GEL",
    "GLL",
    "LS",
    "LT",
    "MC",
    "Consistency",
    "Counterexample",
    "Entropy",
    "GuessAversion",
    "LargeMarginLoss",
    "LinesVerdict",
    "Loss",
    "MarginLoss",
    "MulticlassLoss",
    "PermissibleLoss",
    "PiecewiseLinear",
    "StructuredHinge",
    "WeightedHinges",
    "check_consistency",
    "dwd",
    "from_phi",
    "from_psi",
    "get",
    "get_multiclass",
    "hinge",
    "is_guess_averse",
    "lum",
    "names",
    "register",
    "squared_hinge",
    "unregister",
]
