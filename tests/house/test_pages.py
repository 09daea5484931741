"""Every code block of README and docs runs: Python by doctest with its output, commands in a folder of their own."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if not {"_build", "gallery", "results", "generated"} & set(path.relative_to(ROOT).parts)
    and "```" in path.read_text()
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
SETTING_UP = ("pip ", "make ", "git ", "cd ", "permissible reproduce", "permissible bench")
"""Commands that install, build or run for long: they are tried by their own targets and tests, not from here."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def write_patients(path: Path) -> None:
    rows = [
        f"p{age},{age},{'yes' if age % 3 else 'no'},{'ill' if age % 7 > age / 20 else 'well'}" for age in range(20, 80)
    ]
    path.write_text("\n".join(["patient_id,age,smoker,outcome", *rows]))


def run_commands(block: str, folder: Path) -> None:
    """Run each command; what the page prints below one must be what it says, with `...` for anything."""
    for line, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
        if line.startswith(SETTING_UP):
            continue
        words = shlex.split(line.split("  #")[0])
        assert words[0] == "permissible", line
        command = [str(Path(sys.executable).with_name("permissible")), *words[1:]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if printed.strip():
            loosely = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # tables end in blanks
            same = doctest.OutputChecker().check_output(printed.rstrip() + "...", done.stdout, loosely)
            assert same, f"{line}\nThe page says\n{printed}\nThe command said\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("patients.csv", "new-patients.csv", "new.csv", "test.csv"):  # what pages speak of as the reader's own
        write_patients(tmp_path / name)
    (tmp_path / "costs.csv").write_text(",ill,well\nill,0,5\nwell,1,0\n")
    space: dict[str, object] = {}
    for language, text in blocks(page):
        if language == "console":
            run_commands(text, tmp_path)
        elif language == "python" and ">>>" in text:
            parsed = doctest.DocTestParser().get_doctest(text, space, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            shown: list[str] = []
            assert runner.run(parsed, out=shown.append, clear_globs=False).failed == 0, "".join(shown)
            space.update(parsed.globs)
        elif language == "python":
            exec(compile(text, str(page), "exec"), space)


def test_the_pages_are_found():
    assert len(PAGES) > 5
