"""One page a paper, from chapters as plain dictionaries: the same content in HTML (self-contained) and in Markdown."""

import html as escaping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers.pages.papers import Paper

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { background: #f3f5f7; } figcaption, caption { text-align: left; color: #444; font-size: .9rem; padding: .3rem 0; }
figure { margin: 1rem 0; overflow-x: auto; } svg { max-width: 100%; height: auto; }
dt { font-weight: 600; } dd { margin: 0 0 .3rem 1rem; }
"""


def html(paper: Paper, chapters: Sequence[dict[str, Any]], output: Path) -> str:
    """Render a paper's page as one HTML file, figures inside."""
    body = [f"<h1>{escaping.escape(paper.citation)}</h1>"]
    for chapter in chapters:
        body.append(f"<h2>{escaping.escape(chapter['title'])}</h2>")
        body += [_html_block(block, output) for block in chapter["blocks"]]
        body.append(_html_facts(chapter))
    return _document(paper.citation, "\n".join(body))


def markdown(paper: Paper, chapters: Sequence[dict[str, Any]], output: Path) -> str:
    """Render a paper's page as Markdown, figures beside it."""
    lines = [f"# {paper.citation}", ""]
    for chapter in chapters:
        lines += [f"## {chapter['title']}", ""]
        for block in chapter["blocks"]:
            lines += [_markdown_block(block), ""]
        lines += [f"- {name}: {value}" for name, value in _facts(chapter).items()] + [""]
    return "\n".join(lines)


def markdown_table(block: dict[str, Any]) -> str:
    """Render a table block as Markdown, caption first."""
    rule = ["---"] * len(block["columns"])
    rows = [[cell.replace("|", "\\|") for cell in row] for row in (block["columns"], rule, *block["rows"])]
    return f"*{block['caption']}*\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def index_html(papers: Sequence[Paper]) -> str:
    """List the pages."""
    items = "".join(f'<li><a href="{paper.page}.html">{escaping.escape(paper.citation)}</a></li>' for paper in papers)
    return _document("The papers, reproduced", f"<h1>The papers, reproduced</h1><ul>{items}</ul>")


def index_markdown(papers: Sequence[Paper]) -> str:
    """List the pages."""
    links = "\n".join(f"- [{paper.citation}]({paper.page}.md)" for paper in papers)
    tree = "\n".join(["```{toctree}", ":hidden:", "", *(paper.page for paper in papers), "```"])
    return f"# Results\n\nMade by the commands that each page names.\n\n{links}\n\n{tree}\n"


def _facts(chapter: dict[str, Any]) -> dict[str, str]:
    settings = ", ".join(f"{name} = {value}" for name, value in chapter["settings"].items())
    return {"settings": settings, **chapter["facts"]}


def _html_facts(chapter: dict[str, Any]) -> str:
    facts = "".join(
        f"<dt>{escaping.escape(name)}</dt><dd>{escaping.escape(value)}</dd>" for name, value in _facts(chapter).items()
    )
    return f"<details><summary>How this was made</summary><dl>{facts}</dl></details>"


def _html_block(block: dict[str, Any], output: Path) -> str:
    if block["kind"] == "prose":
        return f"<p>{escaping.escape(block['text'])}</p>"
    caption = escaping.escape(block["caption"])
    if block["kind"] == "drawing":
        drawing = (output / "figures" / f"{block['name']}.svg").read_text(encoding="utf-8")
        label = escaping.escape(block["caption"], quote=True)
        svg = drawing[drawing.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
        return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"
    head = "".join(f'<th scope="col">{escaping.escape(name)}</th>' for name in block["columns"])
    rows = "".join(
        "<tr>" + "".join(f"<td>{escaping.escape(cell)}</td>" for cell in row) + "</tr>" for row in block["rows"]
    )
    link = f'<a href="tables/{block["name"]}.csv">CSV</a>'
    table = f"<table><caption>{caption} ({link})</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _markdown_block(block: dict[str, Any]) -> str:
    if block["kind"] == "prose":
        return str(block["text"])
    if block["kind"] == "drawing":
        return f"![{block['caption']}](figures/{block['name']}.svg)\n\n*{block['caption']}*"
    return markdown_table(block)


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaping.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body>\n{body}\n</body></html>\n"
    )
