"""The tables that matter most, printed when a run ends; the pages hold the rest."""

from rich.console import Console
from rich.table import Table as Grid

from papers.pages.chapter import Chapter, Table, shown


def show(chapter: Chapter) -> None:
    """Print the chapter's headline tables."""
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width of its own
        console = Console(width=160)
    for block in chapter.blocks:
        if isinstance(block, Table) and block.name in chapter.headline:
            grid = Grid(title=block.caption, title_justify="left")
            for place, name in enumerate(block.columns):
                grid.add_column(name, no_wrap=place == 0)
            for row in block.rows:
                grid.add_row(*(shown(cell, block.decimals) for cell in row))
            console.print(grid)
