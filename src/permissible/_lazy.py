"""Public names that load when first used, so that `permissible --help` does not wait for scikit-learn (PEP 562)."""

import importlib
from collections.abc import Callable, Mapping, Sequence


def attach(
    package: str, submodules: Sequence[str], names: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose `names` map to the modules that define them."""
    public = sorted([*submodules, *names])

    def load(name: str) -> object:
        if name in names:
            value: object = getattr(importlib.import_module(names[name]), name)
        elif name in submodules:
            value = importlib.import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return value

    return load, lambda: public, public
