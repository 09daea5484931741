"""Draw the README picture: what each way to decide about a loan costs. Usage: readme_picture.py OUT.svg RULES.svg."""

import sys

import numpy as np
from matplotlib.figure import Figure

import permissible as pm
from permissible.cli.io.contenders import contenders
from permissible.cli.verbs.demo import FOLDS, OURS, PLAIN, compared
from permissible.datasets import COSTS
from permissible.evaluation.cross_validation import LabelledRows, out_of_fold

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.6"


def main(path: str) -> None:
    """Ten folds of each model; every decision after that without refitting."""
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
    figure.savefig(path, metadata={"Date": None})


def rules(path: str) -> None:
    """The bars of the guide to rules."""
    ax = pm.ULSClassifier.compact().fit(*pm.datasets.german_credit()).plot()
    ax.figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
    rules(sys.argv[2])
