"""The kinds of rows by name (asked.py)."""

from typing import Any

from permissible.distributed.mcboost_rows import BoostKind, JudgeKind
from permissible.distributed.udt import TreeKind
from permissible.distributed.uls_rows import SurveyKind, ULSKind

KINDS: dict[str, Any] = {
    "uls": ULSKind(),
    "survey": SurveyKind(),
    "tree": TreeKind(),
    "mcboost": BoostKind(),
    "mcboost judge": JudgeKind(),
}
