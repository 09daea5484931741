"""The small files of a results folder, copied to where they are kept: pages in Markdown, tables in CSV, figures in SVG."""

import shutil
from pathlib import Path


def publish(output: Path, kept: Path) -> list[Path]:
    """Copy what a reader of the documentation needs, and nothing that is large or can be made again from it."""
    copied = []
    for pattern in ("*.md", "tables/*.csv", "figures/*.svg"):
        for path in sorted(output.glob(pattern)):
            place = kept / path.relative_to(output)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
            copied.append(place)
    return copied
