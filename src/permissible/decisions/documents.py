"""What a user gives, or a file holds, as a decision: plain data, arrays of costs, and names of classes in any order.

Everything that uses a decision for an estimator calls `decision_for` first, so that costs given by name mean the same in
`decide`, scorers, reports, exports and files, in whatever order they were written down.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from permissible.decisions.binary import Boundaries, Hard, LogLoss, Reject, Soft, Weighted
from permissible.decisions.cost import CostMatrix
from permissible.decisions.scoring import Decision
from permissible.types import ArrayLike
from permissible.validation import refusal, refusal_type

KINDS: dict[str, type[Decision]] = {
    kind.__name__: kind for kind in (Hard, Weighted, Reject, Boundaries, Soft, LogLoss, CostMatrix)
}


def from_document(document: Mapping[str, Any]) -> Decision:
    """Return the decision that ``to_document`` wrote; only the kinds in `KINDS` are built.

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


def decision_for(given: Any, classes: ArrayLike, argument: str = "decision") -> Decision:
    """Return the decision for these classes in this order; an array of costs becomes a `CostMatrix`.

    Parameters
    ----------
    given : Decision or array of shape (M, M)
        Costs without names are in the order of `classes`, which estimators sort.
    classes : sequence
        The ``classes_`` of an estimator. A name that is not among them, or one that is missing, is refused.
    argument : str
        The name of the argument in errors.

    Examples
    --------
    >>> import permissible as pm
    >>> decision_for(pm.CostMatrix.from_class_weights({"well": 1, "sick": 9}), ["sick", "well"]).matrix
    array([[0., 9.],
           [1., 0.]])
    >>> decision_for([[0, 9], [1, 0]], ["sick", "well"]).decide([[0.2, 0.8]])
    array([0])
    """
    if isinstance(given, Decision):
        return given.aligned(classes)
    if given is None or isinstance(given, str | bytes | type) or callable(getattr(given, "decide", None)):
        raise refusal_type(argument, "a decision such as pm.Reject(0.1), or a square array of costs", given)
    return CostMatrix(given).aligned(classes)


def costs_for(given: object, classes: ArrayLike, argument: str = "costs") -> CostMatrix:
    """Return the costs in the order of the classes; without any every mistake costs 1."""
    if given is None:
        return CostMatrix(1.0 - np.eye(len(np.asarray(classes))))
    found = decision_for(given, classes, argument)
    if not isinstance(found, CostMatrix):
        raise refusal_type(argument, "a CostMatrix, or a square array of costs", given)
    return found
