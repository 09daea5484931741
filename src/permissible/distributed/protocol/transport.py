"""How a question reaches every part of the data, and the answers come back: the one reduction of a distributed fit.

`Transport` is the seam. `SerialTransport` holds the parts in this process (in memory or as blocks on disk); the ones over
dask workers are in permissible/dask. All choices stay with the coordinator; answers merge by integer sums, so that neither the
number of holders nor the order of their answers can show in a model.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from permissible.distributed.protocol.session import Batch, Behind, Holder, Kind, Opening, Request


class Transport(Protocol):
    """Sends a request to every holder of parts and returns their answers.

    One whose attribute `remote` is true pays for every message: questions are then asked together where they can be.
    """

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """One answer per holder; each may be `Behind`."""
        ...


class SerialTransport:
    """All parts in this process."""

    remote = False

    def __init__(self, parts: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
        self.holder = Holder(kinds, dict(parts))

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """The answer of the one holder."""
        return [self.holder.answer(request)]


class RemoteRows:
    """Rows that are elsewhere: each call becomes a request, changes are kept so that a lost holder can be caught up."""

    def __init__(self, transport: Transport, kind: Kind, opening: Opening) -> None:
        self.transport, self.kind, self.opening = transport, kind, opening
        self.session = uuid.uuid4().hex  # names a session, enters no model
        self.changes: list[tuple[str, tuple[Any, ...]]] = []

    def ask(self, method: str, *arguments: Any) -> Any:
        """Ask every part and merge the answers; holders that are behind are sent what they lack."""
        request = Request(self.session, self.opening, len(self.changes), method, arguments)
        answers = list(self.transport.send(request))
        behind = [answer.version for answer in answers if isinstance(answer, Behind)]
        if behind:
            # All are asked again: a part that had made the change already answers the same from memory.
            answers = list(self.transport.send(replace(request, replay=tuple(self.changes[min(behind) :]))))
        if method in self.kind.changes:
            self.changes.append((method, arguments))
        return self.kind.merge(method, answers)

    def close(self) -> None:
        """Let the holders forget the session."""
        self.transport.send(Request(self.session, self.opening, len(self.changes), "close"))
