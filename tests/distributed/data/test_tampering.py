"""A tampered folder of a data set is refused in one sentence or gives a model: never a crash, whatever its files hold."""

import subprocess
import sys
from pathlib import Path

import pytest


def try_all(folder: Path, step: int, *options: str) -> list[str]:
    """The outcomes of every `step`-th change; a crash ends the process, and the last line names the change."""
    script = Path(__file__).with_name("tampering.py")
    found = subprocess.run(
        [sys.executable, script, folder, str(step), *options], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, f"{found.returncode}: {found.stdout.splitlines()[-1]} {found.stderr}"
    return found.stdout.splitlines()


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [(), ("unchecked",)])
def test_a_tampered_folder_is_refused_or_gives_a_model(tmp_path, step, options):
    """`unchecked`: without the check of the codes in Python, the compiled core keeps within its arrays by itself."""
    lines = try_all(tmp_path, step, *options)
    assert lines[0] == "none: fit fit fit fit fit"
    assert not [line for line in lines if "refused in lines" in line]
    assert sum("refused" in line for line in lines) > len(lines) / 2
