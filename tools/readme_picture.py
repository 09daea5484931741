"""Draw the README picture: what a price for "I do not know" does on real tumours. Usage: readme_picture.py OUT.svg."""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict

import permissible as pm


def main(path: str) -> None:
    """Cross-validate ten rules, then decide for every price of a referral without refitting."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    malignant = (y == 0).astype(int)
    proba = cross_val_predict(pm.ULSClassifier.compact(n_rules=10), X, malignant, cv=5, method="predict_proba")[:, 1]
    prices = np.linspace(0.01, 0.5, 99)
    figure = Figure(figsize=(8, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.hist([proba[malignant == 0], proba[malignant == 1]], bins=20, stacked=True, color=["#0072b2", "#d55e00"])
    left.axvspan(0.1, 0.9, color="0.5", alpha=0.2)
    left.set(xlabel="probability of malignant (ten rules, held out)", ylabel="tumours", yscale="log")
    left.legend(["price 0.1: refer", "benign", "malignant"], fontsize=8)
    right.plot(prices, [pm.Reject(price).risk(malignant, proba) for price in prices], color="#0072b2")
    right.axhline(pm.Hard().risk(malignant, proba), color="0.4", linestyle="--")
    right.set(xlabel="price of a referral (a mistake costs 1)", ylabel="cost a tumour", ylim=(0, None))
    right.legend(["free to refer", "must answer"], fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
