"""Sessions survive retries, loss and replay: the state depends on the changes alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from permissible.distributed.protocol.remote import RemoteRows
from permissible.distributed.protocol.session import Behind, Holder, NoRows, Request
from permissible.rows.local import LocalRows
from permissible.rows.source import Question


class Counter:
    """Rows whose state is a polynomial hash of the changes: any change lost, doubled or out of order shows."""

    def __init__(self, part: int, start: int) -> None:
        self.part, self.state = part, start

    def add(self, value: int) -> int:
        self.state = (31 * self.state + value + self.part) % 1_000_003
        return self.state

    def look(self) -> int:
        return self.state


@dataclass(frozen=True)
class Open:
    start: int

    def build(self, part: int) -> Counter | None:
        return Counter(part, self.start) if part else None


@dataclass(frozen=True)
class Add(Question[Counter, int]):
    value: int
    changes = True

    def answer(self, rows: Counter) -> int:
        return rows.add(self.value)


@dataclass(frozen=True)
class Look(Question[Counter, int]):
    def answer(self, rows: Counter) -> int:
        return rows.look()


OPENING = Open(7)


class Number(int):
    """A part that is only a number."""

    def release(self) -> None:
        """Nothing to give back."""


class FailingTransport:
    """Two holders of two parts each; before chosen messages one of them forgets everything, or answers twice."""

    def __init__(self, forget_at: set[int], repeat_at: set[int]) -> None:
        self.holders = [Holder({"a": 1, "b": 2, "none": 0}), Holder({"c": 3, "d": 4})]
        self.forget_at, self.repeat_at, self.sent = forget_at, repeat_at, 0

    def send(self, request: Request) -> Sequence[Any]:
        self.sent += 1
        if self.sent in self.forget_at:
            sessions = self.holders[self.sent % 2].sessions
            for key in [*sessions][self.sent % 3 == 0 :]:  # all of them, or all but the first
                del sessions[key]
        if self.sent in self.repeat_at:
            for holder in self.holders:
                holder.answer(request)
        return [holder.answer(request) for holder in self.holders]


def run(transport: Any) -> list[int]:
    rows = RemoteRows(transport, OPENING)
    answers = []
    for value in range(10):
        answers += [rows.ask(Add(value)), rows.ask(Look())]
    return answers


@pytest.fixture
def undisturbed() -> list[int]:
    rows = LocalRows([*map(Number, [1, 2, 3, 4])], OPENING)
    return [answer for value in range(10) for answer in (rows.ask(Add(value)), rows.ask(Look()))]


@pytest.mark.parametrize("forget_at", [{1}, {2}, {7}, {3, 9, 15}, set(range(2, 40))])
def test_a_holder_that_forgets_is_caught_up(undisturbed, forget_at):
    assert run(FailingTransport(forget_at, set())) == undisturbed


def test_a_message_that_comes_twice_changes_nothing(undisturbed):
    assert run(FailingTransport(set(), set(range(1, 21)))) == undisturbed


def test_forgetting_and_repeating_together_change_nothing(undisturbed):
    assert run(FailingTransport({4, 5, 11, 18}, {3, 4, 12, 19})) == undisturbed


def test_a_session_behind_says_how_far_it_is():
    holder = Holder({"a": 1})
    holder.answer(Request("s", OPENING, 0, Add(5)))
    assert holder.answer(Request("s", OPENING, 3, Look())) == Behind(1)


def test_a_closed_session_is_forgotten():
    transport = FailingTransport(set(), set())
    rows = RemoteRows(transport, OPENING)
    rows.ask(Add(1))
    assert all(holder.sessions for holder in transport.holders)
    rows.close()
    assert not any(holder.sessions for holder in transport.holders)


def test_a_worker_without_selected_rows_adds_nothing_to_an_answer():
    alone = Holder({"none": 0})
    assert alone.answer(Request("s", OPENING, 0, Add(5))) == NoRows()
    assert alone.answer(Request("s", OPENING, 0, Add(5))) == NoRows()  # once more, after a lost answer
