"""Boosted trees compiled for AVX-512, for AVX2 and for neither: the same trees, bit for bit."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

COMPILER = os.environ.get("CXX", "g++")
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "cpp/trees/boosted").rglob("*.cpp")), ROOT / "tests/kernels/registers.cpp"]
FLAGS = ["-std=c++20", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
REGISTERS = {"avx2": ["-march=x86-64-v3"], "avx512bw": ["-march=x86-64-v4", "-mprefer-vector-width=512"]}


def _printed(folder: Path, march: list[str]) -> str:
    program = folder / "fits"
    folder.mkdir()

    def compiled(source: Path) -> Path:
        made = folder / f"{source.parent.name}-{source.stem}.o"
        options = [*FLAGS, *march, "-DPERMISSIBLE_ONE_VERSION", f"-I{ROOT / 'cpp'}"]
        subprocess.run([COMPILER, *options, "-c", str(source), "-o", str(made)], check=True)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = [str(made) for made in pool.map(compiled, SOURCES)]
    subprocess.run([COMPILER, *objects, "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no compiler")
def test_every_set_of_registers_gives_the_same_trees(tmp_path):
    has = Path("/proc/cpuinfo").read_text().split()
    plain = _printed(tmp_path / "plain", ["-march=x86-64-v2"])
    assert plain.count("0x") > 1000
    for flag, march in REGISTERS.items():
        if flag in has:  # a machine without them cannot run them
            assert _printed(tmp_path / flag, march) == plain
