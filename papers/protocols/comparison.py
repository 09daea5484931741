"""What several protocols show of a table of errors (data sets x methods): the table itself, means, ranks, wins, tests."""

from collections.abc import Mapping, Sequence

import numpy as np

from papers import statistics
from papers.pages import Prose, Table
from papers.pages.chapter import Cell
from papers.store import Payload, Unit
from permissible.evaluation import paired
from permissible.types import AnyArray


def error_table(
    results: Mapping[Unit, Payload], datasets: Sequence[str], methods: Sequence[str], key: str = "error"
) -> AnyArray:
    """Average `key` over the folds: one row a data set, one column a method. Folds weigh by their number of test rows."""
    total = np.zeros((len(datasets), len(methods)))
    weight = np.zeros_like(total)
    row = {name: place for place, name in enumerate(datasets)}
    column = {name: place for place, name in enumerate(methods)}
    for one, payload in results.items():
        if one.dataset in row and one.method in column and payload.get(key) is not None:
            place = row[one.dataset], column[one.method]
            total[place] += payload[key] * payload["rows"]
            weight[place] += payload["rows"]
    with np.errstate(invalid="ignore"):
        return np.asarray(total / weight)


def datasets_of(results: Mapping[Unit, Payload]) -> list[str]:
    """List the data sets of some results, in the order of the plan."""
    return list(dict.fromkeys(one.dataset for one in results))


def per_dataset(name: str, caption: str, datasets: Sequence[str], methods: Sequence[str], table: AnyArray) -> Table:
    """Show the errors of every method on every data set."""
    rows: list[list[Cell]] = [[data, *map(float, table[place])] for place, data in enumerate(datasets)]
    return Table(name, caption, ["data set", *methods], rows)


def summary(name: str, caption: str, methods: Sequence[str], table: AnyArray) -> Table:
    """Show mean error, average rank and the number of methods beaten (paired t-test, .1), by increasing mean error."""
    means, ranks, wins = table.mean(axis=0), paired.average_ranks(table), statistics.beaten(table)
    rows = [[methods[i], float(means[i]), float(ranks[i]), int(wins[i])] for i in np.argsort(means, kind="stable")]
    return Table(name, caption, ["method", "mean error", "average rank", "beats"], rows, decimals=4)


def wilcoxon_table(name: str, methods: Sequence[str], table: AnyArray) -> Table:
    """Show the P value of Wilcoxon's signed-rank test for each pair."""
    rows: list[list[str | float]] = []
    for i, one in enumerate(methods):
        tests = [
            paired.wilcoxon(table[:, i], table[:, j]).p_value if i != j else float("nan") for j in range(len(methods))
        ]
        rows.append([one, *tests])
    return Table(name, "P values of Wilcoxon's signed-rank test, each pair of methods", ["", *methods], rows)


def friedman_sentence(methods: Sequence[str], table: AnyArray) -> Prose:
    """Say what Friedman's test finds and how far apart two average ranks must be."""
    test = statistics.friedman(table)
    ranks = paired.average_ranks(table)
    best = int(np.argmin(ranks))
    behind = [methods[i] for i in np.argsort(ranks) if ranks[i] - ranks[best] > test.critical_difference]
    far = (
        f"significantly behind {methods[best]}: {', '.join(behind)}"
        if behind
        else "no method is significantly behind the best"
    )
    return Prose(
        f"Friedman chi-square {test.chi_square:.2f} (P = {test.p_value:.2g}), Iman-Davenport F {test.f_statistic:.2f} "
        f"(P = {test.f_p_value:.2g}) over {table.shape[0]} data sets and {table.shape[1]} methods. Nemenyi's critical "
        f"difference of average ranks at .05 is {test.critical_difference:.2f}; {far}."
    )


def left_out(missing: Mapping[str, str]) -> list[Prose]:
    """Name the data sets that could not be had, with the reason."""
    if not missing:
        return []
    reasons = "; ".join(f"{name} ({reason})" for name, reason in missing.items())
    return [Prose(f"Left out, since they cannot be had here: {reasons}.")]


def sources(results: Mapping[Unit, Payload]) -> Table:
    """Say where each data set came from."""
    known = {one.dataset: str(one.options["source"]) for one in results if "source" in one.options}
    return Table(
        "data", "Where the data sets come from", ["data set", "source"], [list(pair) for pair in known.items()]
    )
