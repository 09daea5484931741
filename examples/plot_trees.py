"""
One tree, any loss
==================

CART's Gini, C4.5's entropy and the square root of Kearns and Mansour are one algorithm with three functions phi. Here
are the three trees of one data set, a tree for a phi of our own, and pruned and boosted trees.
"""

# %%
# Three classics
# --------------
# The surrogate falls with every split; how fast depends on phi, and so does the tree.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

import permissible as pm

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
figure, ax = plt.subplots(layout="constrained")
for loss in ("squared", "logistic", "matsushita"):
    tree = pm.UDTClassifier(loss=loss, max_leaf_nodes=12).fit(X, y)
    surrogate = [tree.certificate_.root_surrogate, *tree.history_["surrogate"]]
    ax.plot(np.arange(1, len(surrogate) + 1), surrogate, marker="o", label=loss)
ax.set(xlabel="leaves", ylabel="mean surrogate on the training rows", title="Every split lowers the surrogate")
ax.legend()

# %%
# Reading a tree
# --------------
# As text, with the probability of the positive class, its score g(p), and the support of each leaf.
tree = pm.UDTClassifier(max_leaf_nodes=5).fit(X, y)
print(tree.to_text())

# %%
# As disjoint rules, exactly one of which covers a row:
for rule in tree.to_rules():
    print(f"{rule.probability[1]:.2f}  {rule.words}")

# %%
# And as a picture:
pm.plot_tree(tree, plt.subplots(figsize=(9, 4), layout="constrained")[1])

# %%
# A phi of our own
# ----------------
# An impurity is all a tree needs. This one lies between Gini and the square root.
mine = pm.losses.from_phi(lambda p: (p * (1 - p)) ** 0.75, name="three quarters")
print(pm.UDTClassifier(loss=mine, max_leaf_nodes=3).fit(X, y).to_text())

# %%
# Pruning, and boosting
# ---------------------
# `pruning="auto"` chooses how much of a large tree to keep. Boosted trees are ULS with `learner="tree"`.
for name, model in {
    "tree of 31 leaves": pm.UDTClassifier(),
    "the same, pruned by cross-validation": pm.UDTClassifier(pruning="auto", random_state=0),
    "30 boosted trees": pm.ULSClassifier.trees(n_trees=30, random_state=0),
}.items():
    print(f"{name:40s} error {1 - cross_val_score(model, X, y, cv=5).mean():.3f}")

# %%
# What is proved
# --------------
# The search is greedy. On XOR no single test helps, and the certificate reports it.
corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
xor = pm.UDTClassifier().fit(corners, corners[:, 0] != corners[:, 1])
print(xor.certificate_.statement)
