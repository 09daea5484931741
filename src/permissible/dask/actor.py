"""The transport of a fit over dask's actors: public API only, for clusters where no plugin may be registered. Slower than RPC."""

import asyncio
import pickle
import time
from collections.abc import Mapping, Sequence
from typing import Any

from permissible.dask.placement import POLL_SECONDS, Placement
from permissible.dask.worker import Failed, answered
from permissible.distributed.parted import KINDS
from permissible.distributed.session import Batch, Holder, Request


class PartsActor:
    """Holds the partitions of one worker and answers for them."""

    def __init__(self, names: list[str], parts: list[Any]) -> None:
        self.holder = Holder(KINDS, dict(zip(names, parts, strict=True)))

    def answer(self, request: bytes) -> bytes:
        """The answer for all partitions here."""
        return answered(self.holder, pickle.loads(request))


class ActorTransport:
    """One actor on each worker that has partitions; lost ones are made again where the partitions then are."""

    remote = True

    def __init__(self, client: Any, futures: Mapping[str, Any], timeout: float) -> None:
        self.client, self.timeout = client, timeout
        self.placement = Placement(client, futures, timeout)
        self.actors: dict[tuple[str, ...], Any] = {}

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """One answer per actor."""
        payload, deadline = pickle.dumps(request, protocol=5), time.monotonic() + self.timeout
        if request.method == "close":  # said once: a session that nobody closes costs memory only
            return list(self._ask(dict(self.actors), payload, min(deadline, time.monotonic() + 5.0)).values())
        answers: dict[tuple[str, ...], Any] = {}
        while True:
            asked = {names: actor for names, actor in self._actors(deadline).items() if names not in answers}
            answers = {names: reply for names, reply in answers.items() if names in self.actors}
            for names, reply in self._ask(asked, payload, deadline).items():
                answers[names] = reply
            if set(answers) == set(self.actors) and self._complete():
                return list(answers.values())
            if time.monotonic() > deadline:
                raise self.client.sync(self.placement.gave_up)
            time.sleep(POLL_SECONDS)

    def _complete(self) -> bool:
        return sum(map(len, self.actors)) == len(self.placement.futures)

    def _actors(self, deadline: float) -> dict[tuple[str, ...], Any]:
        """Actors for all partitions; new ones where some are without."""
        held = {name for names in self.actors for name in names}
        without = [name for name in self.placement.futures if name not in held]
        if without:
            left = max(deadline - time.monotonic(), 0.1)
            for address, names in self.client.sync(self._groups, without, left).items():
                parts = [self.placement.futures[name] for name in names]
                made = self.client.submit(PartsActor, names, parts, actor=True, workers=[address], pure=False)
                try:
                    self.actors[tuple(names)] = made.result(timeout=max(deadline - time.monotonic(), 0.1))
                except (TimeoutError, OSError):  # TimeoutError is an OSError; older ones are not
                    self.placement.lost(address)
        return self.actors

    async def _groups(self, names: list[str], seconds: float) -> dict[str, list[str]]:
        return await self.placement.groups(names, asyncio.get_running_loop().time() + seconds)

    def _ask(self, actors: dict[tuple[str, ...], Any], payload: bytes, deadline: float) -> dict[tuple[str, ...], Any]:
        """The replies that came; actors that gave none are dropped."""
        replies: dict[tuple[str, ...], Any] = {}
        asked = {names: actor.answer(payload) for names, actor in actors.items()}
        for names, future in asked.items():
            try:
                reply = pickle.loads(future.result(timeout=max(deadline - time.monotonic(), 0.1)))
            except (TimeoutError, OSError, ValueError):  # ValueError: dask's word for an actor that is gone
                del self.actors[names]
                self.placement.lost("", names)
                continue
            if isinstance(reply, Failed):
                raise reply.error
            replies[names] = reply
        return replies
