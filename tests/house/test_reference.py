"""The reference: every public thing is on a page, and every class and function there has an example."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import permissible

API = Path(__file__).parents[2] / "docs" / "api"


def documented() -> dict[str, object]:
    """Every class and function of the reference, by the name that the page gives."""
    found: dict[str, object] = {}
    for page in sorted(API.glob("*.md")):
        module = "permissible"
        for word, name in re.findall(
            r"^\.\. (currentmodule|autoclass|autofunction|automodule):: (\S+)", page.read_text(), re.M
        ):
            if word == "currentmodule":
                module = name
            elif word == "automodule":
                members = vars(importlib.import_module(name)).items()
                found |= {
                    f"{name}.{one}": thing
                    for one, thing in members
                    if one[0] != "_" and inspect.isfunction(thing) and thing.__module__ == name  # as the page shows
                }
            else:
                full = name if name.startswith("permissible.") else f"{module}.{name}"
                parent, _, last = full.rpartition(".")
                found[full] = getattr(importlib.import_module(parent), last)
    return found


@pytest.mark.parametrize("name", sorted(documented()))
def test_every_class_and_function_of_the_reference_has_an_example(name):
    assert ">>> " in (inspect.getdoc(documented()[name]) or "")


def test_every_public_name_is_in_the_reference():
    known = list(documented().values())
    missing = [
        name
        for name in permissible.__all__
        if not inspect.ismodule(thing := getattr(permissible, name)) and thing not in known
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["permissible", *(f"permissible.{one}" for one in ("losses", "metrics", "dask"))])
def test_completion_offers_every_public_name(name):
    module = importlib.import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, one) for one in dir(module))
