"""The door to the estimators: protocols take them from the package's public names, as any user does."""

import importlib
from typing import Any


def public(name: str) -> Any:
    """Give a public name of the package."""
    return getattr(importlib.import_module("permissible"), name)


def loss(name: str, **parameters: float) -> Any:
    """Give a loss by name."""
    return public("losses").get(name, **parameters)
