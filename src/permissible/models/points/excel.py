"""A card as an Excel workbook: an answer beside each condition, the total as a formula, its probability from the table."""

import io

from permissible.models.points.sheet import PointSheet
from permissible.validation import Words, refusal


def workbook(sheets: list[PointSheet]) -> bytes:
    """The workbook, one sheet a card.

    Cell C of a condition takes 1 where it holds. A text that begins like a formula is written as text.
    """
    try:
        import openpyxl
        from openpyxl.styles import Font
    except ImportError as error:
        raise ImportError("to_excel needs openpyxl: pip install 'permissible[report]'.") from error
    book = openpyxl.Workbook()
    book.remove(book.active)
    for place, card in enumerate(sheets):
        page = book.create_sheet(_title(card.positive, place, book.sheetnames))

        def write(row: int, values: list[object], bold: bool = False, page: object = page) -> None:
            for column, value in enumerate(values, start=1):
                cell = page.cell(row=row, column=column)  # type: ignore[attr-defined]
                cell.value = value
                if isinstance(value, str) and not bold:
                    cell.data_type = "s"  # never a formula
                cell.font = Font(bold=bold)

        write(1, [f"Points for {card.positive}", "points", "holds (1 or 0)"], bold=True)
        for row, line in enumerate(card.lines, start=2):
            write(row, [line.condition, line.points, 0])
        last = len(card.lines) + 1
        first_total = last + 5
        end = first_total + len(card.totals) - 1
        write(last + 1, ["total"])
        page.cell(row=last + 1, column=2).value = f"={card.start}+SUMPRODUCT(B2:B{max(last, 2)},C2:C{max(last, 2)})"
        write(last + 2, [f"probability of {card.positive}"])
        looked = f"INDEX(B{first_total}:B{end},MATCH(B{last + 1},A{first_total}:A{end},1))"
        page.cell(row=last + 2, column=2).value = f"={looked}"
        page.cell(row=last + 2, column=2).number_format = "0.0%"
        heads: list[object] = ["total", f"probability of {card.positive}", "cases", "positives"]
        write(last + 4, [*heads, *(["decision"] if card.decided else [])], bold=True)
        for row, total in enumerate(card.totals, start=first_total):
            shown = "refer" if total.decision is None else str(total.decision)
            numbers: list[object] = [total.total, total.probability, total.cases, total.positives]
            write(row, [*numbers, *([shown] if card.decided else [])])
            page.cell(row=row, column=2).number_format = "0.0%"
        page.column_dimensions["A"].width = (
            max(20, *(len(line.condition) for line in card.lines), 0) if card.lines else 20
        )
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _title(name: str, place: int, taken: list[str]) -> str:
    clean = "".join("_" if letter in "[]:*?/\\'" or not letter.isprintable() else letter for letter in name)[
        :25
    ].strip()
    title = clean or f"card {place}"
    return f"{title} ({place})" if title.casefold() in {one.casefold() for one in taken} else title


def refuse_no_card(model: object) -> None:
    """Refuse a model that is no card."""
    raise refusal("estimator", "a point card, as ULSClassifier.points fits it", Words(f"a {type(model).__name__}"))
