"""
A rule list for a credit officer
================================

653 applications for a credit card, 15 columns of numbers and categories with anonymised names. The officer wants a
handful of rules to read, to question, and to run in the bank's database.
"""

# %%
# The number of rules
# -------------------
# Categories and missing values need no preparation: a rule says `A9 = t` or `A3 <= 1.6`. `compact()` asks for at most
# ten rules of at most two conditions, and keeps as many as a hold-out supports:
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

import permissible as pm
from papers.datasets import load

data = load("credit-a")
X, y = data.frame(), np.isin(data.target, ["positive", "+"]).astype(int)
print(pm.ULSClassifier.compact(random_state=0).fit(X, y).to_text())

# %%
# The form has room for six rules:
model = pm.ULSClassifier.compact(n_rules=6, early_stopping=False).fit(X, y)
print(model.to_text())
model.plot()

# %%
# How good are they?
# ------------------
# Compared with up to a hundred rules chosen by validation, on the same folds.
folds = StratifiedKFold(10, shuffle=True, random_state=0)
for name, classifier in (
    ("as many as pay", pm.ULSClassifier.compact(random_state=0)),
    ("six rules", pm.ULSClassifier.compact(n_rules=6, early_stopping=False)),
    ("default", pm.ULSClassifier(random_state=0)),
):
    error = 1 - cross_val_score(classifier, X, y, cv=folds)
    print(f"{name:>14}: error {error.mean():.3f} +- {error.std():.3f} over ten folds")

# %%
# One application explained
# -------------------------
# Each rule's contribution to the score of the first row; positive values favour granting.
print(model.explain(X[:1])[0])

# %%
# Into the database
# -----------------
# The same rules as one SELECT; the score is the same to the last digit that the database can hold.
print(model.to_sql(table="applications", dialect="duckdb")[:800], "...")

# %%
# **The decision**: decline below a probability of 0.3, grant above 0.7, ask for papers in between:
actions = model.decide(X, pm.Boundaries([0.3, 0.7]))
print({name: int((actions == k).sum()) for k, name in enumerate(("decline", "ask for papers", "grant"))})
