"""Parquet, Arrow and Feather files through pyarrow, which is imported only when such a file is asked for."""

from collections.abc import Iterator
from os import fspath
from typing import Any

from permissible.table.readers.source import FileError, FilePath

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")


def arrow_chunks(path: FilePath, rows: int) -> Iterator[Any]:
    """The file as pyarrow tables of at most so many rows."""
    pyarrow = _pyarrow(path)
    try:
        if fspath(path).lower().endswith(PARQUET):
            yield from _parquet_chunks(path, rows)
        else:
            yield from _arrow_chunks(path, rows)
    except (OSError, pyarrow.ArrowException) as error:
        words = " ".join(str(error).split())
        raise FileError(path, None, f"the file cannot be read ({words[:200]})") from None


def _pyarrow(path: FilePath) -> Any:
    try:
        import pyarrow
    except ImportError:
        sentence = "reading Parquet and Arrow files needs pyarrow; install permissible[arrow]"
        raise FileError(path, None, sentence) from None
    return pyarrow


def _parquet_chunks(path: FilePath, rows: int) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(fspath(path)) as file:
        empty = True
        for batch in file.iter_batches(batch_size=rows):
            empty = False
            yield pyarrow.Table.from_batches([batch])
        if empty:
            yield file.schema_arrow.empty_table()


def _arrow_chunks(path: FilePath, rows: int) -> Iterator[Any]:
    import pyarrow
    import pyarrow.ipc

    with pyarrow.memory_map(fspath(path)) as file:
        try:
            reader = pyarrow.ipc.open_file(file)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        except pyarrow.ArrowInvalid:  # the stream format has no footer
            file.seek(0)
            reader = pyarrow.ipc.open_stream(file)
            batches = iter(reader)
        empty = True
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                empty = False
                yield pyarrow.Table.from_batches([batch.slice(start, rows)])
        if empty:
            yield reader.schema.empty_table()
