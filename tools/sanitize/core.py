"""A pytest plugin that puts a sanitized core in the place of the installed one: PERMISSIBLE_CORE names the file.

The interpreter itself is not sanitized, so the sanitizer's run-time library is preloaded by `tools/sanitize/run.sh`.
"""

import importlib.util
import os
import sys

import permissible.kernels

NAME = "permissible.kernels._core"

if NAME in sys.modules:
    raise RuntimeError("the installed core was loaded before the sanitized one")
spec = importlib.util.spec_from_file_location(NAME, os.environ["PERMISSIBLE_CORE"])
assert spec is not None
assert spec.loader is not None
core = importlib.util.module_from_spec(spec)
sys.modules[NAME] = core
spec.loader.exec_module(core)
permissible.kernels._core = core  # type: ignore[attr-defined]


def pytest_report_header() -> str:
    """Say which core is tested."""
    return f"sanitized core: {os.path.relpath(os.environ['PERMISSIBLE_CORE'])}"
