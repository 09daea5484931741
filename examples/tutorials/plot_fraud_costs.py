"""
Fraud and bad loans: a cost matrix
==================================

A bank lets an application through or holds it. Holding an honest customer costs a little, letting a fraud or a bad loan
through costs a lot. The data are 1,000 loans of a German bank (300 went bad), published with their price list: a bad
loan let through costs five times a good one held.
"""

# %%
# The price list
# --------------
# Rows are the truth, columns the action: `C[true, action]`, 0 = let through, 1 = hold.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import permissible as pm
from papers.datasets import load

data = load("credit-g")
X, bad = data.frame(), (data.target == "2").astype(int)
costs = pm.CostMatrix([[0, 1], [5, 0]])
print(costs.decide([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]), "at probabilities of 0.1, 0.2 and 0.5 of going bad")

# %%
# Two ways to decide
# ------------------
# The same model, the same folds: the label from `predict`, and the action of least expected cost. Nothing is
# refitted, resampled or reweighted between them.
folds = StratifiedKFold(10, shuffle=True, random_state=0)
proba = cross_val_predict(pm.ULSClassifier(random_state=0), X, bad, cv=folds, method="predict_proba")
actions = {
    "let all through": np.zeros(len(bad), dtype=int),
    "hold all": np.ones(len(bad), dtype=int),
    "by `predict`": pm.Hard().decide(proba),
    "by cost": costs.decide(proba),
}
risk = {name: costs.matrix[bad, action].mean() for name, action in actions.items()}
for name, action in actions.items():
    caught = np.mean(action[bad == 1])
    print(f"{name:<16} cost {risk[name]:.3f} a case, {action.mean():4.0%} held, {caught:4.0%} of the bad ones caught")

# %%
# Manual review
# -------------
# A manual review costs 0.5 and always finds the truth. `reject_cost` adds that to the list; -1 is "review".
looking = pm.CostMatrix(costs.matrix, reject_cost=0.5)
action = looking.decide(proba)
paid = np.where(action == -1, 0.5, costs.matrix[bad, action])
print(f"cost {paid.mean():.3f} an application, {np.mean(action == -1):.0%} looked at")
risk["by cost, or look"] = paid.mean()

figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.barh(list(risk), list(risk.values()), color=["0.7", "0.7", "0.5", "#0072b2", "#009e73"])
ax.invert_yaxis()
ax.set(xlabel="mean cost an application, ten-fold cross-validation")

# %%
# When the amount decides
# -----------------------
# Five to one is an average: a large loan that goes bad costs more than a small one. Let a bad loan cost its amount over
# the mean amount, times five, and a held one 1. The probabilities stay; only the comparison changes row by row.
amount = np.asarray(data.columns["amount"], dtype=float)
lost = 5 * amount / amount.mean()
hold = proba[:, 1] * lost > proba[:, 0]
flat = costs.decide(proba) == 1
for name, held in (("one price for all", flat), ("by the amount", hold)):
    print(f"{name:<18} cost {np.mean(np.where(held, bad == 0, lost * bad)):.3f} an application, {held.mean():.0%} held")

# %%
# **The decision**: hold where the expected loss is larger than the price of holding, and review where the two are
# close. These rules say why, in words (the codes are those of the data's own description; `status = A14` is "no account
# here"):
print(pm.ULSClassifier.compact(n_rules=8, early_stopping=False).fit(X, bad).to_text())
