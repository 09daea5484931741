"""How a long fit shows itself: a bar on the terminal when `verbose`, and scikit-learn's callbacks where it has them (1.9)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Watch = Callable[[int], bool]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Leave a method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Watch", "watched", "with_callbacks"]


@contextmanager
def watched(estimator: Any, n_rounds: int) -> Iterator[Watch | None]:
    """A function that the loops call with the number of the round; None when nobody looks."""
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


def _callback_watch(estimator: Any) -> Watch:
    """Tell the callbacks of each stretch of rounds as one task."""
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator)

    def tell(number: int) -> bool:
        task = context.subcontext(task_name=f"round {number}")
        task.call_on_fit_task_begin(estimator=estimator)
        return not task.call_on_fit_task_end(estimator=estimator)

    return tell
