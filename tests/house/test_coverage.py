"""docs/coverage.md: every item of the papers has a line, and the places and tests, each by its name, exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if re.match(r"\| \d+ \|", line)
]
STATUSES = ("works", "corrected", "other data", "partly", "missing")


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def holds(path: Path, symbol: str) -> bool:
    """Whether a file defines a name, as a function, a class, a field or a constant."""
    return re.search(rf"\b{re.escape(symbol)}\b\s*(\(|:|=|\[)", path.read_text(encoding="utf-8")) is not None


def test_all_items_are_listed_once():
    assert [int(row[0]) for row in ROWS] == list(range(1, 206))


def test_every_place_exists_and_holds_its_name():
    wrong = []
    for row in ROWS:
        for name in names(row[3]):
            path, _, symbol = name.partition(":")
            place = ROOT / path
            if not place.exists() or (symbol and not holds(place, symbol)):
                wrong.append((row[0], name))
    assert not wrong


def test_every_test_exists():
    wrong = []
    for row in ROWS:
        for name in names(row[4]):
            path, _, test = name.partition("::")
            place = ROOT / path
            if not test or not place.exists() or f"def {test}(" not in place.read_text(encoding="utf-8"):
                wrong.append((row[0], name))
    assert not wrong


def test_what_works_has_a_place_and_a_test_and_what_does_not_has_a_reason():
    for row in ROWS:
        number, status, remark = row[0], row[5], row[6]
        assert status in STATUSES, number
        if status in ("partly", "missing", "other data"):
            assert remark, number
        else:
            assert names(row[3]), number
            assert names(row[4]), number


def test_the_counts_are_those_of_the_lines():
    head = re.search(r"^\| paper \| (.+) \|$", TEXT, re.M).group(1).split(" | ")
    for paper in "NITKB":
        counted = re.search(rf"^\| {paper} \| (.+) \|$", TEXT, re.M).group(1).split(" | ")
        found = [row[5] for row in ROWS if row[1] == paper]
        assert {status: found.count(status) for status in head} == dict(zip(head, map(int, counted), strict=True))
