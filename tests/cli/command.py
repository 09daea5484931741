"""The installed command: its entry point called in this process (as quick as the verb itself), or a process of its own."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

COMMAND = Path(sys.executable).with_name("permissible")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def run(*arguments, cwd=None):
    """Call the entry point that the package installs, as the shell would, and keep what it says."""
    (found,) = entry_points(group="console_scripts", name="permissible")
    out, err, before, here = io.StringIO(), io.StringIO(), sys.argv, os.getcwd()
    sys.argv = ["permissible", *map(str, arguments)]
    os.environ["COLUMNS"] = "140"
    try:
        os.chdir(cwd or here)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found.load()()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
        os.chdir(here)
        del os.environ["COLUMNS"]
    return Outcome(code, out.getvalue(), err.getvalue())


def run_process(*arguments, cwd=None, timeout=240):
    """Run the command in a process of its own."""
    found = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "140"},
    )
    return Outcome(found.returncode, found.stdout, found.stderr)


def refused(outcome, code, *words):
    """Whether a command was refused as promised: its code, one sentence on stderr, no traceback."""
    assert outcome.code == code, outcome
    lines = outcome.err.strip().splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("permissible: ")
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in lines[0], lines[0]
    return True
