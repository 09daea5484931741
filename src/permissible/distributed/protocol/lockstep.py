"""Several fits that share their messages: classes, candidates and folds, and a last fit that follows the choice.

Each fit runs in its own thread, independent of the others. A question waits until every fit that is still running has
one; then all of them are sent as one `Batch`, and each fit gets its own answers. Each fit has the same result as when
it runs alone, bit for bit.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from permissible.distributed.protocol.session import TURN, Batch, Request, Transport

Outcome = TypeVar("Outcome")
CLOSING_SECONDS = 5.0
"""How long an interrupted fit waits for each thread to close its sessions."""


class Barrier:
    """Collects the questions of several fits until all have asked."""

    def __init__(self, transport: Transport, members: int) -> None:
        self._transport, self._active = transport, members
        self._changed = threading.Condition()
        self._questions: dict[int, Request | Batch] = {}
        self._answers: dict[int, list[object]] = {}
        self._error: BaseException | None = None

    def ask(self, member: int, request: Request | Batch) -> Sequence[Any]:
        """The answers to a question of one fit, once all have asked."""
        with self._changed:
            if request.closes:  # sent at once, even when another fit has failed
                return self._transport.send(request)
            self._check()
            self._questions[member] = request
            self._send_when_complete()
            while member not in self._answers:
                self._check()
                self._changed.wait()
            return self._answers.pop(member)

    def leave(self) -> None:
        """A fit has ended: the others no longer wait for it."""
        with self._changed:
            self._active -= 1
            self._send_when_complete()

    def give_up(self, error: BaseException) -> None:
        """End all fits."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def _check(self) -> None:
        if self._error is not None:
            raise RuntimeError("the fit of another class failed") from self._error

    def _send_when_complete(self) -> None:
        if not self._questions or len(self._questions) < self._active:
            return
        asked = sorted(self._questions.items())
        self._questions.clear()
        self._answers |= {member: [] for member, question in asked if question == TURN}
        asking = [(member, question) for member, question in asked if question != TURN]
        if len(asking) == 1:
            ((member, question),) = asking
            self._answers[member] = list(self._transport.send(question))
        elif asking:
            self._send_together(asking)
        self._changed.notify_all()

    def _send_together(self, asked: Sequence[tuple[int, Request | Batch]]) -> None:
        """One message with the questions of all; a fit that asks several at once gets a list of answers."""
        requests = [q.requests if isinstance(q, Batch) else (q,) for _, q in asked]
        replies = list(self._transport.send(Batch(tuple(request for each in requests for request in each))))
        place = 0
        for (member, question), each in zip(asked, requests, strict=True):
            found = [reply[place : place + len(each)] for reply in replies]
            self._answers[member] = found if isinstance(question, Batch) else [answer for (answer,) in found]
            place += len(each)


class _Fit(threading.Thread, Generic[Outcome]):
    """One fit among several, which is its transport, and how it ended."""

    def __init__(self, barrier: Barrier, member: int, fit: Callable[[Transport], Outcome]) -> None:
        super().__init__(name=f"permissible-{member}", daemon=True)
        self.barrier, self.member, self.fit = barrier, member, fit
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """Ask together with the others."""
        return self.barrier.ask(self.member, request)

    def run(self) -> None:
        try:
            self.outcome = self.fit(self)
            self.barrier.leave()
        except BaseException as error:
            self.error = error
            self.barrier.give_up(error)


def run_in_lockstep(transport: Transport, fits: Sequence[Callable[[Transport], Outcome]]) -> list[Outcome]:
    """The outcomes of fits that share their messages; the first error ends all of them, Ctrl-C too."""
    barrier = Barrier(transport, len(fits))
    threads = [_Fit(barrier, member, fit) for member, fit in enumerate(fits)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException as error:
        barrier.give_up(error)
        for thread in threads:
            thread.join(CLOSING_SECONDS)
        raise
    failed = [thread.error for thread in threads if thread.error is not None]
    if failed:
        raise next((error for error in failed if error.__cause__ is not barrier._error), failed[0])
    return [thread.outcome for thread in threads]  # type: ignore[misc]
