"""The kinds of rows by name (asked.py)."""

from typing import Any

from permissible.distributed.mcboost_rows import BoostKind, JudgeKind
from permissible.distributed.survey_kind import SurveyKind

KINDS: dict[str, Any] = {
    "survey": SurveyKind(),
    "mcboost": BoostKind(),
    "mcboost judge": JudgeKind(),
}
