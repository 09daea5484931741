"""The kinds of rows by name (asked.py)."""

from typing import Any

from permissible.distributed.boundary_rows import LinearKind
from permissible.distributed.mcboost_rows import BoostKind, JudgeKind
from permissible.distributed.survey_kind import SurveyKind
from permissible.distributed.udt import TreeKind

KINDS: dict[str, Any] = {
    "survey": SurveyKind(),
    "tree": TreeKind(),
    "mcboost": BoostKind(),
    "mcboost judge": JudgeKind(),
    "linear": LinearKind(),
}
