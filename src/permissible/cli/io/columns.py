"""The kind of each column of a file: numbers in some notation, dates, identifiers of rows, constants."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from permissible.cli.errors import UseError
from permissible.cli.options import FileOptions
from permissible.table.files.cells import CellKind
from permissible.table.files.notations import AmbiguousError, Notation, notation_of, numbers
from permissible.table.files.reader import FileReader
from permissible.types import AnyArray
from permissible.validation import shown

DATES = {"auto": None, "text": None, "day-first": True, "month-first": False}
ENOUGH_NAMES = 20
"""Fewer different values may be categories of a small table."""
NEARLY_ALL = 0.95
"""Share of different values from which texts are names of the rows."""
REMEMBERED = 1_000_000
"""Values of a column that are remembered, so that memory does not grow with the file."""
IDENTIFIER = "left out, since nearly every value differs (--categorical or --numeric keeps it)"
_ID_NAME = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|index|row|nr|no)$|^unnamed: 0$", re.IGNORECASE)
_ID_CAPITAL = re.compile(r"[a-z](Id|ID)$")
_WORDS: dict[CellKind, str] = {
    "integer": "numeric",
    "number": "numeric",
    "boolean": "boolean",
    "text": "categorical",
    "empty": "numeric (all missing)",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How the columns were read: the notation of those that are numbers written in one, and each column's kind in words."""

    notations: dict[str, Notation] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)


def read_columns(
    columns: dict[str, AnyArray],
    kinds: Mapping[str, CellKind],
    options: FileOptions,
    chosen: tuple[Sequence[str], Sequence[str]],
) -> tuple[dict[str, AnyArray], Reading]:
    """Numbers and dates of text columns as numbers, names of the rows left out, and what was found.

    `chosen` has the columns that the user named categorical or numeric.
    """
    categorical, numeric = chosen
    found = dict(columns)
    notations: dict[str, Notation] = {}
    for name, values in columns.items():
        if values.dtype != object or kinds[name] == "boolean" or name in categorical:
            continue
        notation = _notation(name, values, options)
        if notation is None:
            if name in numeric or kinds[name] == "number":
                raise UseError(f"column {name!r} must hold numbers, got {shown(_first_text(values))}.")
            continue
        found[name], notations[name] = converted(name, values, notation), notation
    names = identifiers(
        [columns], [*columns], {**kinds, **dict.fromkeys(notations, "number")}, (*categorical, *numeric)
    )
    words = kinds_shown([*columns], kinds, categorical, names)
    for name, notation in notations.items():
        words[name] = f"{notation}, as days since 1970-01-01" if "date" in notation else f"numeric ({notation})"
    for name in [name for name, values in found.items() if name not in names and _constant(values)]:
        words[name] = "constant, so it carries no information"
    return {name: values for name, values in found.items() if name not in names}, Reading(
        notations, tuple(names), words
    )


def _first_text(values: AnyArray) -> object:
    return next((value for value in values.tolist() if value is not None), None)


def _notation(name: str, values: AnyArray, options: FileOptions) -> Notation | None:
    if options.dates not in DATES:
        raise UseError(f"--dates must be one of {', '.join(DATES)}, got {options.dates!r}.")
    if options.decimal not in (None, ".", ","):
        raise UseError(f"--decimal must be . or a comma, got {options.decimal!r}.")
    present = {value for value in values.tolist() if value is not None}
    try:
        found = notation_of(present, options.decimal, DATES[options.dates])
    except AmbiguousError as unclear:
        if options.dates == "text" and "--dates" in str(unclear):
            return None
        raise UseError(f"column {name!r}: {unclear}.") from None
    return None if found is not None and "date" in found and options.dates == "text" else found


def refuse_notations(
    source: FileReader, features: Sequence[str], kinds: Mapping[str, CellKind], kept: Sequence[str]
) -> None:
    """Refuse numbers and dates that only a fit in memory reads, as the first rows show them."""
    texts: dict[str, CellKind] = {name: "text" for name in features if kinds[name] == "text" and name not in kept}
    first = next(iter(source.chunks(texts)), {}) if texts else {}
    for name, values in first.items():
        notation = _notation(name, values, FileOptions())
        if notation is not None:
            raise UseError(
                f"column {name!r} holds a {notation}, which --out-of-core does not read; write plain numbers first."
            )


def converted(name: str, values: AnyArray, notation: Notation) -> AnyArray:
    """A column of text as numbers; a cell that the notation does not explain is refused."""
    found = numbers(values, notation)
    if isinstance(found, int):
        raise UseError(f"column {name!r} must hold numbers with {notation} as in fit, got {shown(values[found])}.")
    return found


def _constant(values: AnyArray) -> bool:
    if not len(values):
        return False
    first = values[0]
    return all(value is first or value == first for value in values.tolist())


def kinds_shown(
    features: Sequence[str], kinds: Mapping[str, CellKind], categorical: Sequence[str], names: Sequence[str]
) -> dict[str, str]:
    """The inferred kind of each column, in words."""
    words = {name: "categorical" if name in categorical else _WORDS[kinds[name]] for name in features}
    return words | dict.fromkeys(names, IDENTIFIER)


def may_identify(name: str, kind: CellKind) -> bool:
    """Whether a column may be one that only names the rows: text, or integers under the name of an identifier."""
    return kind == "text" or (kind == "integer" and bool(_ID_NAME.search(name) or _ID_CAPITAL.search(name)))


def identifiers(
    chunks: Iterable[Mapping[str, AnyArray]],
    features: Sequence[str],
    kinds: Mapping[str, CellKind],
    kept: Sequence[str],
) -> list[str]:
    """The columns that only identify the rows and therefore cannot generalise.

    Text of which nearly every value differs, and integers that all differ under a name such as id. None where no other column
    would be left. Of a long file the first million values are read.
    """
    seen: dict[str, set[object]] = {
        name: set() for name in features if may_identify(name, kinds[name]) and name not in kept
    }
    count = dict.fromkeys(seen, 0)
    for chunk in chunks if seen else ():
        for name in [*seen]:
            values = [v for v in chunk[name].tolist() if v is not None and v == v][: REMEMBERED - count[name]]
            seen[name].update(values)
            count[name] += len(values)
            if len(seen[name]) < (1.0 if kinds[name] == "integer" else NEARLY_ALL) * count[name] - ENOUGH_NAMES:
                del seen[name]
        if all(count[name] >= REMEMBERED for name in seen):
            break
    found = []
    for name, different in seen.items():
        needed = count[name] if kinds[name] == "integer" else NEARLY_ALL * count[name]
        if len(different) >= max(ENOUGH_NAMES, needed):
            found.append(name)
    return found if len(found) < len(features) else []


def ranges(chunks: Iterable[Mapping[str, AnyArray]], left_out: Sequence[str] = ()) -> dict[str, list[float]]:
    """The least and largest value of each numeric column: predictions outside this range give a warning."""
    found: dict[str, list[float]] = {}
    for chunk in chunks:
        for name, values in chunk.items():
            known = values[~np.isnan(values)] if values.dtype.kind == "f" and name not in left_out else values[:0]
            if len(known):
                low, high = found.get(name, [np.inf, -np.inf])
                found[name] = [min(low, float(known.min())), max(high, float(known.max()))]
    return found
