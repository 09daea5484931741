"""The two passes over partitions on a cluster: a survey, merged in a tree, then each worker bins its partitions.

A survey moves few bytes. Each partition first sends the smallest content hashes of its rows, which give the common bound
of the sample; then only the rows up to that bound. Partitions of a collection stay on their workers between the passes,
so they are loaded once; files are read again, in chunks. Both passes are dask task graphs, so dask loads and bins the
partitions of a lost worker again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from dask import delayed

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.hashing import Hashes
from permissible.dask.partitions import Loader, Partition
from permissible.distributed.data.batches import LabelledTable
from permissible.distributed.data.content import Content
from permissible.distributed.data.passes import FirstPass, check_same, content_of_rows, counted, encoded
from permissible.distributed.data.survey import Rows, Survey, bound_of, smallest_hashes
from permissible.rows.part import MemoryPart
from permissible.table.match import matched
from permissible.types import AnyArray

FAN_IN = 8
"""Outlines merged by one task; an outline holds up to 200,000 hashes."""


@dataclass(slots=True)
class Looked:
    """What pass 1 keeps of one partition on its worker: its rows and their hashes, of files a sample instead."""

    first: FirstPass
    smallest: Hashes
    kept: tuple[tuple[LabelledTable, Hashes], ...] = ()

    def __sizeof__(self) -> int:
        """Bytes of the hashes, so that dask bins a partition where it lies; the collection has those of the rows."""
        return self.smallest.nbytes + sum(hashes.nbytes for _, hashes in self.kept)


def look(loader: Loader, number: int, max_bins: int, seed: int, *inputs: object) -> Looked:
    """Survey one partition."""
    first, kept, smallest = FirstPass(Survey(max_bins, seed)), list[tuple[LabelledTable, Hashes]](), smallest_hashes([])
    for part in loader.parts(list(inputs), None):
        hashes = first.add(part, number, sampled=not loader.in_memory)
        if loader.in_memory:
            kept.append((counted(part), hashes))
        smallest = smallest_hashes([smallest, hashes])
    return Looked(first, smallest, tuple(kept))


def outline_of(looked: Looked) -> Looked:
    """What a partition sends first: neither rows nor a sample."""
    return Looked(replace(looked.first, survey=looked.first.survey.without_sample()), looked.smallest)


def merged_outlines(outlines: Sequence[Looked]) -> Looked:
    """Merge what several partitions reported in the first pass."""
    survey = outlines[0].first.survey
    merged = FirstPass(Survey(survey.max_bins, survey.seed))
    for outline in outlines:
        merged.merge(outline.first)
    return Looked(merged, smallest_hashes([outline.smallest for outline in outlines]))


def drawn(looked: Looked, bound: int) -> Rows:
    """The rows of a partition that belong to the sample."""
    survey = looked.first.survey
    if looked.kept:
        survey = survey.without_sample()
        for part, hashes in looked.kept:
            survey.draw(part.table, part.weight, hashes, bound)
    return survey.sample.below(bound)


@dataclass(frozen=True, slots=True)
class Plan:
    """What pass 2 needs to know: bins, classes, whether rows are weighted, the seed, and whether values are kept."""

    binning: Binning
    classes: AnyArray
    weighted: bool
    seed: int
    valued: bool = False

    def encode(self, part: LabelledTable, hashes: Hashes | None = None) -> MemoryPart:
        """Encode some rows."""
        return encoded(part, self.binning, self.classes, self.weighted, self.seed, self.valued, hashes)


def load_and_bin(looked: Looked, loader: Loader, number: int, plan: Plan, content: Content) -> MemoryPart:
    """Encode one partition; rows that were read or computed again must be those of the first pass."""
    schema, again = plan.binning.schema, looked.first.contents.get(number, Content())
    if looked.kept:
        pieces = [plan.encode(replace(part, table=matched(part.table, schema)), hashes) for part, hashes in looked.kept]
    else:
        pieces = [plan.encode(part) for part in loader.parts([], schema)]
        again = reduce(add, (content_of_rows(piece, plan.classes) for piece in pieces), Content())
    check_same(content, again)
    if len(pieces) == 1:
        return replace(pieces[0], number=number)
    blocks = np.concatenate([piece.codes.blocks for piece in pieces], axis=1)
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    return MemoryPart(
        BinnedTable(plan.binning, blocks, blocks.shape[1]),
        np.concatenate([piece.classes for piece in pieces]),
        np.concatenate(weights) if weights else None,
        np.concatenate([piece.hashes() for piece in pieces]),
        np.concatenate([piece.numbers for piece in pieces if piece.numbers is not None]) if plan.valued else None,
        number,
    )


def survey_of_all(
    client: Any, partitions: Sequence[Partition], max_bins: int, seed: int
) -> tuple[FirstPass, list[object]]:
    """Pass 1: outlines merged in a tree, then the rows of the sample; the shape of the tree changes nothing.

    Returns the merged first pass, and the futures of what each worker keeps of its partitions.
    """
    task = delayed(look, pure=False)
    looked = client.compute(
        [task(part.loader, number, max_bins, seed, *part.inputs) for number, part in enumerate(partitions)]
    )
    level = client.map(outline_of, looked, pure=False)
    while len(level) > 1:
        groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
        level = [client.submit(merged_outlines, group, pure=False) for group in groups]
    merged = level[0].result()
    for rows in client.gather(client.map(drawn, looked, bound=bound_of(merged.smallest), pure=False)):
        merged.first.survey.sample.add(rows)
    return merged.first, looked


def binned_futures(
    client: Any, partitions: Sequence[Partition], surveyed: tuple[FirstPass, Sequence[object]], plan: Plan
) -> dict[str, Any]:
    """Pass 2: futures of the binned partitions by key, which keep the partitions on the workers."""
    first, looked = surveyed
    # As a node of the graph the bins are sent once, and are available when a lost partition is recomputed.
    sent = delayed(plan, pure=False)
    load = delayed(load_and_bin, pure=False)
    tasks = [
        load(of, partition.loader, number, sent, first.contents.get(number, Content()))
        for number, (partition, of) in enumerate(zip(partitions, looked, strict=True))
    ]
    return {str(future.key): future for future in client.compute(tasks)}
