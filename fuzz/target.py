"""How every target is run: `python -m fuzz.NAME [libFuzzer options]`."""

import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import atheris

SCRATCH = Path(tempfile.mkdtemp(prefix="permissible-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))


def run(one: Callable[[bytes], None], *modules: str) -> None:
    """Give `one` bytes without end, or as many as the options say, guided by what runs in `modules`."""
    for name in modules:
        _follow(importlib.import_module(name))
    one(b"")  # what is loaded on first use is loaded now, outside of the time limit
    one(bytes(range(64)))
    atheris.Setup([*sys.argv, "-timeout=20", "-rss_limit_mb=3000", f"-artifact_prefix={SCRATCH}/"], one)
    atheris.Fuzz()


def _follow(module: Any) -> None:
    """Let atheris see which lines of a module run (its hook on imports does not see editable installs)."""
    for item in list(vars(module).values()):
        owner = [*vars(item).values()] if isinstance(item, type) else [item]
        for function in owner:
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                atheris.instrument_func(function)


def allowed(error: Exception) -> None:
    """A refusal must be one sentence."""
    message = str(error)
    if "\n" in message or not message or len(message) > 2000:
        raise AssertionError(f"not one sentence: {message!r}") from error
