"""Messages of a fit over dask's own connections: one request and one answer per worker, no task graph.

A message that fails or times out is sent again, to the worker that holds the partitions by then. This is safe: a
repeated change is answered from memory, and a reloaded partition reports that it is behind (session.py).
"""

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from distributed.comm.core import CommClosedError

from permissible.dask.placement import POLL_SECONDS, Placement
from permissible.dask.worker import HANDLER, Absent, AnswerPlugin, Failed
from permissible.distributed.protocol.session import Batch, Request


class RPCTransport:
    """Asks the workers through the handler that `AnswerPlugin` adds; counts messages sent and bytes received."""

    def __init__(self, client: Any, futures: Mapping[str, Any], timeout: float) -> None:
        client.register_plugin(AnswerPlugin())
        self.client, self.timeout = client, timeout
        self.placement = Placement(client, futures, timeout)
        self.messages, self.received = 0, 0

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """One answer per worker, or more after a worker was lost."""
        ask = self._tell if request.closes else self._send
        answers: list[object] = self.client.sync(ask, request)
        return answers

    async def _tell(self, request: Request | Batch) -> list[Any]:
        """Send once to the known workers without retrying: an unclosed session only costs memory."""
        deadline = asyncio.get_running_loop().time() + min(self.timeout, 5.0)
        groups = await self.placement.groups(self.placement.holder, deadline)
        payload = pickle.dumps(request, protocol=5)
        await self._replies(groups, payload, deadline)
        return []

    async def _send(self, request: Request | Batch) -> list[Any]:
        payload = pickle.dumps(request, protocol=5)
        deadline = asyncio.get_running_loop().time() + self.timeout
        waiting, answers = dict.fromkeys(self.placement.futures), list[Any]()
        while waiting:
            groups = await self.placement.groups(waiting, deadline)
            replies = await self._replies(groups, payload, deadline)
            for (address, names), reply in zip(groups.items(), replies, strict=True):
                if isinstance(reply, Failed):
                    raise reply.error
                if isinstance(reply, Absent):
                    self.placement.lost(address, reply.names)
                    continue
                answers.append(reply)
                for name in names:
                    del waiting[name]
            if waiting:
                if asyncio.get_running_loop().time() > deadline:
                    raise await self.placement.gave_up()
                await asyncio.sleep(POLL_SECONDS)
        return answers

    async def _replies(self, groups: Mapping[str, list[str]], payload: bytes, deadline: float) -> list[object]:
        """The reply of each worker; `Absent` from one that cannot be reached or is too slow."""
        calls = [asyncio.ensure_future(self._ask(*group, payload)) for group in groups.items()]
        if not calls:
            return []
        left = max(deadline - asyncio.get_running_loop().time(), 0.1)
        _, late = await asyncio.wait(calls, timeout=left)
        for call in late:
            call.cancel()
        named = zip(groups.values(), calls, strict=True)
        return [Absent(tuple(names)) if call in late else call.result() for names, call in named]

    async def _ask(self, address: str, names: list[str], payload: bytes) -> object:
        """The reply of one worker."""
        self.messages += 1
        try:
            reply = await getattr(self.client.rpc(address), HANDLER)(request=payload, names=names)
        except (OSError, CommClosedError):
            return Absent(tuple(names))
        if not isinstance(reply, bytes):  # the worker has not set up its plugin yet
            return Absent(tuple(names))
        self.received += len(reply)
        return pickle.loads(reply)
