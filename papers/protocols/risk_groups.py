"""[K] section 7 on a public set: four risk groups from the extremes of an ordered outcome, the middle held out of training.

The ADNI images cannot be shared. Cleveland heart disease has an outcome of 0 (healthy) to 4: the classifier for the boundaries
1/4, 1/2, 3/4 is trained on 0 against 3 and 4, lambda by two-fold cross-validation over 2^-15 ... 2^5 as in the paper; 1 and 2 are
held out and must fall in between. Scores of the training groups are from ten-fold cross-validation, so none was fitted to itself.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from papers.datasets import find
from papers.pages import Drawing, Prose, Table, claims
from papers.pages.chapter import Cell
from papers.pages.figures import risk_group_figure
from papers.protocols.public import public
from papers.scope import Scope, loaded
from papers.store import Payload, Unit, unit
from permissible.decisions import Boundaries
from permissible.types import AnyArray

METHOD = "risk groups"
SET = "heart-cleveland"
QUARTERS = (0.25, 0.5, 0.75)
GROUPS = ("0", "1", "2", "3 or 4")
LEVEL = 0.05
REGIONS = ("p <= 1/4", "1/4 to 1/2", "1/2 to 3/4", "p > 3/4")


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """One unit, if the set can be had."""
    found = find([SET], scope.data, network=scope.network)
    settings = {"seed": scope.seed, "boundaries": list(QUARTERS)}
    units = [
        unit("boundaries", name, METHOD, 0, {**settings, "source": source}) for name, source in found.sources.items()
    ]
    return units, found.missing


def work(one: Unit) -> Payload:
    """Tune, score every patient, and project on the first two principal components."""
    from sklearn.model_selection import StratifiedKFold

    seed = one.options["seed"]
    patients = loaded(one.dataset)
    group = np.array([min(int(float(label)), 3) for label in patients.target])
    rows = patients.matrix(impute=True)
    extreme = np.flatnonzero((group == 0) | (group == 3))
    centre, scale = rows[extreme].mean(axis=0), rows[extreme].std(axis=0)
    rows = (rows - centre) / np.where(scale > 0, scale, 1.0)
    label = (group[extreme] == 3).astype(np.int64)
    exponent = _tuned(rows[extreme], label, seed)
    score = np.empty(len(group))
    middle = (group == 1) | (group == 2)
    whole = _fit(rows[extreme], label, exponent)
    score[middle] = whole.decision_function(rows[middle])
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(rows[extreme], label):
        model = _fit(rows[extreme[train]], label[train], exponent)
        score[extreme[test]] = model.decision_function(rows[extreme[test]])
    deltas = np.asarray(whole.deltas_)
    _, _, axes = np.linalg.svd(rows[extreme] - rows[extreme].mean(axis=0), full_matrices=False)
    # A component's sign is arbitrary: let the diseased lie on the right.
    axes = (
        axes[:2]
        * np.where(axes[:2] @ (rows[extreme][label == 1].mean(axis=0) - rows[extreme].mean(axis=0)) < 0, -1, 1)[:, None]
    )
    return {
        "group": group.tolist(),
        "score": score.tolist(),
        "region": np.searchsorted(deltas, score, side="left").tolist(),
        "components": (rows @ axes.T).tolist(),
        "deltas": deltas.tolist(),
        "exponent": exponent,
    }


def _fit(rows: AnyArray, label: AnyArray, exponent: int) -> Any:
    return public("BoundaryClassifier")(boundaries=QUARTERS, alpha=2.0**exponent).fit(rows, label)


def _tuned(rows: AnyArray, label: AnyArray, seed: int) -> int:
    from sklearn.model_selection import StratifiedKFold

    table = Boundaries(QUARTERS).region_losses()
    losses = {}
    for exponent in range(5, -16, -1):  # the largest lambda first, so that it stays among equals
        total = 0.0
        for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(rows, label):
            region = _fit(rows[train], label[train], exponent).predict_region(rows[test])
            total += float(np.sum(table[label[test], region]))
        losses[exponent] = total
    return min(losses, key=losses.__getitem__)


def blocks(results: Mapping[Unit, Payload], missing: Mapping[str, str]) -> list[Prose | Table | Drawing]:
    """Show who falls into which group, the components, and the density of the scores."""
    if not results:
        return [Prose(f"The medical analysis is left out: {'; '.join(missing.values())}.")]
    payload = next(iter(results.values()))
    group, region = np.array(payload["group"]), np.array(payload["region"])
    score, components = np.array(payload["score"]), np.array(payload["components"])
    rows: list[list[Cell]] = []
    for code, name in enumerate(GROUPS):
        own = region[group == code]
        counts: list[Cell] = [int(np.sum(own == k)) for k in range(4)]
        rows.append(
            [
                name,
                "held out" if code in (1, 2) else "trained",
                len(own),
                *counts,
                float(np.median(score[group == code])),
            ]
        )
    figure = risk_group_figure(components, region, group, score, payload["deltas"], GROUPS, REGIONS)
    return [
        Prose(
            f"Risk groups on {SET} (outcome 0 to 4), in place of ADNI, which cannot be shared: trained on 0 against 3 and 4, "
            f"with 1 and 2 held out, boundaries 1/4, 1/2, 3/4, lambda = 2^{payload['exponent']} by two-fold cross-validation. "
            "Scores of the trained groups are those of ten-fold cross-validation, so that no patient was scored by a model "
            "that had seen them; the paper does not say how its training groups were scored."
        ),
        Table(
            "groups",
            "Patients by outcome and estimated region",
            ["outcome", "", "patients", *REGIONS, "median score"],
            rows,
        ),
        Drawing(
            "figure-8", "Figure 8: first two principal components by region; density of the scores by outcome", figure
        ),
        Prose(
            "Rules of the verdicts. Peaks: agrees where in every outcome more patients lie in its own interval than in any other "
            "one, differs where some other interval has more, cannot be told in a tie. Order: agrees where each outcome scores "
            f"above the one before by Mann and Whitney's one-sided test at {LEVEL}, differs where some median falls, and "
            "cannot be told otherwise."
        ),
        claims("group-claims", [_peaks(group, region), _order(group, score)]),
    ]


Claim = tuple[str, str, bool | None, str]
WHY = "another disease, another set"


def _peaks(group: AnyArray, region: AnyArray) -> Claim:
    """Whether each outcome has most of its patients in its own interval."""
    counts = np.array([[np.sum(region[group == code] == k) for k in range(4)] for code in range(4)])
    own, best = np.diag(counts), counts.max(axis=1)
    others = np.where(np.eye(4, dtype=bool), -1, counts).max(axis=1)
    agrees = True if (own > others).all() else False if (best > own).any() else None
    found = ", ".join(
        f"{name}: {REGIONS[int(np.argmax(row))]} ({row.max()} of {row.sum()}; {row[code]} in its own)"
        for code, (name, row) in enumerate(zip(GROUPS, counts, strict=True))
    )
    return "the groups peak within the four intervals", f"most patients of outcome {found}", agrees, WHY


def _order(group: AnyArray, score: AnyArray) -> Claim:
    """Whether the scores shift upwards from outcome to outcome."""
    from scipy.stats import mannwhitneyu

    each = [score[group == code] for code in range(4)]
    medians = [float(np.median(scores)) for scores in each]
    steps = [float(mannwhitneyu(high, low, alternative="greater").pvalue) for low, high in pairwise(each)]
    falls = any(high < low for low, high in pairwise(medians))
    agrees = False if falls else True if max(steps) < LEVEL else None
    found = (
        "median scores "
        + ", ".join(f"{name}: {value:.2f}" for name, value in zip(GROUPS, medians, strict=True))
        + "; P of each step "
        + ", ".join(f"{step:.2g}" for step in steps)
    )
    return "the densities shift in the expected order", found, agrees, WHY
