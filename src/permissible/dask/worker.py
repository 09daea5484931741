"""What runs on a worker: one handler that answers questions about the partitions held there.

The plugin adds a handler to the worker's own server, so no extra port is opened. Answers are computed one at a time. Those
that are expected to be short are computed on the worker's event loop, since a change of threads costs as much as the rest of
a message; longer ones in a thread of their own, so that the loop stays free for dask.
"""

import asyncio
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

from distributed import WorkerPlugin

from permissible.distributed.protocol.session import Batch, Holder, Request

HANDLER = "permissible_answer"
SHORT_SECONDS = 0.02
UNKNOWN_SECONDS = 1.0
"""What an answer about rows that were not asked before is expected to take."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Requested partitions that this worker does not hold."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """An error on the worker. It is not a network error, so the request is not sent again."""

    error: BaseException


def answered(holder: Holder, request: Request | Batch, names: Sequence[str]) -> bytes:
    """The pickled answer, or the pickled error."""
    try:
        answer = holder.answer(request, names)
    except Exception as error:
        answer = Failed(error)
    try:
        return pickle.dumps(answer, protocol=5)
    except Exception as error:
        return pickle.dumps(Failed(RuntimeError(repr(error))), protocol=5)


class AnswerPlugin(WorkerPlugin):  # type: ignore[misc, unused-ignore]
    """Adds the handler to a worker; workers that join later get it too."""

    name = "permissible"
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Start answering."""
        self.worker = worker
        self.holder = Holder()
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="permissible")
        self.lock, self.expected_seconds = Lock(), UNKNOWN_SECONDS
        worker.handlers[HANDLER] = self.answer

    def teardown(self, worker: Any) -> None:
        """Stop answering."""
        worker.handlers.pop(HANDLER, None)
        self.thread.shutdown(wait=False)

    async def answer(self, request: bytes, names: list[str]) -> bytes:
        """Answer for the named partitions."""
        absent = tuple(name for name in names if name not in self.holder.parts and name not in self.worker.data)
        if absent:
            return pickle.dumps(Absent(absent), protocol=5)
        for name in names:
            if name not in self.holder.parts:
                self.holder.parts[name] = self.worker.data[name]
                self.expected_seconds = UNKNOWN_SECONDS
        if self.expected_seconds < SHORT_SECONDS and not self.lock.locked():
            return self._answer(request, names)
        return await asyncio.get_running_loop().run_in_executor(self.thread, self._answer, request, names)

    def _answer(self, request: bytes, names: list[str]) -> bytes:
        start = time.monotonic()
        question: Request | Batch = pickle.loads(request)
        with self.lock:
            reply = answered(self.holder, question, names)
        self.expected_seconds = max(time.monotonic() - start, 0.5 * self.expected_seconds)
        if question.closes:  # do not keep alive a partition that dask may want to release
            used = {name for _, name in self.holder.sessions}
            for name in [name for name in names if name not in used]:
                self.holder.parts.pop(name, None)
        return reply
