"""A binned table on disk: a folder of plain files, read block by block.

    dataset.json        schema, bins, classes, counts, and the name of the folder with the blocks (written last,
    atomically) blocks-*/codes.u1   for each block of 65,536 rows an array (n_column_blocks, rows, 8) of uint8
    blocks-*/target.u2  the class of each row;    weight.f8  its weight, when rows are weighted; hash.u8  its content
    hash blocks-*/values.f8  the values, row by row, if linear classifiers are to be fitted

Blocks are read when needed and then dropped, so memory use does not grow with the file. Data are checked when first
read (store_checks.py), because kernels rely on codes, classes and weights within their ranges.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BLOCK_COLUMNS, Binning
from permissible.distributed.data import mapped
from permissible.distributed.data import store_checks as check
from permissible.distributed.data.mapped import Pages
from permissible.models.files.elements import category_document, read_category, read_schema, schema_document
from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import MAX_BYTES, numbers, parse
from permissible.types import AnyArray, Codes, FloatArray
from permissible.validation import Words, refusal

BLOCK_ROWS = 65_536
FORMAT, VERSION = "permissible binned dataset", 3
DESCRIPTION = "dataset.json"
BLOCKS_NAME = re.compile(r"blocks-[0-9a-f]{16}")
MOST_ROWS = 2**48


@dataclass(frozen=True, slots=True)
class Store:
    """An open folder. `n_rows` rows in blocks of `BLOCK_ROWS`, the last one shorter, in the folder `files`."""

    folder: Path
    files: Path
    binning: Binning
    classes: AnyArray
    n_rows: int
    weighted: bool
    seed: int
    valued: bool = False
    checked: set[tuple[str, int | None]] = field(default_factory=set, compare=False, repr=False)
    maps: dict[str, Pages] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n_blocks(self) -> int:
        """Number of row blocks."""
        return -(-self.n_rows // BLOCK_ROWS)

    @property
    def row_bytes(self) -> int:
        """Bytes of codes per row."""
        return -(-len(self.binning.columns) // BLOCK_COLUMNS) * BLOCK_COLUMNS

    @property
    def sizes(self) -> dict[str, int]:
        """The files of this data set, and the bytes per row of each."""
        found = {"codes.u1": self.row_bytes, "target.u2": 2, "hash.u8": 8}
        if self.weighted:
            found["weight.f8"] = 8
        if self.valued:
            found["values.f8"] = 8 * len(self.binning.columns)
        return found

    def span(self, block: int) -> tuple[int, int]:
        """First and last (exclusive) row of a block."""
        return block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, self.n_rows)

    def codes(self, block: int) -> Codes:
        """The codes of one block, read from disk: shape (n_column_blocks, rows, 8)."""
        first, last = self.span(block)
        flat = self._read("codes.u1", np.dtype(np.uint8), first, last, self.row_bytes)
        return self._checked_codes(flat.reshape(-1, last - first, BLOCK_COLUMNS), block)

    def mapped(self, block: int) -> Codes:
        """The codes of one block as a read-only memory map."""
        first, last = self.span(block)
        codes = self._pages().bytes()[first * self.row_bytes : last * self.row_bytes]
        return self._checked_codes(codes.reshape(-1, last - first, BLOCK_COLUMNS), block)

    def release(self, block: int) -> None:
        """Give back the memory of the codes of one block, if it is beyond the budget."""
        if self.maps and self.n_rows * self.row_bytes > mapped.BUDGET:
            first, last = self.span(block)
            self._pages().release(first * self.row_bytes, last * self.row_bytes)

    def _pages(self) -> Pages:
        """The file of the codes, mapped at the first visit."""
        if "codes.u1" not in self.maps:
            with (self.files / "codes.u1").open("rb") as file:
                self.maps["codes.u1"] = Pages(file, 0, self.n_rows * self.row_bytes)
        return self.maps["codes.u1"]

    def target(self, block: int | None = None) -> npt.NDArray[np.uint16]:
        """Classes of the rows of one block, or of all."""
        found = self._column("target.u2", np.dtype(np.uint16), block)
        if self._unseen("target", block):
            check.check_target(found, len(self.classes))
        return found

    def weight(self, block: int | None = None) -> FloatArray:
        """Weights of the rows of one block, or of all; ones if the rows are not weighted."""
        if not self.weighted:
            first, last = (0, self.n_rows) if block is None else self.span(block)
            return np.ones(last - first)
        found = self._column("weight.f8", np.dtype(np.float64), block)
        if self._unseen("weight", block):
            check.check_weight(found)
        return found

    def hashes(self, block: int | None = None) -> npt.NDArray[np.uint64]:
        """Content hashes of the rows of one block, or of all."""
        return self._column("hash.u8", np.dtype(np.uint64), block)

    def values(self, block: int) -> FloatArray:
        """The values of one block, read from disk: (rows, columns)."""
        width = len(self.binning.columns)
        found = self._read("values.f8", np.dtype(np.float64), *self.span(block), width).reshape(-1, width)
        if self._unseen("values", block):
            check.check_values(found, self.binning.schema)
        return found

    def check_whole(self) -> None:
        """Check all rows once: every class has a row, and the sum of weights is finite."""
        if not self._unseen("whole", None):
            return
        counts, weights = np.zeros(len(self.classes), dtype=np.int64), np.zeros(self.n_blocks)
        for block in range(self.n_blocks):
            counts += np.bincount(self.target(block), minlength=len(counts))
            weights[block] = self.weight(block).sum()
        check.check_totals(counts, weights, self.classes)

    def _checked_codes(self, codes: Codes, block: int) -> Codes:
        if self._unseen("codes", block):
            check.check_codes(codes, self.binning)
        return codes

    def _unseen(self, what: str, block: int | None) -> bool:
        """Whether this part of the data has not been checked yet; marks it as checked."""
        if (what, block) in self.checked:
            return False
        self.checked.add((what, block))
        return True

    def _column(self, name: str, dtype: np.dtype[Any], block: int | None) -> AnyArray:
        first, last = (0, self.n_rows) if block is None else self.span(block)
        return self._read(name, dtype, first, last)

    def _read(self, name: str, dtype: np.dtype[Any], first: int, last: int, width: int = 1) -> AnyArray:
        wanted = (last - first) * width
        found = np.fromfile(self.files / name, dtype, wanted, offset=first * width * dtype.itemsize)
        if len(found) != wanted:
            raise check.refused(f"a complete {name}", f"one of fewer than {last} rows")
        return found


def open_store(folder: Path) -> Store:
    """Open a folder completed by a `StoreWriter`, and check its description."""
    document = description_of(folder)
    if document is None:
        raise refusal("directory", f"a folder with a binned data set ({DESCRIPTION})", str(folder))
    version = document.get("version")
    if version not in (2, VERSION):  # version 2 kept the block files beside the description
        raise refusal("directory", f"a binned data set of version {VERSION}", Words("another one"), "make it anew")
    names = ("format", "version", "n_rows", "weighted", "seed", "values", "schema", "classes", "bins")
    fields = Node(document, DESCRIPTION).fields(*names, *(["blocks"] if version == VERSION else []))
    files = folder / _blocks_name(fields["blocks"]) if version == VERSION else folder
    schema = read_schema(fields["schema"])
    check.check_schema(schema)
    bins = zip(fields["bins"].items(len(schema.columns)), schema.columns, strict=True)
    columns = tuple(check.read_bins(node, column) for node, column in bins)
    classes = check.read_classes([read_category(item) for item in fields["classes"].items()])
    n_rows, seed = fields["n_rows"].integer(1, MOST_ROWS), fields["seed"].integer(0, 2**64)
    weighted, valued = fields["weighted"].boolean(), fields["values"].boolean()
    store = Store(folder, files, Binning(schema, columns), classes, n_rows, weighted, seed, valued)
    check.check_sizes(store.files, store.sizes, store.n_rows)
    return store


def description_of(folder: Path) -> dict[str, Any] | None:
    """The content of `dataset.json`, or None if there is none; a file of another kind is an error."""
    path = folder / DESCRIPTION
    if not path.exists():
        return None
    expected, remedy = f"a folder whose {DESCRIPTION} describes a binned data set", "choose another folder"
    try:
        with path.open("rb") as file:
            document = parse(file.read(MAX_BYTES + 1))
    except ValueError as error:
        raise refusal("directory", expected, Words(f"{path}: {error}"), remedy) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refusal("directory", expected, Words(f"{path}, another file"), remedy)
    return document


def document_of(store: Store) -> Any:
    """The content of `dataset.json`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "blocks": store.files.name,
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


def _blocks_name(node: Node) -> str:
    """The folder of the blocks; its name must have our form and must not be a path."""
    if not BLOCKS_NAME.fullmatch(node.text()):
        raise node.refused("the name of a folder of blocks")
    return node.text()
