"""What a round costs on a cluster: ``python -m benchmarks.cluster_model``. Kernel and message times are measured here, now.

A round asks Q questions. Each is one message to every worker and an answer of B bytes back, and the workers visit their rows in
between. The coordinator sends W messages one after the other (its event loop takes a fixed time for each), receives W answers
through its one network card, and adds them. The simulator plays that out question by question, with answers arriving in a
queue and workers that are not equally fast.
"""

import argparse
import heapq
import time
from dataclasses import dataclass, replace

import numpy as np

COLUMNS, SUMS = 28, 2
HISTOGRAM_BYTES = COLUMNS * SUMS * 256 * 8
SMALL_BYTES = 400


@dataclass(frozen=True)
class Costs:
    """Seconds: of a visit of a row by each kind of question, of a message at the coordinator, of adding a histogram."""

    histogram_row: float
    measure_row: float
    apply_row: float
    message: float
    merge: float
    latency: float = 0.25e-3
    bandwidth: float = 1.25e9  # ten gigabits a second into the coordinator
    spread: float = 0.1  # the slowest workers take about so much longer


@dataclass(frozen=True)
class Question:
    """One question of a round: seconds of work a row, share of the rows, bytes of an answer."""

    row: float
    share: float
    answer: int


def measured(n_rows: int = 262_144) -> Costs:
    """The times of this machine: kernels on rows in memory, messages of dask's over loopback."""
    from permissible.bins.binning import BinnedTable, Binning, ColumnBins
    from permissible.learners.uls.loss_rows import kernel_rows
    from permissible.learners.uls.rows import Examples, Grids, HistogramRequest, Terms
    from permissible.losses import get
    from permissible.losses.surrogate import compiled
    from permissible.table.schema import Column, Schema

    random = np.random.default_rng(0)
    bins = ColumnBins(255, False, np.arange(254.0), np.zeros(0, dtype=np.uint8))
    schema = Schema(tuple(Column(f"x{j}") for j in range(COLUMNS)), True)
    codes = random.integers(0, 255, (4, n_rows, 8), dtype=np.uint8)
    examples = Examples(BinnedTable(Binning(schema, (bins,) * COLUMNS), codes, n_rows), random.random(n_rows) < 0.5)
    kernel = compiled(get("logistic"))
    assert kernel is not None
    rows = kernel_rows(examples, kernel, True)
    grids = Grids(2.0**40, 2.0**40, 2.0**40, 1.0)
    rows.reset(Terms(), grids)
    request = HistogramRequest(2.0**20, 2.0**20)
    histogram = _least(lambda: rows.histograms([()], request)) / n_rows
    measure = _least(lambda: rows.measure((), [(0.1, -0.1), (0.2, -0.2), (0.3, -0.3)], grids)) / n_rows
    step = _least(lambda: rows.apply((), 0.0, 0.0, grids)) / n_rows
    one, other = np.zeros((COLUMNS, SUMS, 256), dtype=np.int64), np.ones((COLUMNS, SUMS, 256), dtype=np.int64)
    return Costs(histogram, measure, step, message_seconds(SMALL_BYTES), _least(lambda: np.add(one, other, out=one)))


def message_seconds(answer: int, repeats: int = 300) -> float:
    """A message of dask's and its answer over loopback, both ends in this process: what it takes at the coordinator, at most."""
    import asyncio

    from distributed.core import ConnectionPool, Server

    async def played() -> float:
        async def answered(request: bytes) -> bytes:
            return bytes(answer)

        server = Server({"ask": answered})
        await server.listen("tcp://127.0.0.1:0")
        pool = await ConnectionPool()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            await pool(server.address).ask(request=bytes(2000))
            times.append(time.perf_counter() - start)
        await pool.close()
        await server.close()
        return float(np.median(times))

    return asyncio.run(played())


def _least(work: object, repeats: int = 7) -> float:
    """The least time of several turns."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return min(times)


def round_of(costs: Costs, share: float = 0.3, passes: int = 1) -> list[Question]:
    """The questions of a round of two-literal rules: a step with its histogram, the lighter side of a literal, leverage.

    About one leverage in six takes a second pass, which is left out.
    """
    return [
        Question(costs.apply_row + share * costs.histogram_row, 1.0, HISTOGRAM_BYTES),
        Question(costs.histogram_row / 2, share, HISTOGRAM_BYTES),
        *[Question(costs.measure_row, 1.0, SMALL_BYTES)] * passes,
    ]


def simulated(costs: Costs, n_rows: float, n_workers: int, seed: int = 0, cores: int = 8) -> tuple[float, float]:
    """Seconds of a round, and the share of them in which rows are visited."""
    random = np.random.default_rng(seed)
    clock = busy = 0.0
    for question in round_of(costs):
        work = question.row * question.share * n_rows / n_workers / cores
        slower = 1.0 + costs.spread * random.random(n_workers)
        arrivals = [(k + 1) * costs.message + 2 * costs.latency + work * slow for k, slow in enumerate(slower)]
        heapq.heapify(arrivals)
        now = 0.0
        each = question.answer / costs.bandwidth + (costs.merge if question.answer == HISTOGRAM_BYTES else 0.0)
        while arrivals:  # answers queue at the coordinator: received and added one at a time
            now = max(now, heapq.heappop(arrivals)) + each
        clock, busy = clock + now, busy + work
    return clock, busy / clock


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_model", description=__doc__)
    parser.add_argument("--cores", type=int, default=8, help="cores of a worker")
    parser.add_argument(
        "--message", type=float, help="seconds a message takes at the coordinator, if not measured here"
    )
    options = parser.parse_args()
    found = measured()
    costs = found if options.message is None else replace(found, message=options.message)
    print(
        f"measured: histogram {costs.histogram_row * 1e9:.1f} ns a row, measure {costs.measure_row * 1e9:.1f}, "
        f"apply {costs.apply_row * 1e9:.1f}; adding a histogram {costs.merge * 1e6:.0f} us, a message and its "
        f"answer {costs.message * 1e6:.0f} us; given: {options.cores} cores a worker"
    )
    print("| rows | workers | seconds a round | of it visiting rows |\n|---:|---:|---:|---:|")
    for n_rows in (1e9, 1e10, 1e11):
        for n_workers in (10, 100, 1000):
            seconds, share = simulated(costs, n_rows, n_workers, cores=options.cores)
            print(f"| {n_rows:.0e} | {n_workers} | {seconds:.3g} | {share:.0%} |")


if __name__ == "__main__":
    main()
