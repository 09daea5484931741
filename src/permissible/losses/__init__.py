"""Pure mathematics on arrays: one function phi, and the loss, weight, link, impurity and surrogates derived from it."""

from typing import TYPE_CHECKING

from permissible._lazy import attach
from permissible.losses.entropy import Entropy
from permissible.losses.margin_loss import MarginLoss
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.registry import BAGS, Loss, get, names, register, unregister

if TYPE_CHECKING:
    from permissible.losses.boundary.consistency import Consistency, check_consistency
    from permissible.losses.boundary.excess import (
        ExcessConstants,
        MarginCondition,
        excess_constants,
        excess_risk_bound,
        excess_surrogate,
        margin_condition,
    )
    from permissible.losses.boundary.large_margin import LargeMarginLoss, dwd, hinge, lum, squared_hinge
    from permissible.losses.boundary.line_conditions import LinesVerdict
    from permissible.losses.boundary.piecewise import PiecewiseLinear, WeightedHinges
    from permissible.losses.boundary.rates import (
        LearningBound,
        bernstein_constant,
        learning_bound,
        modulus_of_convexity,
        stump_cover,
    )
    from permissible.losses.geometry import ExponentialFamily, Game, centroid, divergence, dual_divergence
    from permissible.losses.multiclass.calibration import Calibration, is_c_calibrated, is_classification_calibrated
    from permissible.losses.multiclass.gamma_phi import GammaPhi
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
    from permissible.losses.own.proper import from_proper
    from permissible.losses.own.psi import from_psi

# What a fit of a loss by name does not need is loaded when first used.
_LATER = {
    "boundary.consistency": ["Consistency", "check_consistency"],
    "boundary.excess": [
        *("ExcessConstants", "MarginCondition", "excess_constants", "excess_risk_bound", "excess_surrogate"),
        "margin_condition",
    ],
    "boundary.rates": ["LearningBound", "bernstein_constant", "learning_bound", "modulus_of_convexity", "stump_cover"],
    "multiclass.guess_aversion": ["Counterexample", "GuessAversion", "is_guess_averse"],
    "boundary.large_margin": ["LargeMarginLoss", "dwd", "hinge", "lum", "squared_hinge"],
    "boundary.line_conditions": ["LinesVerdict"],
    "multiclass.losses": ["GEL", "GLL", "LS", "LT", "MC", "MulticlassLoss", "StructuredHinge", "get_multiclass"],
    "multiclass.calibration": ["Calibration", "is_c_calibrated", "is_classification_calibrated"],
    "multiclass.gamma_phi": ["GammaPhi"],
    "geometry": ["ExponentialFamily", "Game", "centroid", "divergence", "dual_divergence"],
    "own.phi": ["from_phi"],
    "own.proper": ["from_proper"],
    "own.psi": ["from_psi"],
    "boundary.piecewise": ["PiecewiseLinear", "WeightedHinges"],
}
_NAMES = {name: f"{__name__}.{module}" for module, listed in _LATER.items() for name in listed}
_NAMES |= dict.fromkeys(("BAGS", "Loss", "get", "names", "register", "unregister"), f"{__name__}.registry")
_NAMES |= {"Entropy": f"{__name__}.entropy", "MarginLoss": f"{__name__}.margin_loss"}
_NAMES |= {"PermissibleLoss": f"{__name__}.permissible_loss"}
__getattr__, __dir__, __all__ = attach(__name__, (), _NAMES)
