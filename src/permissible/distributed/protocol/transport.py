"""How requests reach the workers and their answers come back."""

from collections.abc import Sequence
from typing import Any, Protocol

from permissible.distributed.protocol.session import Batch, Request


class Transport(Protocol):
    """Sends a request to every holder of parts and returns their answers."""

    def send(self, request: Request | Batch) -> Sequence[Any]:
        """One answer per holder; each may be `Behind` or `NoRows`."""
        ...
