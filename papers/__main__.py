"""``python -m papers uls --quick -o results``: what `permissible reproduce` does, without the command line."""

import argparse
import sys
from pathlib import Path

from papers.pages.publish import publish
from papers.reproduce import PROTOCOLS, run


def main() -> None:
    """Read the arguments, run, and say which pages were written."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument("protocol", choices=[*PROTOCOLS, "all"])
    parser.add_argument("--quick", action="store_true", help="a minute's version")
    parser.add_argument("--data", help="a folder with an index.csv (default: PERMISSIBLE_DATA)")
    parser.add_argument("-o", "--output", default="results")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="names of data sets to keep to, with commas between them")
    parser.add_argument("--publish", help="also copy the small files (Markdown, CSV, SVG) to this folder")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    try:
        pages = run(given.protocol, given.quick, given.data, given.output, given.jobs, given.seed, only)
    except KeyboardInterrupt:
        print("Interrupted; the same command takes it up where it stopped.", file=sys.stderr)
        raise SystemExit(130) from None
    for page in pages:
        print(page)
    if given.publish:
        publish(Path(given.output), Path(given.publish))


if __name__ == "__main__":
    main()
