"""Any bytes as a CSV file, with every choice of delimiter and header, plain or packed."""

import gzip

from fuzz.target import SCRATCH, allowed, run
from permissible.table.files import open_table
from permissible.table.files.reader import whole
from permissible.table.files.text import FileError


def one(data: bytes) -> None:
    """Every column is read to the end."""
    if not data:
        return
    options, data = data[0], data[1:]
    path = SCRATCH / ("rows.csv.gz" if options & 1 else "rows.csv")
    path.write_bytes(gzip.compress(data, 1) if options & 3 == 1 else data)
    try:
        delimiter, header = (None, ",", ";", "\t")[options >> 2 & 3], (True, False, None, True)[options >> 4 & 3]
        source = open_table(path, delimiter, header)
        kinds = source.kinds()
        columns = whole(source, kinds)
    except FileError as error:
        allowed(error)
        return
    assert len({len(column) for column in columns.values()}) <= 1


if __name__ == "__main__":
    run(
        one,
        "permissible.table.files.delimited",
        "permissible.table.files.cells",
        "permissible.table.files.text",
        "permissible.table.files.fast_csv",
    )
