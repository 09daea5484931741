"""Where a worker computes its answers: short ones on its event loop, others in a thread of their own."""

import asyncio
import pickle
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

from permissible.dask import worker
from permissible.distributed.protocol.remote import PartItself
from permissible.distributed.protocol.session import NO_SESSION, Request
from permissible.rows.source import Question


@dataclass(frozen=True)
class WhichThread(Question):
    """The thread that answers, which takes a while."""

    seconds: float

    def answer(self, rows):
        time.sleep(self.seconds)
        return threading.current_thread().name


def test_only_answers_that_are_expected_to_be_short_are_computed_on_the_event_loop(monkeypatch):
    monkeypatch.setattr(worker, "SHORT_SECONDS", 0.15)  # on a busy machine
    plugin = worker.AnswerPlugin()
    plugin.setup(SimpleNamespace(handlers={}, data={"one": None, "other": None}))
    loop = threading.current_thread().name

    async def threads(*asked):
        found = []
        for name, seconds in asked:
            request = pickle.dumps(Request(NO_SESSION, PartItself(), 0, WhichThread(seconds)))
            found.append(pickle.loads(await plugin.answer(request, [name])) == loop)
        return found

    found = asyncio.run(threads(*[("one", 0.0)] * 12, ("one", 0.3), ("one", 0.0), ("other", 0.0)))
    assert not any(found[:3])  # nothing is known of these rows yet
    assert found[10:] == [True, True, True, False, False]  # one long answer on the loop, at most; then other rows
    plugin.teardown(plugin.worker)
