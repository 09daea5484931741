"""Pure mathematics on arrays: one function phi, and the loss, weight, link, impurity and surrogates derived from it."""

from permissible.losses.entropy import Entropy
from permissible.losses.margin_loss import MarginLoss
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.registry import Loss, get, names, register, unregister

__all__ = ["Entropy", "Loss", "MarginLoss", "PermissibleLoss", "get", "names", "register", "unregister"]
