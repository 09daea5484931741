"""Data larger than memory: two passes over the source, then blocks of uint8 codes in a folder that can be reopened.

Pass 1 surveys the rows (survey.py), pass 2 encodes them (store.py). The bins are those that `find_bins` finds in
memory, so models are identical bit for bit for any chunk size.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from permissible.distributed.data.batches import Batches, Columns, Paths, batch_columns, file_columns
from permissible.distributed.data.block import BlockPart
from permissible.distributed.data.content import Content
from permissible.distributed.data.passes import FirstPass, SecondPass, check_same, content_of_rows
from permissible.distributed.data.store import Store, open_store
from permissible.distributed.data.store_writer import StoreWriter, check_replaceable
from permissible.distributed.data.survey import Survey
from permissible.rows.local import LocalSource
from permissible.table.schema import Schema
from permissible.types import AnyArray


class BinnedDataset:
    """A table larger than memory, binned, with its target and weights.

    Create one with :meth:`from_parquet`, :meth:`from_csv`, :meth:`from_arrow` or :meth:`from_batches`, reopen its
    folder with :meth:`open`, and pass it to an estimator: ``ULSClassifier().fit(dataset)``.

    Examples
    --------
    >>> import numpy as np
    >>> from permissible.distributed.data.dataset import BinnedDataset
    >>> parts = [{"x": np.arange(4.0) + 4 * k, "y": [0, 0, 1, 1]} for k in range(2)]
    >>> dataset = BinnedDataset.from_batches(parts, target="y")
    >>> dataset.n_rows, dataset.classes.tolist(), dataset.schema.names
    (8, [0, 1], ('x',))
    """

    def __init__(self, store: Store, temporary: bool = False) -> None:
        self.store, self.valued = store, store.valued
        if temporary:  # delete a temporary folder with the data set
            weakref.finalize(self, shutil.rmtree, store.folder, ignore_errors=True)

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return self.store.n_rows

    @property
    def schema(self) -> Schema:
        """The feature columns."""
        return self.store.binning.schema

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted; the target holds positions in this array."""
        return self.store.classes

    def source(self) -> LocalSource:
        """The rows as a source for a fit: one part per block."""
        self.store.check_whole()
        parts = tuple(BlockPart(self.store, block) for block in range(self.store.n_blocks))
        return LocalSource(parts, self.store.binning, self.classes, self.n_rows, self.store.weighted)

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> "BinnedDataset":
        """Reopen a folder written earlier."""
        return cls(open_store(Path(directory)))

    @classmethod
    def from_parquet(cls, path: Paths, *, target: str, **options: Any) -> "BinnedDataset":
        """Read one Parquet file or several with the same columns; options as in `from_batches`."""
        return cls._build(file_columns(path, target), target, **options)

    @classmethod
    def from_csv(cls, path: Paths, *, target: str, **options: Any) -> "BinnedDataset":
        """Read one CSV file or several with the same columns; options as in `from_batches`."""
        return cls._build(file_columns(path, target), target, **options)

    @classmethod
    def from_arrow(cls, path: Paths, *, target: str, **options: Any) -> "BinnedDataset":
        """Read one Arrow (Feather, IPC) file or several with the same columns; options as in `from_batches`."""
        return cls._build(file_columns(path, target), target, **options)

    @classmethod
    def from_batches(
        cls, batches: Iterable[Any] | Callable[[], Iterable[Any]], *, target: str, **options: Any
    ) -> "BinnedDataset":
        """Read tables one at a time, in two passes.

        Parameters
        ----------
        batches : list of tables, or a function that returns a new iterator over them
            Data frames of any library, record batches, or mappings from column name to values.
        target : str
            The column of labels.
        weight : str, optional
            The column of weights; rows of weight 0 are ignored.
        drop : sequence of str
            Columns to ignore.
        categorical_features : sequence of str
            Numeric columns to treat as categorical.
        directory : path, optional
            Folder for the blocks, which can be reopened later; a temporary folder if None. An existing data set is
            replaced only when the new one is complete.
        max_bins, seed : int
            As `max_bins` and `random_state` of the estimators.
        keep_values : bool
            Also write the values, 8 bytes each: linear learners need them (`BoundaryClassifier`, and
            `MCBoostClassifier` with ``learner="linear"``).
        """
        return cls._build(batch_columns(batches), target, **options)

    @classmethod
    def _build(
        cls,
        columns: Callable[[], Iterator[Columns]],
        target: str,
        *,
        weight: str | None = None,
        drop: Sequence[str] = (),
        categorical_features: Sequence[str] = (),
        directory: str | os.PathLike[str] | None = None,
        max_bins: int = 255,
        seed: int = 0,
        keep_values: bool = False,
    ) -> "BinnedDataset":
        source = Batches(columns, target, weight, frozenset(drop), tuple(categorical_features))
        if directory is not None:
            check_replaceable(Path(directory))
        seen = _first_pass(source, max_bins, seed)
        seen.classes()  # raise errors before a folder is created
        if directory is not None:
            return cls(_second_pass(source, seen, Path(directory), seed, keep_values))
        folder = Path(tempfile.mkdtemp(prefix="permissible-"))
        try:
            return cls(_second_pass(source, seen, folder, seed, keep_values), temporary=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _first_pass(source: Batches, max_bins: int, seed: int) -> FirstPass:
    """Survey the rows and collect the labels."""
    seen = FirstPass(Survey(max_bins, seed))
    for part in source.parts():
        seen.add(part)
    return seen


def _second_pass(source: Batches, seen: FirstPass, folder: Path, seed: int, valued: bool) -> Store:
    """Encode and write the rows; they must be those of the first pass."""
    binning, classes, first, second = seen.binning(), seen.classes(), seen.contents[0], Content()
    plan = SecondPass(binning, classes, seen.weighted, seed, valued)
    with StoreWriter(folder, binning, classes, seen.weighted, seed, valued) as writer:
        for part in source.parts(binning.schema):
            rows = plan.encode(part)
            second += content_of_rows(rows, classes)
            if second.n_rows > first.n_rows:  # an endless source must not fill the disk
                check_same(first, second)
            writer.add(rows.codes.blocks, rows.classes, rows.weights, rows.hashes(), rows.numbers)
        check_same(first, second)
        return writer.close()
