"""Before anything is installed, what is missing is said in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "check-machine.sh"


def check(python: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(SCRIPT), python], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_a_complete_machine_passes_in_silence():
    answer = check(sys.executable)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_missing_python_is_named():
    answer = check("no-such-python")
    assert answer.returncode == 1
    assert "needs Python 3.11 or newer, and no 'no-such-python' was found" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_an_old_python_is_named_with_its_version(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.2"\n[ "$1" = -V ]\n')
    old.chmod(0o755)
    answer = check(str(old))
    assert answer.returncode == 1
    assert "is Python 3.9.2" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_missing_compiler_is_named():
    answer = check(sys.executable, CXX="no-such-compiler")
    assert answer.returncode == 1
    assert "needs a C++20 compiler, and no 'no-such-compiler' was found" in answer.stderr
    assert answer.stderr.count("\n") == 1
