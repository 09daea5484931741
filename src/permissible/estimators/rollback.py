"""A failed fit changes nothing: after an error, Ctrl-C or lack of memory the estimator has its earlier state."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def whole(fit: Method) -> Method:
    """Make a method restore every attribute of its estimator when it fails.

    >>> import permissible as pm
    >>> tree = pm.UDTClassifier(max_leaf_nodes=2).fit([[0], [1]], [0, 1])
    >>> try:
    ...     tree.fit([[0], [1]], [1, 1])
    ... except ValueError:
    ...     print(tree.predict([[0], [1]]))
    [0 1]
    """

    @wraps(fit)
    def call(self: object, *given: object, **named: object) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *given, **named)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return call  # type: ignore[return-value]
