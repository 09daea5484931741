"""Which worker holds each partition: decided by dask, looked up when needed, awaited while a lost one is recomputed."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

POLL_SECONDS = 0.05
Answer = TypeVar("Answer")


async def within(seconds: float, work: Awaitable[Answer]) -> Answer:
    """The result, or TimeoutError after this many seconds, even if the work cannot be cancelled."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=max(seconds, 0.1))
    if not done:
        task.cancel()
        raise TimeoutError
    return task.result()


class WorkersLostError(RuntimeError):
    """The cluster did not restore the data in time."""


class Placement:
    """The last known worker of each partition. `timeout` bounds every wait."""

    def __init__(self, client: Any, futures: Mapping[str, Any], timeout: float) -> None:
        self.client, self.futures, self.timeout = client, dict(futures), timeout
        self.holder: dict[str, str] = {}

    def lost(self, address: str, names: Iterable[str] = ()) -> None:
        """A worker did not answer, or no longer has these partitions."""
        gone = set(names) or {name for name, holder in self.holder.items() if holder == address}
        for name in gone:
            self.holder.pop(name, None)

    async def groups(self, names: Iterable[str], deadline: float) -> dict[str, list[str]]:
        """The named partitions by worker; waits until every partition is held by a worker."""
        wanted = list(names)
        while True:
            unknown = [name for name in wanted if name not in self.holder]
            if not unknown:
                break
            with suppress(TimeoutError, OSError):  # the scheduler is slow: use what was found
                await within(deadline - asyncio.get_running_loop().time(), self._look_up(unknown))
            if all(name in self.holder for name in unknown):
                break
            if asyncio.get_running_loop().time() > deadline:
                raise await self.gave_up()
            await asyncio.sleep(POLL_SECONDS)
        found: dict[str, list[str]] = {}
        for name in wanted:
            found.setdefault(self.holder[name], []).append(name)
        return found

    async def _look_up(self, names: list[str]) -> None:
        for name in names:
            if self.futures[name].status in ("error", "cancelled"):
                await self.futures[name]._result()  # raises what went wrong on the worker
        who_has = await self.client.scheduler.who_has(keys=names)
        load: dict[str, int] = {}
        for holder in self.holder.values():
            load[holder] = load.get(holder, 0) + 1
        for name in names:
            if who_has.get(name):
                chosen = min(who_has[name], key=lambda address: (load.get(address, 0), address))
                self.holder[name] = chosen
                load[chosen] = load.get(chosen, 0) + 1

    async def gave_up(self) -> WorkersLostError:
        """One sentence on why the fit cannot continue."""
        try:
            alive = len(await within(5.0, self.client.scheduler.ncores()))
        except (TimeoutError, OSError):
            return WorkersLostError(
                f"The scheduler did not answer within {self.timeout:g} seconds; the fit was stopped."
            )
        gone = sum(name not in self.holder for name in self.futures)
        return WorkersLostError(
            f"{gone} of {len(self.futures)} partitions had no answer from a worker for {self.timeout:g} seconds "
            f"({alive} workers are connected); start workers, or raise `timeout`, and fit again"
            " (with `checkpoint=` a fit continues where it stopped)."
        )
