"""
A model on one index card
=========================

In clinics and banks the model that is really used is a card: a handful of yes-or-no conditions, small whole-number
points, and a table from the total to the risk. Here are two: one for credit, with directions that the law asks for,
reasons for the declined and a sheet for Excel; one for the clinic, with risk groups.
"""

# %%
# A credit card
# -------------
# 653 applications. `points()` finds conditions, thresholds and points together. Four columns, among them income (A15)
# and years in employment (A8), must never speak against an applicant when they rise: `monotonic_cst` holds for every
# applicant there can be.
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score

import permissible as pm
from papers.datasets import load

data = load("credit-a")
X, y = data.frame(), np.where(np.isin(data.target, ["positive", "+"]), "grant", "decline")
directions = {"A8": 1, "A11": 1, "A14": 1, "A15": 1}
model = pm.ULSClassifier.points(n_rules=5, max_points=5, monotonic_cst=directions).fit(X, y)
print(model.to_text(decision=pm.Reject(0.2)))

# %%
# `Reject(0.2)` refers the totals where a mistake would cost more than a second look. What the whole numbers cost, and
# what the directions cost in training loss:
print(model.certificate_.statement)
print(f"the directions cost {model.constraint_cost(X, y):.4f} of mean loss")

# %%
# With time to spend, branch and bound proves the points:
proved = pm.ULSClassifier.points(n_rules=5, monotonic_cst=directions, max_time=20).fit(X, y)
print(proved.certificate_.statement)

# %%
# Held-out log-loss, beside a hundred rules that nobody can add up by hand:
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, classifier in (("card", pm.ULSClassifier.points(n_rules=5)), ("default", pm.ULSClassifier(random_state=0))):
    lost = -cross_val_score(classifier, X, y, cv=folds, scoring="neg_log_loss")
    print(f"{name:>8}: {lost.mean():.3f}")

# %%
# Why was this applicant declined?
# --------------------------------
# The principal reasons are the conditions by which most points were lost; they add up to the missing score. The same
# words come out of ``to_sql(reasons=4)`` and of the Python export.
declined = X[model.predict(X) == "decline"][:1]
print(model.reasons(declined, k=4)[0])

# %%
# The smallest change of at most two columns that changes the decision, with a proof that none is smaller; what an
# applicant cannot change is fixed:
print(model.recourse(declined, fixed=["A2"], max_columns=2))

# %%
# For the branch office
# ---------------------
# Credit points: 60 more double the odds, 500 are odds of 10 to one. And the card as a workbook, in which one answers
# the conditions with 1 or 0 and reads the risk.
print(model.card(points_to_double_odds=60, base_points=500, base_odds=10).to_text())
with tempfile.TemporaryDirectory() as folder:
    model.to_excel(Path(folder) / "card.xlsx", decision=pm.Reject(0.2))
    print((Path(folder) / "card.xlsx").stat().st_size > 0)

# %%
# A clinical card
# ---------------
# 569 tumours, measured under the microscope. Risk groups are probabilities between boundaries; each total falls into
# one of four.
tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
card = pm.ULSClassifier.points(n_rules=5, max_points=3).fit(tumours, np.where(benign == 1, "benign", "malignant"))
print(card.to_text(decision=pm.Boundaries([0.05, 0.5, 0.95])))

# %%
# The conditions and their points as a picture:
card.plot()

# %%
# The database has the same card, in whole numbers:
print(card.to_sql(table="tumours", dialect="postgres", keep=[]))
