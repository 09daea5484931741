"""Pure mathematics on arrays: one function phi, and the loss, weight, link, impurity and surrogates derived from it."""

from permissible.losses.bags import BAGS
from permissible.losses.consistency import Consistency, check_consistency
from permissible.losses.entropy import Entropy
from permissible.losses.guess_aversion import Counterexample, GuessAversion, is_guess_averse
from permissible.losses.large_margin import LargeMarginLoss, dwd, hinge, lum, squared_hinge
from permissible.losses.line_conditions import LinesVerdict
from permissible.losses.margin_loss import MarginLoss
from permissible.losses.multiclass import GEL, GLL, LS, LT, MC, MulticlassLoss, StructuredHinge, get_multiclass
from permissible.losses.own_phi import from_phi
from permissible.losses.own_psi import from_psi
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.piecewise import PiecewiseLinear, Segments
from permissible.losses.registry import Loss, get, names, register, unregister

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
    "Segments",
    "StructuredHinge",
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
