"""Wide registers do the same operations as narrow ones: the same fits, bit for bit."""

import os
import subprocess
import sys

from tests.learners.uls.registers import digest


def test_fits_without_avx512_are_the_fits_with_it():
    # On a machine without AVX-512 both are the same code, and the test says nothing.
    other = subprocess.run(
        [sys.executable, "-m", "tests.learners.uls.registers"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PERMISSIBLE_AVX512": "0"},
    )
    assert other.stdout.strip() == digest()
