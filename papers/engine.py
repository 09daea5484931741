"""Units of work over processes: what is already in the store is not done again, what is done is stored at once.

The order of the units and the number of processes do not change a result: a unit's work depends on the unit alone.
"""

import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from papers.store import Payload, Store, Unit

Work = Callable[[Unit], Payload]
# One thread a process: the processes are the parallelism.
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def execute(units: Sequence[Unit], work: Work, store: Store, *, jobs: int = 1, title: str = "") -> dict[Unit, Payload]:
    """Do what is missing of `units`, then give the results of all of them.

    Parameters
    ----------
    units : sequence of Unit
    work : function of a module, from a unit to a JSON-able dictionary
        It must depend on nothing but the unit, and be importable, since other processes call it.
    store : Store
    jobs : int
        Number of processes; 1 works in this one.
    title : str
        Shown beside the progress bar.
    """
    done = store.get(units)
    missing = [one for one in units if one not in done]
    with _progress(title, len(units), len(done)) as advance:
        results = _here(missing, work) if jobs == 1 else _elsewhere(missing, work, jobs)
        for one, payload, seconds in results:
            store.put(one, payload, seconds)
            advance()
    return store.get(units)


def _timed(work: Work, one: Unit) -> tuple[Unit, Payload, float]:
    start = time.process_time()
    # Separable folds, unseen categories: worth a word to who fits one model, not ten thousand.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        payload = work(one)
    return one, payload, time.process_time() - start


def _here(units: Sequence[Unit], work: Work) -> Iterator[tuple[Unit, Payload, float]]:
    for one in units:
        with threadpool_limits(1):  # at each unit, since libraries are loaded by the first unit that needs them
            timed = _timed(work, one)
        yield timed


def _elsewhere(units: Sequence[Unit], work: Work, jobs: int) -> Iterator[tuple[Unit, Payload, float]]:
    if not units:
        return
    queue = iter(units)
    pending: set[Future[tuple[Unit, Payload, float]]] = set()
    context = multiprocessing.get_context("spawn")
    with environment(_SINGLE), ProcessPoolExecutor(jobs, mp_context=context, initializer=_follow_parent) as pool:
        try:
            while True:
                # A short queue keeps the processes busy, and an interrupt cheap.
                for one in queue:
                    pending.add(pool.submit(_timed, work, one))
                    if len(pending) >= 4 * jobs:
                        break
                if not pending:
                    return
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _follow_parent() -> None:
    """End this process when the one that started it is gone, even killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for a while, for this process and those it starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _progress(title: str, total: int, done: int) -> Iterator[Callable[[], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda: bar.advance(task)
