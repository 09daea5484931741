"""A card as an Excel workbook: an answer beside each condition, the total as a formula, its risk and decision from the table."""

import io
from typing import Any

from permissible.models.points.sheet import HOW, PointSheet
from permissible.validation import Words, refusal

SHADE, ANSWER = "E8ECF2", "FFF7D6"
"""Of heads, and of the cells that one fills in."""


def workbook(sheets: list[PointSheet]) -> bytes:
    """The workbook, one sheet a card.

    Column C of a condition takes 1 where it holds. A text that begins like a formula is written as text.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError("to_excel needs openpyxl: pip install 'permissible[report]'.") from error
    book = openpyxl.Workbook()
    book.remove(book.active)
    for place, card in enumerate(sheets):
        _Page(book.create_sheet(_title(card.positive, place, book.sheetnames))).write(card)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


class _Page:
    """One sheet of a workbook."""

    def __init__(self, page: Any) -> None:
        from openpyxl.styles import Border, Font, PatternFill, Side

        self.page, self.bold = page, Font(bold=True)
        line = Side(style="thin", color="9AA3B2")
        self.frame = Border(left=line, right=line, top=line, bottom=line)
        self.fill = {name: PatternFill("solid", fgColor=name) for name in (SHADE, ANSWER)}

    def write(self, card: PointSheet) -> None:
        """The conditions from row 4 on, the total below them, then the table of totals."""
        self.row(1, [f"Points for {card.positive}"], bold=True, framed=False)
        self.row(2, [f"{HOW} Write 1 beside a condition that holds, 0 beside one that does not."], framed=False)
        self.row(3, ["condition", "points", "holds (1 or 0)"], bold=True, shade=SHADE)
        for row, line in enumerate(card.lines, start=4):
            self.row(row, [line.condition, line.points, 0])
        last = max(len(card.lines) + 3, 4)
        self.answers(4, last)
        added = f"SUMPRODUCT(B4:B{last},C4:C{last})"
        sums = last + 1
        if card.start:
            self.row(sums, ["for everybody", card.start])
            sums, added = sums + 1, f"B{sums}+{added}"
        first = sums + 4 + card.decided
        end = first + len(card.totals) - 1
        looked = f"MATCH(B{sums},A{first}:A{end},1))"
        self.formula(sums, "total", f"={added}")
        self.formula(sums + 1, f"probability of {card.positive}", f"=INDEX(B{first}:B{end},{looked}")
        self.page.cell(row=sums + 1, column=2).number_format = "0.0%"
        if card.decided:
            self.formula(sums + 2, "decision", f"=INDEX(E{first}:E{end},{looked}")
        heads: list[object] = ["total", f"probability of {card.positive}", card.positive, "cases"]
        self.row(first - 1, [*heads, *(["decision"] if card.decided else [])], bold=True, shade=SHADE)
        for row, total in enumerate(card.totals, start=first):
            numbers: list[object] = [total.total, total.probability, total.positives, total.cases]
            self.row(row, [*numbers, *([total.words] if card.decided else [])])
            self.page.cell(row=row, column=2).number_format = "0.0%"
        self.printed(card)

    def row(
        self, row: int, values: list[object], bold: bool = False, shade: str | None = None, framed: bool = True
    ) -> None:
        """Cells from the first column on, none of which is a formula."""
        for column, value in enumerate(values, start=1):
            cell = self.page.cell(row=row, column=column)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"
            if bold:
                cell.font = self.bold
            if shade is not None:
                cell.fill = self.fill[shade]
            if framed:
                cell.border = self.frame

    def formula(self, row: int, name: str, formula: str) -> None:
        """A name and what is computed."""
        self.row(row, [name, None], bold=True)
        self.page.cell(row=row, column=2).value = formula

    def answers(self, first: int, last: int) -> None:
        """The cells that take a 1 or a 0, and nothing else."""
        from openpyxl.worksheet.datavalidation import DataValidation

        allowed = DataValidation(type="whole", operator="between", formula1="0", formula2="1", showErrorMessage=True)
        allowed.error = "Write 1 where the condition holds, 0 where it does not."
        self.page.add_data_validation(allowed)
        for row in range(first, last + 1):
            cell = self.page.cell(row=row, column=3)
            cell.fill, cell.border = self.fill[ANSWER], self.frame
            allowed.add(cell)

    def printed(self, card: PointSheet) -> None:
        """Columns as wide as what they hold, and one page in width on paper."""
        from openpyxl.styles import Alignment

        named = [f"probability of {card.positive}", *(line.condition for line in card.lines)]
        widths = {
            "A": max(map(len, named)),
            "B": len(named[0]),
            "C": max(len(card.positive), 14),
            "D": 8,
            "E": max((len(total.words) for total in card.totals), default=8),
        }
        for column, width in widths.items():
            self.page.column_dimensions[column].width = min(max(width + 2, 10), 70)
        for (cell,) in self.page.iter_rows(min_row=3, max_col=1):
            cell.alignment = Alignment(wrap_text=True, vertical="top", horizontal="left")
        self.page.page_setup.fitToWidth, self.page.page_setup.fitToHeight = 1, 0
        self.page.sheet_properties.pageSetUpPr.fitToPage = True


def _title(name: str, place: int, taken: list[str]) -> str:
    clean = "".join("_" if letter in "[]:*?/\\'" or not letter.isprintable() else letter for letter in name)[
        :25
    ].strip()
    title = clean or f"card {place}"
    return f"{title} ({place})" if title.casefold() in {one.casefold() for one in taken} else title


def refuse_no_card(model: object) -> None:
    """Refuse a model that is no card."""
    raise refusal("estimator", "a point card, as ULSClassifier.points fits it", Words(f"a {type(model).__name__}"))
