"""Decisions read back from plain data (JSON); only the kinds listed here are built."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from permissible.decisions.binary import Boundaries, Hard, LogLoss, Reject, Soft, Weighted
from permissible.decisions.cost import CostMatrix
from permissible.decisions.scoring import Decision
from permissible.validation import refusal

KINDS: dict[str, type[Decision]] = {
    kind.__name__: kind for kind in (Hard, Weighted, Reject, Boundaries, Soft, LogLoss, CostMatrix)
}


def from_document(document: Mapping[str, Any]) -> Decision:
    """Return the decision that ``to_document`` wrote.

    Examples
    --------
    >>> from permissible import decisions
    >>> decisions.from_document({"kind": "Reject", "cost": 0.2})
    Reject(cost=0.2)
    """
    kind = KINDS.get(document.get("kind", ""))
    if kind is None:
        raise refusal("document", f"of a kind among {', '.join(KINDS)}", document.get("kind"))
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    values = {key: value for key, value in document.items() if key != "kind"}
    if not set(values) <= known:
        raise refusal("document", f"with the fields {sorted(known)} of {kind.__name__}", sorted(values))
    return kind(**values)
