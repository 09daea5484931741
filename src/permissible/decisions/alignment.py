"""A decision for the classes of an estimator: the only place where the names in a decision are matched to ``classes_``.

Everything that uses a decision for an estimator calls `decision_for` first, so that costs given by name mean
the same in `decide`, scorers, reports, exports and files, in whatever order they were written down.
"""

from typing import Any

from permissible.decisions.cost import CostMatrix
from permissible.decisions.scoring import Decision
from permissible.types import ArrayLike
from permissible.validation import refusal_type


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
