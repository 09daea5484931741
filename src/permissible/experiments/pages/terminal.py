"""The tables that matter most, printed when a run ends; the pages hold the rest."""

from rich.console import Console
from rich.table import Table as Grid

from permissible.experiments.pages.chapter import Chapter, Table, shown


def show(chapter: Chapter) -> None:
    """Print the chapter's headline tables."""
    console = Console()
    for block in chapter.blocks:
        if isinstance(block, Table) and block.name in chapter.headline:
            grid = Grid(title=block.caption, title_justify="left")
            for name in block.columns:
                grid.add_column(name)
            for row in block.rows:
                grid.add_row(*(shown(cell, block.decimals) for cell in row))
            console.print(grid)
