"""What surrounds a fit: a failed one changes nothing, a long one shows its progress and calls scikit-learn's callbacks (1.9).

Importing its callbacks takes a tenth of a second, so they are imported only when one is set.
"""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

Method = TypeVar("Method", bound=Callable[..., Any])


def rollback(fit: Method) -> Method:
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


Watch = Callable[[int], bool]

if importlib.util.find_spec("sklearn.callback") is None:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Callbacks are not supported before scikit-learn 1.9."""

else:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """scikit-learn's mixin of this name, loaded when it is first needed."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Set the callbacks that a fit calls in its rounds; none removes them."""
            from sklearn.callback import CallbackSupportMixin as Mixin

            return Mixin.set_callbacks(self, *callbacks)

        def _init_callback_context(self, *args: object, **more: object) -> Any:
            from sklearn.callback import CallbackSupportMixin as Mixin

            return Mixin._init_callback_context(self, *args, **more)


def with_callbacks(method: Any) -> Any:
    """Make a method tear down the callbacks that it set up, however it ends."""

    @wraps(method)
    def managed(estimator: BaseEstimator, *args: Any, **more: Any) -> Any:
        if not getattr(estimator, "_skl_callbacks", None):
            return method(estimator, *args, **more)
        from sklearn.callback import with_callbacks as managing

        return managing(method)(estimator, *args, **more)

    return managed


@contextmanager
def watched(estimator: BaseEstimator, n_rounds: int) -> Iterator[Watch | None]:
    """A function that the loops call with the number of the round; None without a bar or callbacks."""
    called = getattr(estimator, "_skl_callbacks", None)
    if not called and not estimator.verbose:
        yield None
        return
    tell = _callback_watch(estimator) if called else None
    if not estimator.verbose:
        yield tell
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("rules", total=n_rounds)
        last = [0]

        def show(number: int) -> bool:
            if number < last[0]:
                bar.reset(task)
            last[0] = number
            bar.update(task, completed=number)
            return tell is None or tell(number)

        yield show
        bar.update(task, completed=n_rounds)


def _callback_watch(estimator: BaseEstimator) -> Watch:
    """Report each sequence of rounds to the callbacks as one task."""
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator)

    def tell(number: int) -> bool:
        task = context.subcontext(task_name=f"round {number}")
        task.call_on_fit_task_begin(estimator=estimator)
        return not task.call_on_fit_task_end(estimator=estimator)

    return tell
