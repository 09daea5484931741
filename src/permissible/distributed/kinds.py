"""The kinds of rows by name (asked.py)."""

from typing import Any

from permissible.distributed.boundary_rows import LinearKind
from permissible.distributed.uls_rows import SurveyKind, ULSKind

KINDS: dict[str, Any] = {
    "uls": ULSKind(),
    "survey": SurveyKind(),
    "linear": LinearKind(),
}
