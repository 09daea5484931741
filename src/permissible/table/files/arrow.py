"""Parquet and Arrow files, through pyarrow when it is installed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from permissible.table.files.cells import CellKind
from permissible.table.files.reader import ROWS, Chunk
from permissible.table.files.text import FileError
from permissible.types import AnyArray


class Arrow:
    """A file of record batches with typed columns."""

    def __init__(self, path: Path, rows: int = ROWS) -> None:
        try:
            import pyarrow as pa
        except ImportError:
            raise FileError(f"reading {path.name} needs pyarrow: pip install 'permissible[arrow]'.") from None
        self._arrow, self.path, self.rows = pa, path, rows
        try:
            self._schema = next(self._open())
        except (pa.ArrowException, OSError) as error:
            raise FileError(f"{path} could not be read: {str(error).splitlines()[0]}.") from None
        self.names = tuple(self._schema.names)

    def kinds(self) -> Mapping[str, CellKind]:
        """The kinds by the types of the file."""
        return {field.name: self._kind(field) for field in self._schema}

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, as columns of the given kinds."""
        batches = self._open()
        try:
            next(batches)
            for batch in batches:
                yield {name: self._array(batch.column(name), name, kind) for name, kind in kinds.items()}
        except (self._arrow.ArrowException, OSError) as error:
            raise FileError(f"{self.path} could not be read: {str(error).splitlines()[0]}.") from None

    def _open(self) -> Iterator[Any]:
        """The schema first, then the record batches."""
        if self.path.suffix.lower() in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            with pq.ParquetFile(self.path) as file:
                yield file.schema_arrow
                yield from file.iter_batches(batch_size=self.rows)
            return
        with self._arrow.memory_map(str(self.path)) as stream:
            try:
                reader = self._arrow.ipc.open_file(stream)
                batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
            except self._arrow.ArrowInvalid:
                stream.seek(0)
                reader = self._arrow.ipc.open_stream(stream)
                batches = iter(reader)
            yield reader.schema
            for batch in batches:
                for start in range(0, batch.num_rows, self.rows):
                    yield batch.slice(start, self.rows)

    def _kind(self, field: Any) -> CellKind:
        types, kind = self._arrow.types, field.type
        if types.is_dictionary(kind):
            self._kind(field.with_type(kind.value_type))  # categories that are dates are refused as dates are
            return "text"
        if types.is_boolean(kind):
            return "boolean"
        if types.is_integer(kind):
            return "integer"
        if types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        if types.is_string(kind) or types.is_large_string(kind):
            return "text"
        if types.is_null(kind):
            return "empty"
        raise FileError(
            f"column {field.name!r} of {self.path} must hold numbers, truth values or text, got {kind}; leave it out with --drop."
        )

    def _array(self, column: Any, name: str, kind: CellKind) -> AnyArray:
        if kind in ("text", "boolean"):
            encoded = column if self._arrow.types.is_dictionary(column.type) else column.dictionary_encode()
            different = encoded.dictionary.to_pylist()
            values = np.empty(len(different) + 1, dtype=object)  # the last is for missing
            values[:-1] = [None if value != value else value for value in different]  # NaN is missing
            return np.asarray(values[np.asarray(encoded.indices.fill_null(len(different)))])
        types, found = self._arrow.types, column.type
        tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        if not any(test(found) for test in tests):
            raise FileError(f"column {name!r} must hold numbers, got {found}.")
        try:
            numbers = column.cast(self._arrow.float64())
        except self._arrow.ArrowInvalid:
            raise FileError(
                f"column {name!r} of {self.path} must hold integers up to 2^53, the limit of float64, got larger ones; "
                "store them as text, or leave the column out with --drop."
            ) from None
        return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
