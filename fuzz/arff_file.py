"""Any bytes as an ARFF file; half of the runs begin with a good header."""

from fuzz.target import SCRATCH, allowed, run
from permissible.table.files import open_table
from permissible.table.files.reader import whole
from permissible.table.files.text import FileError

HEADER = b"@relation r\n@attribute a numeric\n@attribute 'b c' {x, 'y z', w}\n@attribute s string\n@data\n"


def one(data: bytes) -> None:
    """Every column is read to the end."""
    path = SCRATCH / "rows.arff"
    path.write_bytes(HEADER + data[1:] if data[:1] < b"\x80" else data[1:])
    try:
        source = open_table(path)
        columns = whole(source, source.kinds())
    except FileError as error:
        allowed(error)
        return
    assert len({len(column) for column in columns.values()}) <= 1


if __name__ == "__main__":
    run(one, "permissible.table.files.arff", "permissible.table.files.cells", "permissible.table.files.text")
