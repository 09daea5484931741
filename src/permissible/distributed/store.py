"""A binned table on disk: a folder of plain files that can be reopened, read block by block.

    dataset.json   schema, bins, classes, counts (written last, so a folder with it is complete)
    codes.u1       for each block of 65,536 rows an array (n_column_blocks, rows, 8) of uint8, one after the other
    target.u2      the class of each row;    weight.f8  its weight, when rows are weighted;    hash.u8  its content hash
    values.f8      the values themselves, row by row, where linear classifiers are to be fitted

Blocks are read into memory when they are needed and dropped, so that memory stays constant whatever the file's size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning, ColumnBins
from permissible.models.atomic import replacing
from permissible.models.document import category_document, read_category, read_schema, schema_document
from permissible.models.node import Node
from permissible.models.strict_json import dump, numbers, parse
from permissible.types import AnyArray, Codes, FloatArray
from permissible.validation import Words, refusal

BLOCK_ROWS = 65_536
VERSION = 2


@dataclass(frozen=True, slots=True)
class Store:
    """An open folder. `n_rows` rows in blocks of `BLOCK_ROWS`, the last one shorter."""

    folder: Path
    binning: Binning
    classes: AnyArray
    n_rows: int
    weighted: bool
    seed: int
    valued: bool = False

    @property
    def n_blocks(self) -> int:
        """Number of row blocks."""
        return -(-self.n_rows // BLOCK_ROWS)

    @property
    def row_bytes(self) -> int:
        """Bytes of codes a row takes."""
        return -(-len(self.binning.columns) // BLOCK_COLUMNS) * BLOCK_COLUMNS

    def span(self, block: int) -> tuple[int, int]:
        """First and last (exclusive) row of a block."""
        return block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, self.n_rows)

    def codes(self, block: int) -> Codes:
        """The codes of one block, read now: shape (n_column_blocks, rows, 8)."""
        first, last = self.span(block)
        flat = np.fromfile(
            self.folder / "codes.u1", np.uint8, (last - first) * self.row_bytes, offset=first * self.row_bytes
        )
        return flat.reshape(self.row_bytes // BLOCK_COLUMNS, last - first, BLOCK_COLUMNS)

    def mapped(self, block: int) -> Codes:
        """The codes of one block as a read-only memory map."""
        first, last = self.span(block)
        shape = (self.row_bytes // BLOCK_COLUMNS, last - first, BLOCK_COLUMNS)
        return np.memmap(self.folder / "codes.u1", np.uint8, "r", first * self.row_bytes, shape)

    def binned(self, block: int) -> BinnedTable:
        """One block as a binned table."""
        codes = self.codes(block)
        return BinnedTable(self.binning, codes, codes.shape[1])

    def target(self, block: int | None = None) -> npt.NDArray[np.uint16]:
        """Classes of the rows of one block, or of all."""
        return self._column("target.u2", np.dtype(np.uint16), block)

    def weight(self, block: int | None = None) -> FloatArray:
        """Weights of the rows of one block, or of all; 1 throughout when they are not weighted."""
        if not self.weighted:
            first, last = (0, self.n_rows) if block is None else self.span(block)
            return np.ones(last - first)
        return self._column("weight.f8", np.dtype(np.float64), block)

    def hashes(self, block: int | None = None) -> npt.NDArray[np.uint64]:
        """Content hashes of the rows of one block, or of all."""
        return self._column("hash.u8", np.dtype(np.uint64), block)

    def values(self, block: int) -> FloatArray:
        """The values of one block, read now: (rows, columns)."""
        (first, last), width = self.span(block), len(self.binning.columns)
        flat = np.fromfile(self.folder / "values.f8", np.float64, (last - first) * width, offset=first * width * 8)
        return flat.reshape(-1, width)

    def _column(self, name: str, dtype: np.dtype[Any], block: int | None) -> AnyArray:
        first, last = (0, self.n_rows) if block is None else self.span(block)
        return np.fromfile(self.folder / name, dtype, last - first, offset=first * dtype.itemsize)


class StoreWriter:
    """Writes the rows of a store as they come, in chunks of any size; `close` completes the folder."""

    def __init__(
        self, folder: Path, binning: Binning, classes: AnyArray, weighted: bool, seed: int, valued: bool = False
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.binning, self.classes, self.weighted, self.seed = folder, binning, classes, weighted, seed
        self.valued = valued
        (folder / "dataset.json").unlink(missing_ok=True)
        names = ["codes.u1", "target.u2", "hash.u8"]
        names += [name for name, kept in (("weight.f8", weighted), ("values.f8", valued)) if kept]
        self._files = {name: (folder / name).open("wb") for name in names}
        self._waiting: list[Codes] = []
        self._n_waiting = 0
        self.n_rows = 0

    def add(
        self,
        codes: Codes,
        target: AnyArray,
        weight: FloatArray | None,
        hashes: AnyArray,
        values: FloatArray | None = None,
    ) -> None:
        """Append rows: codes of shape (n_column_blocks, rows, 8)."""
        if self.valued and values is not None:
            self._files["values.f8"].write(values.astype(np.float64).tobytes())
        self._files["target.u2"].write(target.astype(np.uint16).tobytes())
        self._files["hash.u8"].write(hashes.tobytes())
        if self.weighted:
            ones = np.ones(len(target)) if weight is None else weight
            self._files["weight.f8"].write(ones.astype(np.float64).tobytes())
        self._waiting.append(codes)
        self._n_waiting += codes.shape[1]
        self.n_rows += codes.shape[1]
        while self._n_waiting >= BLOCK_ROWS:
            self._write_block(BLOCK_ROWS)

    def _write_block(self, n_rows: int) -> None:
        joined = np.concatenate(self._waiting, axis=1) if len(self._waiting) > 1 else self._waiting[0]
        self._files["codes.u1"].write(np.ascontiguousarray(joined[:, :n_rows]).tobytes())
        self._waiting = [joined[:, n_rows:]]
        self._n_waiting -= n_rows

    def close(self) -> Store:
        """Write what waits and the description; the folder is complete from now on."""
        if self._n_waiting:
            self._write_block(self._n_waiting)
        for written in self._files.values():
            written.close()
        store = Store(self.folder, self.binning, self.classes, self.n_rows, self.weighted, self.seed, self.valued)
        with replacing(self.folder / "dataset.json") as file:
            file.write(dump(_document(store), indent=1))
        return store


def open_store(folder: Path) -> Store:
    """Open a folder that a `StoreWriter` completed."""
    described = folder / "dataset.json"
    if not described.is_file():
        raise refusal("directory", "a folder with a binned data set (dataset.json)", str(folder))
    fields = Node(parse(described.read_bytes()), str(described)).fields(
        "format", "version", "n_rows", "weighted", "seed", "values", "schema", "classes", "bins"
    )
    if fields["format"].text() != "permissible binned dataset" or fields["version"].integer() != VERSION:
        raise refusal("directory", f"a binned data set of version {VERSION}", Words("another file"), "make it anew")
    schema = read_schema(fields["schema"])
    columns = tuple(_read_bins(node) for node in fields["bins"].items(len(schema.columns)))
    classes = np.array([read_category(node) for node in fields["classes"].items()])
    store = Store(
        folder, Binning(schema, columns), classes, fields["n_rows"].integer(), fields["weighted"].boolean(),
        fields["seed"].integer(), fields["values"].boolean(),
    )  # fmt: skip
    _check_sizes(store)
    return store


def _check_sizes(store: Store) -> None:
    wanted = {"codes.u1": store.row_bytes, "target.u2": 2, "hash.u8": 8, **({"weight.f8": 8} if store.weighted else {})}
    if store.valued:
        wanted["values.f8"] = 8 * len(store.binning.columns)
    for name, size in wanted.items():
        path = store.folder / name
        found = path.stat().st_size if path.is_file() else -1
        if found != size * store.n_rows:
            raise refusal(
                "directory", f"a complete data set ({name} of {size * store.n_rows} bytes)",
                Words(f"{found} bytes" if found >= 0 else "none"), "make it anew",
            )  # fmt: skip


def _document(store: Store) -> Any:
    return {
        "format": "permissible binned dataset",
        "version": VERSION,
        "n_rows": store.n_rows,
        "weighted": store.weighted,
        "seed": store.seed,
        "values": store.valued,
        "schema": schema_document(store.binning.schema),
        "classes": [category_document(label) for label in store.classes.tolist()],
        "bins": [
            {
                "n_bins": bins.n_bins,
                "has_missing": bins.has_missing,
                "thresholds": numbers(bins.thresholds),
                "code_of_category": [int(code) for code in bins.code_of_category],
            }
            for bins in store.binning.columns
        ],
    }


def _read_bins(node: Node) -> ColumnBins:
    fields = node.fields("n_bins", "has_missing", "thresholds", "code_of_category")
    codes = fields["code_of_category"].integers(low=0, high=256).astype(np.uint8)
    return ColumnBins(
        fields["n_bins"].integer(0, 256),
        fields["has_missing"].boolean(),
        fields["thresholds"].floats(finite=True),
        codes,
    )


def blocks(store: Store) -> Iterator[tuple[int, BinnedTable]]:
    """All blocks in order."""
    for block in range(store.n_blocks):
        yield block, store.binned(block)
