"""The two passes over partitions on a cluster: surveys are merged in a tree, then each worker bins its partitions.

Both passes are dask task graphs, so dask loads and bins the partitions of a lost worker again.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from dask import delayed

from permissible.bins.binning import BinnedTable, Binning
from permissible.dask.partitions import Loader, Partition
from permissible.distributed.data.content import Content
from permissible.distributed.data.passes import FirstPass, check_same, content_of_rows, encoded
from permissible.distributed.data.survey import Survey
from permissible.rows.part import MemoryPart
from permissible.types import AnyArray

FAN_IN = 8
"""Surveys merged by one task; a survey may hold a sample of 200,000 rows."""


def first_pass(loader: Loader, number: int, max_bins: int, seed: int, *inputs: Any) -> FirstPass:
    """Survey one partition."""
    seen = FirstPass(Survey(max_bins, seed))
    for part in loader.parts(list(inputs), None):
        seen.add(part, number)
    return seen


def merged_passes(passes: Sequence[FirstPass]) -> FirstPass:
    """Merge several surveys."""

    def merge(one: FirstPass, other: FirstPass) -> FirstPass:
        one.merge(other)
        return one

    survey = passes[0].survey
    return reduce(merge, passes, FirstPass(Survey(survey.max_bins, survey.seed)))


def load_and_bin(
    loader: Loader,
    number: int,
    binning: Binning,
    classes: AnyArray,
    weighted: bool,
    seed: int,
    valued: bool,
    content: Content,
    *inputs: Any,
) -> MemoryPart:
    """Read and encode one partition; its rows must be those of the first pass."""
    pieces = [
        encoded(part, binning, classes, weighted, seed, valued) for part in loader.parts(list(inputs), binning.schema)
    ]
    check_same(content, reduce(add, (content_of_rows(piece, classes) for piece in pieces), Content()))
    if len(pieces) == 1:
        return replace(pieces[0], number=number)
    blocks = np.concatenate([piece.codes.blocks for piece in pieces], axis=1)
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    return MemoryPart(
        BinnedTable(binning, blocks, blocks.shape[1]),
        np.concatenate([piece.classes for piece in pieces]),
        np.concatenate(weights) if weights else None,
        np.concatenate([piece.hashes() for piece in pieces]),
        np.concatenate([piece.numbers for piece in pieces if piece.numbers is not None]) if valued else None,
        number,
    )


def survey_of_all(client: Any, partitions: Sequence[Partition], max_bins: int, seed: int) -> FirstPass:
    """Pass 1: surveys merged in a tree; the shape of the tree does not change the result."""
    look, merge = delayed(first_pass, pure=False), delayed(merged_passes, pure=False)
    level = [
        look(partition.loader, number, max_bins, seed, *partition.inputs) for number, partition in enumerate(partitions)
    ]
    while len(level) > 1:
        level = [merge(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
    seen: FirstPass = client.compute(level[0]).result()
    return seen


def binned_futures(
    client: Any, partitions: Sequence[Partition], seen: FirstPass, seed: int, valued: bool = False
) -> dict[str, Any]:
    """Pass 2: futures of the binned partitions by key, which keep the partitions on the workers."""
    # As a node of the graph the bins are sent once, and are available when a lost partition is recomputed.
    bins, classes = delayed(seen.binning(), pure=False), delayed(seen.classes(), pure=False)
    load = delayed(load_and_bin, pure=False)
    tasks = [
        load(
            partition.loader,
            number,
            bins,
            classes,
            seen.weighted,
            seed,
            valued,
            seen.contents.get(number, Content()),
            *partition.inputs,
        )
        for number, partition in enumerate(partitions)
    ]
    return {str(future.key): future for future in client.compute(tasks)}
