"""
Your own phi in ten lines
=========================

A permissible function phi is a concave, symmetric entropy on [0, 1]. Write one, and the loss, the example weights, the
probabilities, the tree impurity, the thresholds and the large-margin surrogate follow.
"""

# %%
# A phi that is flatter in the middle than Gini's: it penalises impure leaves more.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

import permissible as pm


def phi(p):
    return p * (1 - p) + 0.5 * (p * (1 - p)) ** 2


mine = pm.losses.from_phi(phi, phi_prime=lambda p: (1 - 2 * p) * (1 + p * (1 - p)), name="mine")

# %%
# Everything that follows from it
# -------------------------------
margin = np.linspace(-2, 2, 401)
probability = np.linspace(0, 1, 401)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for loss in (mine, pm.losses.get("squared"), pm.losses.get("logistic")):
    axes[0].plot(margin, loss.value(margin), label=loss.name)
    axes[1].plot(margin, loss.weight(margin))
    axes[2].plot(probability, loss.impurity(probability))
axes[0].set(title="loss of a margin")
axes[1].set(title="weight of an example")
axes[2].set(title="impurity of a leaf")
axes[0].legend()

# %%
# Rules, trees and boundaries with it
# -----------------------------------
X, y = load_breast_cancer(return_X_y=True)
for classifier in (
    pm.ULSClassifier(loss=mine, n_rounds=10, max_literals=2, early_stopping=False),
    pm.UDTClassifier(loss=mine, max_leaf_nodes=8),
    pm.BoundaryClassifier([0.25, 0.75], loss=mine, alpha=0.1),
):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    accuracy = cross_val_score(classifier, scaled, y, cv=5).mean()
    print(f"{type(classifier).__name__:<20} accuracy {accuracy:.3f}")

# %%
# A function that is not permissible is refused with the reason.
try:
    pm.losses.from_phi(lambda p: p**2, name="convex")
except ValueError as error:
    print(error)

# %%
# **The decision**: you choose the shape of phi; the library minimises its loss.
