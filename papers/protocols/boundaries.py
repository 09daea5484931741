"""[K] section 6: six simulations, p = 2, 10, 50, 100 replications: Figures 6 and 7. Section 7's analysis is in `risk_groups`.

Train 100, tune 100, test 10,000. The piecewise-linear classifier is tuned by the theoretical loss (7) and the logistic one by
likelihood, over lambda = 2^-15 ... 2^10; among equals the largest lambda. Both see the same rows; both are judged by (7).
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from papers import statistics
from papers.figures.boundaries import margin_losses_figure, regions_figure, theoretical_losses_figure
from papers.pages import Chapter, Drawing, Prose, Table, claims
from papers.pages.chapter import Cell
from papers.pages.figures import canvas, lines_with_errors, simulation_sample
from papers.pages.verdict import chain, everywhere, ordered
from papers.protocols import risk_groups
from papers.protocols.public import public
from papers.scope import Scope
from papers.simulations import SETTINGS, draw, rotation
from papers.store import Payload, Unit, unit
from permissible.decisions import Boundaries
from permissible.evaluation import paired
from permissible.types import AnyArray

METHODS = ("piecewise linear", "logistic")
DIMENSIONS = (2, 10, 50)
EXPONENTS = tuple(range(-15, 11))


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """List the units: settings, dimensions, replications, methods; then the risk groups of the medical set."""
    count = 5 if scope.quick else 100
    units = [
        unit(
            "boundaries",
            name,
            method,
            replication,
            {"features": features, "seed": scope.seed, "train": 100, "test": 10_000},
        )
        for name in SETTINGS
        if not scope.only or name in scope.only
        for features in DIMENSIONS
        for replication in range(count)
        for method in METHODS
    ]
    medical, missing = risk_groups.plan(scope)
    return units + medical, missing


def work(one: Unit) -> Payload:
    """Tune one classifier on one replication and measure it by (7) on the test rows."""
    if one.method == risk_groups.METHOD:
        return risk_groups.work(one)
    options = one.options
    setting = SETTINGS[one.dataset]
    # The same rows for both methods: the stream depends on all of the unit but the method.
    stream = (options["seed"], list(SETTINGS).index(one.dataset), options["features"], one.fold)
    generator = np.random.default_rng(stream)
    turned = rotation(options["features"], generator)
    parts = [draw(setting, rows, turned, generator) for rows in (options["train"], options["train"], options["test"])]
    fit = _piecewise if one.method == METHODS[0] else _logistic
    exponent, region = fit(setting.boundaries, *parts)
    losses = Boundaries(setting.boundaries).region_losses()
    return {"loss": float(np.mean(losses[parts[2][1], region])), "exponent": exponent}


Part = tuple[AnyArray, AnyArray]


def _piecewise(boundaries: tuple[float, ...], train: Part, tune: Part, test: Part) -> tuple[int, AnyArray]:
    table = Boundaries(boundaries).region_losses()
    best: tuple[float, int, Any] | None = None
    for exponent in reversed(EXPONENTS):  # the largest lambda first, so that it stays among equals
        model = public("BoundaryClassifier")(boundaries=boundaries, alpha=2.0**exponent).fit(*train)
        loss = float(np.mean(table[tune[1], model.predict_region(tune[0])]))
        if best is None or loss < best[0]:
            best = loss, exponent, model
    assert best is not None
    return best[1], np.asarray(best[2].predict_region(test[0]))


def _logistic(boundaries: tuple[float, ...], train: Part, tune: Part, test: Part) -> tuple[int, AnyArray]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000, tol=1e-6, warm_start=True)
    sign = 2 * tune[1] - 1
    best: tuple[float, int, AnyArray] | None = None
    for exponent in reversed(EXPONENTS):
        # (1/n) sum of losses + lambda/2 |w|^2 is scikit-learn's objective with C = 1/(n lambda).
        model.set_params(C=1.0 / (len(train[1]) * 2.0**exponent))
        with warnings.catch_warnings():  # separable rows and a tiny lambda: the score grows without end, and is cut off
            warnings.simplefilter("ignore")
            model.fit(*train)
        loss = float(np.mean(np.logaddexp(0.0, -sign * model.decision_function(tune[0]))))
        if best is None or loss < best[0]:
            best = loss, exponent, model.decision_function(test[0])
    assert best is not None
    with np.errstate(over="ignore"):
        return best[1], Boundaries(boundaries).decide(1.0 / (1.0 + np.exp(-best[2])))


def _framework() -> list[Drawing]:
    """Draw Figures 1 to 3: the problems between hard and soft classification and their losses."""
    named = (
        ("1", "100 rows of two normal populations (the paper prints no numbers) and the true regions", regions_figure),
        ("2", "the theoretical loss (7) of a positive and of a negative", theoretical_losses_figure),
        (
            "3",
            "the same loss over the margin, (9), with the scores of the logistic loss for delta",
            margin_losses_figure,
        ),
    )
    drawings = []
    for number, words, draw_on in named:
        figure, axes = canvas(3)
        draw_on(ax=axes[0])
        drawings.append(Drawing(f"figure-{number}", f"Figure {number}: {words}", figure))
    return drawings


def chapter(results: Mapping[Unit, Payload], scope: Scope, missing: Mapping[str, str]) -> Chapter:
    """Draw Figures 1 to 3, 6 and 7, show the 18 cells with paired tests, then the risk groups."""
    simulated = {one: payload for one, payload in results.items() if one.method in METHODS}
    count = 1 + max(one.fold for one in simulated)
    ran = [name for name in SETTINGS if any(one.dataset == name for one in simulated)]
    cells = {(name, p): _cell(simulated, name, p) for name in ran for p in DIMENSIONS}
    blocks: list[Prose | Table | Drawing] = [
        Prose(
            f"{count} replications: train 100, tune 100, test 10,000 rows; lambda = 2^-15 ... 2^10; the piecewise-linear "
            "classifier is solved to a certified duality gap where the paper takes projected sub-gradient steps (E14, E15)."
        ),
        *_framework(),
    ]
    for figure, names, sample in (("6", ("1.1", "1.2", "1.3"), "1.2"), ("7", ("2.1", "2.2", "2.3"), "2.3")):
        absent = [name for name in names if name not in ran]
        if absent:
            blocks.append(Prose(f"Not asked for in this run: {', '.join(absent)}."))
        generator = np.random.default_rng(scope.seed)
        turned = rotation(2, generator)
        rows, label = draw(SETTINGS[sample], 1000, turned, generator)
        drawn = simulation_sample(
            f"Simulation {sample}", rows, label, turned, SETTINGS[sample].cuts, SETTINGS[sample].half_width
        )
        blocks.append(
            Drawing(
                f"figure-{figure}a", f"Figure {figure}A: 1000 rows of simulation {sample} and its boundaries", drawn
            )
        )
        panels = [
            (f"Simulation {name}", _curves(cells, name), SETTINGS[name].bayes_risk()) for name in names if name in ran
        ]
        if not panels:
            continue
        lines = lines_with_errors(panels, "p", "median loss (7)")
        blocks.append(
            Drawing(
                f"figure-{figure}b", f"Figure {figure}B: median loss and standard error, Bayes risk in black", lines
            )
        )
    blocks += [_table(cells), _claims(cells)]
    blocks += risk_groups.blocks(
        {one: payload for one, payload in results.items() if one.method == risk_groups.METHOD}, missing
    )
    shown = {"replications": count, "seed": scope.seed, "p": "2 10 50"}
    return Chapter(
        "boundaries",
        "Multiple boundaries: simulations and risk groups ([K] Figures 1 to 3 and 6 to 8)",
        ("K",),
        blocks,
        shown,
        ("cells", "groups"),
    )


def _cell(results: Mapping[Unit, Payload], name: str, features: int) -> dict[str, AnyArray]:
    own = {one: v for one, v in results.items() if one.dataset == name and one.options["features"] == features}
    return {m: np.array([v["loss"] for one, v in sorted(own.items()) if one.method == m]) for m in METHODS}


def _curves(
    cells: Mapping[tuple[str, int], dict[str, AnyArray]], name: str
) -> dict[str, tuple[AnyArray, AnyArray, AnyArray]]:
    place = np.array(DIMENSIONS)
    return {
        method: (
            place,
            np.array([np.median(cells[name, p][method]) for p in DIMENSIONS]),
            np.array([statistics.median_standard_error(cells[name, p][method]) for p in DIMENSIONS]),
        )
        for method in METHODS
    }


def _table(cells: Mapping[tuple[str, int], dict[str, AnyArray]]) -> Table:
    rows: list[list[Cell]] = []
    for (name, p), cell in cells.items():
        piecewise, logistic = cell[METHODS[0]], cell[METHODS[1]]
        test = paired.paired_t(piecewise, logistic)
        rows.append(
            [
                name,
                p,
                SETTINGS[name].bayes_risk(),
                float(np.median(piecewise)),
                statistics.median_standard_error(piecewise),
                float(np.median(logistic)),
                statistics.median_standard_error(logistic),
                test.difference,
                test.p_value,
                paired.wilcoxon(piecewise, logistic).p_value,
            ]
        )
    columns = [
        "setting",
        "p",
        "Bayes",
        "piecewise",
        "s.e.",
        "logistic",
        "s.e.",
        "mean difference",
        "P (t)",
        "P (Wilcoxon)",
    ]
    return Table(
        "cells", "Loss (7) on the test rows: medians, their standard errors, paired tests", columns, rows, decimals=4
    )


def _claims(cells: Mapping[tuple[str, int], dict[str, AnyArray]]) -> Table:
    first, second = METHODS
    pairs = {f"{name} p={p}": (cell[first], cell[second]) for (name, p), cell in cells.items()}
    # What a replication gains in the mean over the dimensions; those of different settings are drawn apart.
    gain = {
        name: np.mean([cells[name, p][second] - cells[name, p][first] for p in DIMENSIONS], axis=0) for name, _ in cells
    }
    rows = [
        everywhere(
            "the piecewise-linear classifier outperforms the logistic one in all settings",
            pairs,
            "the more boundaries, the closer (7) comes to the likelihood",
        )
    ]
    if {"1.1", "1.2", "1.3"} <= set(gain):
        said = "the improvement decreases as K grows (1.1, then 1.2, then 1.3)"
        rows.append(chain(said, [(f"gain in {name}", gain[name]) for name in ("1.3", "1.2", "1.1")]))
    if {"2.1", "2.2", "2.3"} <= set(gain):
        others = {f"gain in {name}": gain[name] for name in ("2.1", "2.2")}
        said = "the improvement is greater in 2.1 and 2.2 than in 2.3"
        rows.append(ordered(said, ("gain in 2.3", gain["2.3"]), others))
    return claims("claims", rows)
