"""The pictures of README and of the guides to the estimators: `python -m tools.guide_pictures [NAME ...]` writes them."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import permissible as pm
from permissible.cli.io.contenders import contenders
from permissible.cli.verbs.demo import FOLDS, OURS, PLAIN, compared
from permissible.datasets import COSTS
from permissible.evaluation.cross_validation import LabelledRows, out_of_fold

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.6"


STATIC = Path(__file__).parents[1] / "docs" / "_static"


def refer() -> Figure:
    """What each way to decide about a loan costs: ten folds of each model, every decision after that without refitting."""
    X, y = pm.datasets.german_credit()
    ways, _, _ = compared(X, y, 0, lambda done, total: None)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    shown = ways[::-1]
    colours = [BLUE if way.name.startswith(OURS) else GREY for way in shown]
    left.barh(
        [way.name for way in shown], [way.cost for way in shown], xerr=[way.error for way in shown], color=colours
    )
    left.set(xlabel="cost an applicant, held out")
    left.tick_params(labelsize=8)
    prices, codes = np.linspace(0.05, 0.84, 60), np.unique(y, return_inverse=True)[1]
    for name, colour in ((OURS, BLUE), (PLAIN, ORANGE)):
        proba, _ = out_of_fold(LabelledRows(X, y), contenders(0)[name], FOLDS, 0)
        right.plot(
            prices,
            [pm.CostMatrix(COSTS, float(price)).risk(codes, proba) for price in prices],
            color=colour,
            label=name,
        )
    right.axhline(0.7, color=GREY, linestyle="--", label="refuse everybody")
    right.set(xlabel="price of a referral", ylabel="cost an applicant", ylim=(0, None))
    right.legend(fontsize=8, frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def rules() -> Figure:
    """The bars of the guide to rules."""
    return pm.ULSClassifier.compact(n_rules=6).fit(*pm.datasets.german_credit()).plot().figure


def tree() -> Figure:
    """The tree of the guide to trees."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    pm.plot_tree(pm.UDTClassifier(max_leaf_nodes=6).fit(*pm.datasets.german_credit()), figure.subplots())
    return figure


def boundaries() -> Figure:
    """Four risk groups of tumours over two measurements, and the scores of held-out rows beside the cut-offs."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    tumours = load_breast_cancer()
    X, y = scale(tumours.data[:, :2]), np.where(tumours.target == 0, "malignant", "benign")
    half = np.arange(len(y)) % 2 == 0
    model = pm.BoundaryClassifier((0.25, 0.5, 0.75)).fit(X[half], y[half])
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    pm.RegionDisplay.from_estimator(model, X[~half], y[~half], features=(0, 1), ax=left)
    left.set(xlabel="mean radius (standardised)", ylabel="mean texture (standardised)")
    pm.MarginDensityDisplay.from_estimator(model, X[~half], y[~half], ax=right)
    return figure


def hierarchy() -> Figure:
    """Mistakes between handwritten digits, counted and priced."""
    from sklearn.datasets import load_digits

    from permissible.report.displays.cost import CostDisplay

    X, y = load_digits(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    costs = pm.CostMatrix.from_hierarchy({"round": [0, 3, 6, 8, 9], "straight": [1, 4, 7], "other": [2, 5]})
    model = pm.MCBoostClassifier("gll", cost_matrix=costs, learner="linear", n_rounds=60).fit(X[half], y[half])
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    display = CostDisplay.from_estimator(model, X[~half], y[~half])
    display.plot("count", left)
    display.plot("cost", right)
    return figure


PICTURES = {made.__name__: made for made in (refer, rules, tree, boundaries, hierarchy)}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]().savefig(STATIC / f"{name}.svg", metadata={"Date": None})
