"""A fast path for CSV without quoting, by pyarrow where it is installed; anything else goes to the csv module.

pyarrow only splits lines into cells. What a cell means is decided by `cells` for both.
"""

from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permissible.table.files.cells import RawChunk

if TYPE_CHECKING:
    from permissible.table.files.delimited import Delimited

SMALL = 1 << 16
"""Smaller files, in bytes, use the csv module: importing pyarrow would take longer."""
BLOCK = 1 << 20
"""Bytes of a block: pyarrow reads up to 32 of them ahead."""


def fast_chunks(file: "Delimited", rows: int) -> Generator[RawChunk, None, int | None]:
    """Yield chunks of `rows` rows. Returns None when all was read, else the number of rows read so far."""
    if not _is_plain(file.path):
        return 0
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return 0
    done = 0
    waiting: list[Any] = []
    try:
        for batch in _batches(pyarrow, file):
            waiting.append(batch)
            if sum(part.num_rows for part in waiting) >= rows:
                table = pyarrow.Table.from_batches(waiting).combine_chunks()
                whole = table.num_rows // rows * rows
                for start in range(0, whole, rows):
                    yield _chunk(file, table.slice(start, rows), done)
                    done += rows
                waiting = table.slice(whole).to_batches()
        if waiting:
            table = pyarrow.Table.from_batches(waiting).combine_chunks()
            if table.num_rows:
                yield _chunk(file, table, done)
    except pyarrow.ArrowException:
        return done  # the csv module continues from here, or reports the error
    return None


def _is_plain(path: Path) -> bool:
    if path.name.lower().endswith((".gz", ".bz2", ".xz")) or path.stat().st_size < SMALL:
        return False
    with open(path, "rb") as handle:
        block = handle.read(BLOCK)
        if block[:4].removeprefix(b"\xef\xbb\xbf")[:1] in (b"\n", b"\r", b" ", b"\t"):
            return False
        while block:  # in blocks, since mapped pages would count as memory of this process
            if b'"' in block or b"\0" in block:
                return False
            block = handle.read(BLOCK)
    return True


def _batches(pyarrow: Any, file: "Delimited") -> Iterator[Any]:
    options = pyarrow.csv
    with (
        pyarrow.OSFile(str(file.path)) as stream,
        options.open_csv(
            stream,
            read_options=options.ReadOptions(
                use_threads=False, block_size=BLOCK, column_names=[*file.names], skip_rows=int(file.has_header)
            ),
            parse_options=options.ParseOptions(delimiter=file.delimiter, quote_char=False, ignore_empty_lines=True),
            convert_options=options.ConvertOptions(
                column_types=dict.fromkeys(file.names, pyarrow.string()), strings_can_be_null=False
            ),
        ) as reader,
    ):
        yield from reader


def _chunk(file: "Delimited", table: Any, start: int) -> RawChunk:
    columns = [column.combine_chunks() for column in table.columns]
    flat = [column.chunk(0) if hasattr(column, "chunks") else column for column in columns]
    return RawChunk(flat, lambda row: next(islice(file.lines(), start + row, None))[0])
