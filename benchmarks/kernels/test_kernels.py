"""No kernel takes much more than its stored multiple of the reference's time. Absolute times are shown, never compared.

Times are processor seconds (`--benchmark-timer=time.process_time`), of one thread, so that other work on the
machine changes them little.
"""

import time
from typing import Any

import pytest

from benchmarks.kernels.cases import CASES, reference

ROUNDS = 12


@pytest.mark.parametrize("name", CASES)
def test_the_ratio_to_the_reference_is_the_stored_one(
    name: str, benchmark: Any, kept: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    work, yardstick, beside = CASES[name](), reference(), []

    def before_each_round() -> None:
        start = time.process_time()
        yardstick()
        beside.append(time.process_time() - start)

    benchmark.pedantic(work, setup=before_each_round, rounds=ROUNDS, warmup_rounds=1)
    ratio = benchmark.stats.stats.min / min(beside)
    benchmark.extra_info["ratio"] = kept["measured"][name] = ratio
    if request.config.getoption("--keep-ratios"):
        return
    stored, tolerance = kept["ratios"][name], kept["tolerance"]
    print(f"{name}: {ratio:.3g} times the reference, stored {stored:.3g}")
    assert ratio <= tolerance * stored, f"{name} takes {ratio:.3g} times the reference, stored {stored:.3g}"
