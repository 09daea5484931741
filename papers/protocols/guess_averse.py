"""[B] Table 2: six algorithms, ten UCI sets, 50 random symmetric cost matrices, 100 rounds of regression on one attribute.

A trial (costs and split, shared by all algorithms) and its risks are `papers.guess_averse`; here are the
plan, the printed table beside ours, tests and ranks. The hierarchy of Moorea Labeled Corals is in `corals`.
"""

from collections.abc import Mapping

import numpy as np

from papers import published
from papers.datasets import suite
from papers.figures.multiclass import (
    SENSITIVE,
    binary_losses_figure,
    guess_aversion_figure,
    supports_figure,
    surface_figure,
)
from papers.guess_averse import ALGORITHMS, published_means, trial
from papers.guess_averse import risks as risks_of
from papers.pages import Chapter, Drawing, Prose, Table, claims
from papers.pages.chapter import Cell
from papers.pages.figures import canvas
from papers.pages.verdict import alike, counted, ordered
from papers.protocols import comparison, corals, matrices, today
from papers.scope import Scope
from papers.store import Payload, Unit, unit
from permissible.evaluation import paired
from permissible.losses import StructuredHinge
from permissible.types import AnyArray

METHODS = ALGORITHMS
# [B] Table 1: training rows, test rows, attributes, classes.
TABLE_1: dict[str, tuple[int, int, int, int]] = {
    "breast-tissue": (81, 25, 9, 6),
    "ecoli": (258, 78, 7, 8),
    "image-segmentation": (210, 2100, 19, 7),
    "libras": (292, 68, 90, 15),
    "vertebral-3c": (239, 71, 6, 3),
    "vehicle": (692, 154, 18, 4),
    "shuttle": (43500, 14500, 9, 7),
    "pendigits": (7494, 3498, 16, 10),
    "optdigits": (3823, 1797, 64, 10),
    "satimage": (4435, 2000, 36, 6),
}
RANDOM = ("breast-tissue", "ecoli", "libras", "vertebral-3c", "vehicle")


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """List the units: data sets, trials, algorithms; then all matrices at once; today's methods; the corals."""
    found = scope.find(suite("guess-averse"))
    if scope.quick:
        found = found.at_most(rows=1000, count=5)
    trials, rounds = (5, 100) if scope.quick else (50, 100)
    units = [
        unit("guess-averse", name, method, number, {"rounds": rounds, "seed": scope.seed, "source": source})
        for name, source in found.sources.items()
        for number in range(trials)
        for method in METHODS
    ]
    more = matrices.plan(scope, found, rounds) + today.plan(scope, found) + corals.plan(scope)
    return units + more, found.missing


def work(one: Unit) -> Payload:
    """Fit one algorithm for one cost matrix and give its risk (5) on the test rows."""
    if one.dataset == corals.SET:
        return corals.work(one)
    if one.method in today.METHODS:
        return today.work(one)
    if one.method in matrices.METHODS:
        return matrices.work(one)
    options = one.options
    shared = trial(one.dataset, one.fold, options["seed"])
    return {"risk": risks_of(shared, [one.method], options["rounds"])[one.method]}


def _theory() -> list[Drawing]:
    """Draw Figures 1 to 3 and Figure 1 of the appendix: supports, binary losses, what guess aversion means."""
    drawings = []
    for name, caption, draw_on in (
        ("figure-1", "Figure 1: the supports of three classes where scores add up to 0", supports_figure),
        ("figure-2", "Figure 2: losses of two classes", binary_losses_figure),
    ):
        figure, axes = canvas()
        draw_on(axes[0, 0])
        drawings.append(Drawing(name, caption, figure))
    figure, axes = canvas(3)
    guess_aversion_figure(axes[0])
    words = "Figure 3: loss minus that of a guess; L_s at the star is above a guess although class 1 wins"
    drawings.append(Drawing("figure-3", f"{words}; GLL; GLL with costs 1 and 2", figure))
    figure, axes = canvas(2)
    for ax, cost in zip(axes[0], (None, SENSITIVE), strict=True):
        surface_figure(StructuredHinge(), cost, ax=ax)
    drawings.append(
        Drawing("appendix-1", "Appendix E, Figure 1: the structured hinge loss L_H, without and with costs", figure)
    )
    return drawings


def chapter(results: Mapping[Unit, Payload], scope: Scope, missing: Mapping[str, str]) -> Chapter:
    """Set our Table 2 beside the printed one, with tests and ranks; then today's methods; then the corals."""
    own = {one: payload for one, payload in results.items() if one.dataset != corals.SET and one.method in METHODS}
    datasets = comparison.datasets_of(own)
    risks = {name: _risks(own, name) for name in datasets}
    counts = {name: len(risks[name][METHODS[0]]) for name in datasets}
    trials = max(counts.values())
    fewer = ", ".join(f"{name} {count}" for name, count in counts.items() if count < trials)
    means = np.array([[risks[name][method].mean() for method in METHODS] for name in datasets])
    blocks: list[Prose | Table | Drawing] = [
        Prose(
            f"{trials} random symmetric cost matrices a set, {next(iter(own)).options['rounds']} rounds, weak learner ax + b on "
            f"the best single attribute. {published.source('beijbom-table-2')}. The gradients of L_s and L_t are the corrected "
            "ones (erratum E17); the paper does not say whether x is one attribute or all of them."
            + (f" A run that was ended early; trials so far: {fewer}." if fewer else "")
        ),
        *comparison.left_out(missing),
        *_theory(),
        _sizes(datasets),
        _beside(datasets, risks),
        _ranks(datasets, means),
    ]
    if len(datasets) > 1:
        blocks.append(comparison.friedman_sentence(METHODS, means))
    blocks += [_tests(datasets, risks), _claims(datasets, risks, means)]
    blocks += matrices.blocks(
        {one: payload for one, payload in results.items() if one.method in matrices.METHODS}, risks
    )
    blocks += today.blocks({one: payload for one, payload in results.items() if one.method in today.METHODS})
    blocks += corals.blocks({one: payload for one, payload in results.items() if one.dataset == corals.SET})
    blocks.append(comparison.sources(own))
    shown = {"trials": trials, "rounds": next(iter(own)).options["rounds"], "seed": scope.seed}
    return Chapter(
        "guess-averse",
        "Guess-averse losses with random costs ([B] Table 2 and Figure 4)",
        ("B",),
        blocks,
        shown,
        ("table-2", "ranks", "today", "corals"),
    )


def _risks(results: Mapping[Unit, Payload], name: str) -> dict[str, AnyArray]:
    own = sorted((one, payload) for one, payload in results.items() if one.dataset == name)
    return {method: np.array([payload["risk"] for one, payload in own if one.method == method]) for method in METHODS}


def _sizes(datasets: list[str]) -> Table:
    """[B] Table 1: rows, attributes and classes, and how the rows were divided."""
    rows: list[list[Cell]] = [
        [name, *TABLE_1[name], "random 80/20" if name in RANDOM else "as given"] for name in datasets
    ]
    columns = ["data set", "training rows", "test rows", "attributes", "classes", "split"]
    return Table("table-1", "[B] Table 1: the data sets, as printed", columns, rows)


def _beside(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]]) -> Table:
    printed = published_means()
    rows: list[list[Cell]] = []
    for name in datasets:
        cells = [risks[name][method] for method in METHODS]
        rows.append([name, "paper", *(f"{printed[name, m][0]:.2f} ± {printed[name, m][1]:.2f}" for m in METHODS)])
        rows.append([name, "here", *(f"{cell.mean():.2f} ± {paired.standard_error(cell):.2f}" for cell in cells)])
    return Table("table-2", "Risk (5): mean and standard error over the trials", ["data set", "", *METHODS], rows)


def _ranks(datasets: list[str], means: AnyArray) -> Table:
    printed = {row["algorithm"]: float(row["rank"]) for row in published.read("beijbom-ranks")}
    table = published_means()
    same = np.array([[table[name, method][0] for method in METHODS] for name in datasets])
    rows: list[list[Cell]] = [
        ["paper, ten sets", *(printed[method] for method in METHODS)],
        [f"paper, the {len(datasets)} sets here", *map(float, paired.average_ranks(same))],
        ["here", *map(float, paired.average_ranks(np.round(means, 4)))],
    ]
    return Table("ranks", "Average ranks", ["", *METHODS], rows, decimals=2)


def _tests(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]]) -> Table:
    rows: list[list[Cell]] = []
    for name in datasets:
        best = min(METHODS, key=lambda method: float(risks[name][method].mean()))
        tests = [paired.paired_t(risks[name][best], risks[name][method]).p_value for method in METHODS]
        strongest = [method for method, p in zip(METHODS, tests, strict=True) if p >= 0.05 or method == best]
        rows.append([name, best, ", ".join(strongest), *tests])
    columns = ["data set", "least mean", "strongest (not beaten at 5%)", *(f"P, {method}" for method in METHODS)]
    return Table("tests", "Paired t-tests of each algorithm against the one of least mean risk", columns, rows)


def _claims(datasets: list[str], risks: Mapping[str, dict[str, AnyArray]], means: AnyArray) -> Table:
    outside = [
        outcome for outcome in (_outside(name, m, risks[name][m]) for name in datasets for m in METHODS) if outcome
    ]
    cells = len(datasets) * len(METHODS)
    share = means / means[:, :1]  # over the risk of MC on the same set, so that every set counts alike
    of = {method: share[:, place] for place, method in enumerate(METHODS)}
    worst = max(METHODS[:4], key=lambda method: float(of[method].mean()))
    below = int(np.sum(np.round(of["GLL"], 4) < np.round(of["MC"], 4)))
    last = int(np.sum(means[:, 4:].min(axis=1) > means[:, :4].max(axis=1)))
    rest = {method: values for method, values in of.items() if method in METHODS[:3]}
    return claims(
        "claims",
        [
            counted(
                "GLL is below MC on 8 of the ten sets, and equal on 2 in print", "below on", below, len(datasets), 0.8
            ),
            counted("L_s and L_t are worst on every set but breast tissue", "worst on", last, len(datasets), 0.9),
            counted(
                "the numbers of Table 2",
                "within two standard errors of the difference (.005 added to the printed error, for its rounding):",
                cells - len(outside),
                cells,
                0.954,
                "the cells of a set share its trials, so that P is too small"
                + ("; outside: " + ", ".join(outside) if outside else ""),
            ),
            ordered(
                "every guess-averse loss is before L_s and L_t (risks over that of MC)",
                (worst, of[worst]),
                {"L_s": of["Ls"], "L_t": of["Lt"]},
                "the worst of MC, P-MC, GEL, GLL against both",
            ),
            ordered(
                "GLL consistently outperforms the others by a large margin (risks over that of MC)",
                ("GLL", of["GLL"]),
                rest,
                "the printed table itself shows no large margin over P-MC: ranks 1.50 and 1.70 (erratum E19)",
            ),
            alike(
                "GEL performs on par with MC, being blind to symmetric costs (risks over that of MC)",
                ("GEL", "MC"),
                of["GEL"],
                of["MC"],
                0.05,
            ),
        ],
    )


def _outside(name: str, method: str, found: AnyArray) -> str:
    """A cell farther from print than two standard errors of the difference, with both values; "" where it is not."""
    printed, error = published_means()[name, method]
    gap = float(found.mean()) - printed
    if abs(gap) <= 2 * np.hypot(paired.standard_error(found), error + 0.005):
        return ""
    return f"{name} {method} {found.mean():.2f} for {printed:.2f}"
