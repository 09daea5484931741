"""A chapter to files, and all chapters of a folder to one page a paper, in HTML and Markdown.

Each chapter is also kept as JSON (chapters/), so that a page whose protocols ran at different times still shows them all.
"""

import csv
import json
from pathlib import Path
from typing import Any

from papers.pages import figures, page
from papers.pages.chapter import Chapter, Drawing, Prose, Table, shown
from papers.pages.papers import PAPERS


def write(chapter: Chapter, output: Path, facts: dict[str, str]) -> list[Path]:
    """Write the chapter's tables and figures, then every page it belongs to; give the pages."""
    for folder in ("tables", "figures", "chapters"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    blocks = [_block(block, chapter.protocol, output) for block in chapter.blocks]
    kept = {
        "protocol": chapter.protocol,
        "title": chapter.title,
        "papers": list(chapter.papers),
        "settings": chapter.settings,
        "facts": facts,
        "blocks": blocks,
    }
    text = json.dumps(kept, indent=1, allow_nan=False) + "\n"
    (output / "chapters" / f"{chapter.protocol}.json").write_text(text, encoding="utf-8")
    return write_pages(output, chapter.papers)


def write_pages(output: Path, papers: Any = None) -> list[Path]:
    """Write the pages of `papers` (all by default) from the chapters kept in `output`, and the index."""
    chapters = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((output / "chapters").glob("*.json"))]
    written = []
    present = [paper for paper in PAPERS.values() if any(paper.letter in chapter["papers"] for chapter in chapters)]
    for paper in present:
        if papers is not None and paper.letter not in papers:
            continue
        own = [chapter for chapter in chapters if paper.letter in chapter["papers"]]
        for suffix, render in ((".html", page.html), (".md", page.markdown)):
            path = output / f"{paper.page}{suffix}"
            path.write_text(render(paper, own, output), encoding="utf-8")
            written.append(path)
    (output / "index.html").write_text(page.index_html(present), encoding="utf-8")
    (output / "index.md").write_text(page.index_markdown(present), encoding="utf-8")
    return written


def _block(block: Prose | Table | Drawing, protocol: str, output: Path) -> dict[str, Any]:
    if isinstance(block, Prose):
        return {"kind": "prose", "text": block.text}
    name = f"{protocol}-{block.name}"
    if isinstance(block, Drawing):
        figures.save(block.figure, output / "figures" / name)
        return {"kind": "drawing", "name": name, "caption": block.caption}
    with (output / "tables" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(block.columns)
        writer.writerows(block.rows)
    rows = [[shown(cell, block.decimals) for cell in row] for row in block.rows]
    kept = {"kind": "table", "name": name, "caption": block.caption, "columns": list(block.columns), "rows": rows}
    (output / "tables" / f"{name}.md").write_text(page.markdown_table(kept) + "\n", encoding="utf-8")
    return kept
