"""A table in parts: how to reach them, what is known of the whole, and the kinds of rows that holders of parts can build."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.distributed.boundary_rows import LinearKind
from permissible.distributed.mcboost_rows import BoostKind, JudgeKind
from permissible.distributed.protocol.journal import Journal
from permissible.distributed.protocol.session import Kind, Opening
from permissible.distributed.protocol.transport import RemoteRows, Transport
from permissible.distributed.udt import TreeKind
from permissible.distributed.uls_rows import SurveyKind, ULSKind
from permissible.types import AnyArray

KINDS: dict[str, Kind] = {
    "uls": ULSKind(), "survey": SurveyKind(), "tree": TreeKind(), "mcboost": BoostKind(), "mcboost judge": JudgeKind(),
    "linear": LinearKind(),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Parted:
    """A table in parts: how to reach them, and what is known of the whole."""

    transport: Transport
    binning: Binning
    classes: AnyArray
    n_rows: int
    weighted: bool
    journal: Journal | None = None

    def survey(self, method: str, *arguments: Any) -> list[Any]:
        """Ask every part about itself; the answers in the order of the parts."""
        remote = RemoteRows(self.transport, KINDS["survey"], Opening("survey", None))
        answers = remote.ask(method, *arguments)
        remote.close()
        return [answer for _, answer in sorted(answers, key=lambda item: item[0])]

    def rows(self, most: int) -> tuple[BinnedTable | None, AnyArray, AnyArray | None]:
        """All rows with their classes and weights, in the order of the parts; none where they are more than so many."""
        if self.n_rows > most:
            return None, np.zeros(0), None
        blocks, targets, weights = zip(*self.survey("rows"), strict=True)
        codes = np.ascontiguousarray(np.concatenate(blocks, axis=1))
        weight = np.concatenate([of for of in weights if of is not None]) if self.weighted else None
        return BinnedTable(self.binning, codes, codes.shape[1]), np.concatenate(targets), weight

    def numbered(self, method: str, *arguments: Any) -> dict[int, Any]:
        """The same by part number."""
        remote = RemoteRows(self.transport, KINDS["survey"], Opening("survey", None))
        answers = dict(remote.ask(method, *arguments))
        remote.close()
        return answers
