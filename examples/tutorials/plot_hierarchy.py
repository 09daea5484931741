"""
A hierarchy of mistakes, as in a coral survey
=============================================

In a coral survey, confusing two corals of one family is a small mistake; confusing sand with a coral is a large one.
Mistakes between close classes of the hierarchy are cheap, between distant ones expensive. The data here are handwritten
digits, which are easy to check by eye: digits of one group (round, straight) are separated later by hand, mistakes
across groups are not.
"""

# %%
# The costs
# ---------
# Two leaves of one branch are 2 apart, of different branches 4.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import permissible as pm
from permissible.report.displays.cost import CostDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
costs = pm.CostMatrix.from_hierarchy({"round": [0, 3, 6, 8, 9], "straight": [1, 4, 7], "other": [2, 5]})
print(costs.aligned(np.arange(10)).matrix.astype(int))

# %%
# Trained for them, or not
# ------------------------
# The same rounds on the same columns: without costs, with Bayes decisions from probabilities, and with the guess-averse
# logistic loss of the costs themselves. Then whatever cross-validation finds best: affine terms, rules, trees, or a
# blend.
models = {
    "costs ignored": pm.MCBoostClassifier("mc", n_rounds=60, learner="linear"),
    "Bayes decisions": pm.MCBoostClassifier("mc", cost_matrix=costs, decision="bayes", n_rounds=60, learner="linear"),
    "trained for the costs": pm.MCBoostClassifier("gll", cost_matrix=costs, n_rounds=60, learner="linear"),
    "trees where they help": pm.MCBoostClassifier(learner="auto", cost_matrix=costs, n_rounds=60, random_state=0),
}
matrix = costs.aligned(np.arange(10)).matrix
for name, model in models.items():
    model.fit(X_train, y_train)
    print(f"{name:22s} mean cost {matrix[y_test, model.predict(X_test)].mean():.3f}")

# %%
# Affine terms give similar costs on these images, whatever they were trained for; trees that estimate probabilities,
# decided at the least expected cost, cost less. Which is better depends on the data; `learner="auto"` chooses by
# cross-validation.
#
# Which mistakes cost most
# ------------------------
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
model = models["trained for the costs"]
display = CostDisplay.from_estimator(model, X_test, y_test)
display.plot("count", axes[0])
display.plot("cost", axes[1])

# %%
# Why this row?
# -------------
# What the strongest terms added to each class, and the expected cost of each answer.
print(model.explain(X_test[:1], n_steps=5)[0])

# %%
# **The decision**: a manual review of a digit costs 0.4. Probabilities come from a model that was fitted without costs,
# so that the cost of a review can change without another fit.
looks = pm.CostMatrix(matrix, reject_cost=0.4)
decided = models["trees where they help"].decide(X_test, looks)
held = decided == -1
paid = np.where(held, 0.4, matrix[y_test, decided])
print(f"{held.mean():.1%} of the digits go to the clerk; mean cost {paid.mean():.3f}")
