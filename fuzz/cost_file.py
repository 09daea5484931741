"""Any bytes as a CSV file of costs; half of the runs make a table of cells that are nearly right."""

import permissible as pm
from fuzz.target import SCRATCH, allowed, run

CELLS = b'0|1|2.5|a|b|c|reject|-1|nan|inf|1e308|1e999|"a"|"|,|\r\n|\n| |\xff|\0|1_0|0x1|\xd9\xa1|'.split(b"|")


def one(data: bytes) -> None:
    """A cost matrix, or a refusal."""
    path = SCRATCH / "costs.csv"
    path.write_bytes(table(data[1:]) if data[:1] < b"\x80" else data[1:])
    try:
        costs = pm.CostMatrix.from_csv(path)
    except ValueError as error:
        allowed(error)
        return
    assert costs.matrix.shape == (len(costs.classes), len(costs.classes))


def table(data: bytes) -> bytes:
    """Two to five classes, header and names right; each byte beyond the first replaces one cell."""
    size = 2 + data[0] % 4 if data else 2
    names = [b"abcde"[k : k + 1] for k in range(size)]
    rows = [[b"", *names], *([name, *[b"%d" % (name != other) for other in names]] for name in names)]
    if data and data[0] & 4:
        for row in rows:
            row.append(b"reject" if row is rows[0] else b"0.5")
    for place, choice in zip(data[1::2], data[2::2], strict=False):
        row = rows[place // 8 % len(rows)]
        row[place % len(row)] = CELLS[choice % len(CELLS)]
    return b"\n".join(b",".join(row) for row in rows) + b"\n"


if __name__ == "__main__":
    run(one, "permissible.decisions.builders", "permissible.decisions.cost", "permissible.validation.arrays")
