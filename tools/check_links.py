"""Check a built site: every link between its pages, every anchor and every picture has its target. `check_links.py FOLDER`."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page points to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note href, src, id and name."""
        for key, value in attrs:
            if value and key in ("id", "name"):
                self.anchors.add(value)
            elif value and (key == "src" or (key == "href" and tag == "a")):
                self.targets.add(value)


def broken(folder: Path) -> list[str]:
    """Name every target that is not there, with the page that points to it."""
    files = [
        path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts
    ]  # the theme's own templates
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        if "_modules" in path.parts:  # pages of source; a method that estimators inherit has its entry at each of them
            continue
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue  # the world outside is not ours to check
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            anchor = unquote(parts.fragment)
            known = pages.get(place)
            if not place.exists() or (anchor and known is not None and anchor not in known.anchors):
                found.append(f"{path.relative_to(folder.resolve())}: {target}")
    return found


if __name__ == "__main__":
    missing = broken(Path(sys.argv[1]))
    print("\n".join(missing) if missing else "Every link of the site has its target.")
    sys.exit(bool(missing))
