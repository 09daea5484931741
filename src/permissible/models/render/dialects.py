"""SQL dialects: how names, texts, numbers and missing values are written. Queries are built in `sql.py`.

Names and texts are always quoted, so no column name and no category can end a statement or begin another. Numbers are
doubles written so that the database reads back the same bits. NaN counts as missing where a database can hold it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from permissible.table.schema import Category
from permissible.validation import Words, refusal

DialectName: TypeAlias = Literal["ansi", "duckdb", "postgres", "sqlite"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes things."""

    name: str
    double: Callable[[float], str]
    is_nan: str | None  # a template of {x}; None where a column cannot hold NaN
    row_alias: str  # put before a column's name; SQLite reads an unknown "name" as a text unless it is qualified
    char: str | None  # the function that makes a character of a number, for the one that no text may contain
    nan: str | None = None  # how NaN is written, where a column can hold it
    number: str = "{x}"  # a number that will be multiplied
    exp: str = "exp({x})"  # of a number that may be very negative
    fence: str = ""  # ends a subquery that the database would otherwise inline wherever its columns are used
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    empty_names: bool = False

    def name_of(self, name: str) -> str:
        """A quoted identifier."""
        if "\0" in name or (not name and not self.empty_names):
            got = name or Words("an empty one")
            raise refusal("column", f"a name that {self.name} SQL can hold", got, "rename the column before fitting")
        return '"' + _encodable(name).replace('"', '""') + '"'

    def column(self, name: str) -> str:
        """A column of the user's table."""
        return self.row_alias + self.name_of(name)

    def text(self, value: str) -> str:
        """A quoted text; NUL, which no SQL text may contain, is joined in by its number where the database can."""
        pieces = ["'" + piece.replace("'", "''") + "'" for piece in _encodable(value).split("\0")]
        if len(pieces) > 1 and self.char is None:
            expected = f"a text that {self.name} SQL can hold"
            raise refusal("category", expected, value, "rename the category before fitting")
        return pieces[0] if len(pieces) == 1 else "(" + f" || {self.char}(0) || ".join(pieces) + ")"

    def value(self, value: Category) -> str:
        """A category, in the type the user gave."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, str):
            return self.text(value)
        return str(value) if isinstance(value, int) else self.double(value)


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise refusal("column", "text that UTF-8 can hold", text, "rename it before fitting") from None
    return text


def _scientific(value: float) -> str:
    """A number with an exponent, which is a double by the standard; without one it would be a decimal."""
    text = repr(float(value))
    return text.replace("e", "E") if "e" in text else f"{text}E0"


def _short(value: float) -> str:
    """SQLite misreads some numbers of more than 15 digits by one bit: those are written as an exact quotient."""
    text = repr(float(value))
    digits = sum(character.isdigit() for character in text.split("e")[0].lstrip("-0."))
    ratio = Fraction(value)
    if digits <= 15 or abs(ratio.numerator) >= 2**63 or ratio.denominator >= 2**62:
        return text
    return f"({ratio.numerator} / {ratio.denominator}.0)"


def _postgres(value: float) -> str:
    return f"{float(value)!r}::double precision" if value >= 0 else f"({float(value)!r}::double precision)"


_DIALECTS = {
    "ansi": Dialect("ansi", _scientific, None, "", None),
    "duckdb": Dialect("duckdb", _scientific, "isnan({x})", "", "chr", "'NaN'::DOUBLE"),
    # PostgreSQL fails where a product or an exponential underflows. Adding and subtracting 1e-130
    # leaves larger numbers unchanged and makes numbers too small to be multiplied zero.
    "postgres": Dialect(
        "postgres",
        _postgres,
        "CAST({x} AS double precision) = 'NaN'",
        "",
        None,
        "'NaN'::double precision",
        number="({x} + 1e-130::double precision - 1e-130::double precision)",
        exp="exp(greatest({x}, -600.0::double precision))",
        fence="\nOFFSET 0",
    ),
    "sqlite": Dialect("sqlite", _short, None, "t.", "char", booleans=("0", "1"), empty_names=True),
}


def dialect(name: str) -> Dialect:
    """The dialect of a name.

    >>> print(dialect("duckdb").double(0.1), dialect("ansi").name_of('a "b" c'))
    0.1E0 "a ""b"" c"
    """
    if name not in _DIALECTS:
        raise refusal("dialect", "one of " + ", ".join(map(repr, get_args(DialectName))), name)
    return _DIALECTS[name]
