"""
When one mistake costs five times another
=========================================

A missed case costs five times a false alarm: fraud, default, a disease that is treated late. Here: diabetes among 768 women
(the Pima data). The mistakes are priced first, then the classifier is trained and judged by that price.
"""

# %%
# The price list
# --------------
# Rows are the truth, columns the prediction: `C[true, predicted]`.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from permissible.experiments.datasets import load

data = load("diabetes")
X, y = data.matrix(), (data.target == "positive").astype(int)
costs = pm.CostMatrix([[0, 1], [5, 0]])
print(costs.decide([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]), "at probabilities of 0.1, 0.2 and 0.5 of diabetes")

# %%
# Candidates, judged by the price
# -------------------------------
# All on the same ten folds. "argmax" is what everybody gets from `predict`; the others decide by cost.
candidates = {
    "logistic regression, argmax": (make_pipeline(StandardScaler(), LogisticRegression()), pm.Hard()),
    "logistic regression, by cost": (make_pipeline(StandardScaler(), LogisticRegression()), costs),
    "boundary classifier at 1/6": (make_pipeline(StandardScaler(), pm.BoundaryClassifier([1 / 6], alpha=0.01)), costs),
    "ten rules, by cost": (pm.ULSClassifier.compact(n_rules=10), costs),
}
risk = {}
for name, (classifier, decision) in candidates.items():
    proba = cross_val_predict(classifier, X, y, cv=10, method="predict_proba")
    action = decision.decide(proba)
    risk[name] = costs.matrix[y, action].mean()
    print(f"{name:<30} cost a woman {risk[name]:.3f}, cases missed {np.mean(action[y == 1] == 0):.0%}")

figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
ax.barh(list(risk), list(risk.values()), color=["0.6", "#0072b2", "#0072b2", "#0072b2"])
ax.invert_yaxis()
ax.set(xlabel="mean cost (cross-validated)")

# %%
# **The decision**: act from a probability of 1/6 on, `costs.decide`; the ten rules say why, in words.
model = pm.ULSClassifier.compact(n_rules=10).fit(data.frame(), y)
print(model.to_text())
