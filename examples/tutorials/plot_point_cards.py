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
# 1,000 loans, which come with the package. `points()` finds conditions, thresholds and points together. A longer or larger
# loan, or an instalment that takes more of the income, must never look safer: `monotonic_cst` holds for every applicant
# there can be. A loan that goes bad costs five times an applicant who is sent away, so `Weighted(1 / 6)` decides.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score

import permissible as pm

columns, outcome = pm.datasets.german_credit()
X, y = pd.DataFrame(columns), np.asarray(outcome)
directions = {"months": 1, "amount": 1, "instalment rate": 1}
model = pm.ULSClassifier.points(n_rules=6, max_points=5, monotonic_cst=directions).fit(X, y)
grant = pm.Weighted(1 / 6)
print(model.to_text(decision=grant))

# %%
# What the whole numbers cost, and what the directions cost in training loss:
print(model.certificate_.statement)
print(f"the directions cost {model.constraint_cost(X, y):.4f} of mean loss")

# %%
# With time to spend, branch and bound proves the points:
proved = pm.ULSClassifier.points(n_rules=6, monotonic_cst=directions, max_time=20).fit(X, y)
print(proved.certificate_.statement)

# %%
# Held-out log-loss, beside the default, which nobody can add up by hand, and beside trees under the same directions:
folds = StratifiedKFold(5, shuffle=True, random_state=0)
rivals = {
    "card": pm.ULSClassifier.points(n_rules=6, monotonic_cst=directions),
    "default": pm.ULSClassifier(random_state=0),
    "trees": pm.ULSClassifier.trees(monotonic_cst=directions, random_state=0),
}
for name, classifier in rivals.items():
    lost = -cross_val_score(classifier, X, y, cv=folds, scoring="neg_log_loss")
    print(f"{name:>8}: {lost.mean():.3f}")

# %%
# Why was this applicant declined?
# --------------------------------
# The card speaks for "went bad", so the reasons of a declined applicant are the conditions that gave most points; they add up
# to the score above that of an applicant to whom none applies. The same words come out of ``to_sql(reasons=4)`` and of the
# Python export.
declined = X[model.decide_labels(X, grant) == "went bad"][:1]
print(model.reasons(declined, k=4, decision=grant)[0])

# %%
# The smallest change of at most two columns that changes the decision, with a proof that none is smaller; what an
# applicant cannot change is fixed:
print(model.recourse(declined, grant, fixed=["history", "age", "status"], max_columns=2))

# %%
# For the branch office
# ---------------------
# Banks print points for paying back, of which each further 80 double the odds, and 500 are odds of 10 to one. A card speaks for
# ``classes_[1]``, the last of the sorted labels, so the labels are turned round. And the card as a workbook, in which one
# answers the conditions with 1 or 0 and reads total, risk and decision.
good = np.where(y == "paid back", "repaid", "defaulted")
upside = {name: -way for name, way in directions.items()}
scored = pm.ULSClassifier.points(n_rules=6, monotonic_cst=upside).fit(X, good)
sheet = scored.card(points_to_double_odds=80, base_points=500, base_odds=10, decision=pm.Weighted(5 / 6))
print(sheet.to_text())
with tempfile.TemporaryDirectory() as folder:
    sheet.to_excel(Path(folder) / "card.xlsx")
    print((Path(folder) / "card.xlsx").stat().st_size > 0)

# %%
# A clinical card
# ---------------
# 569 tumours, measured under the microscope. Risk groups are probabilities between boundaries; each total falls into
# one of four, which have names.
tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
card = pm.ULSClassifier.points(n_rules=5, max_points=3).fit(tumours, np.where(benign == 1, "benign", "malignant"))
groups, names = pm.Boundaries([0.05, 0.5, 0.95]), ["low", "raised", "high", "very high"]
print(card.to_text(decision=groups, names=names))

# %%
# The same on paper: `to_html` draws a card with boxes to fill in.
paper = card.to_html(decision=groups, names=names)

# %%
# The conditions and their points as a picture:
card.plot()

# %%
# The database has the same card, in whole numbers:
print(card.to_sql(table="tumours", dialect="postgres", keep=[]))
