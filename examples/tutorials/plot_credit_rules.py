"""
A rule list for a credit officer
================================

1,000 applications for a loan, 20 columns of numbers and categories, published with their costs: granting a loan that
goes bad costs five times as much as refusing a good customer. The officer wants a handful of rules to read, to question,
and to run in the bank's database.
"""

# %%
# The number of rules
# -------------------
# Categories and missing values need no preparation: a rule says `savings = below 100 DM` or `months > 15.5`. `compact()` asks for
# at most ten rules of at most two conditions, and keeps as many as cross-validation supports:
import numpy as np
from sklearn.model_selection import StratifiedKFold

import permissible as pm

X, y = pm.datasets.german_credit()
print(pm.ULSClassifier.compact(random_state=0).fit(X, y).to_text())

# %%
# The form has room for six rules:
model = pm.ULSClassifier.compact(n_rules=6, early_stopping=False).fit(X, y)
print(model.to_text())
model.plot()

# %%
# What do they cost?
# ------------------
# Compared with up to a hundred rules chosen by cross-validation, on the same folds, at the costs of the data: refuse where a loss
# is more likely than one in six. Refusing everybody costs 0.7 an application.
costs = pm.CostMatrix([[0, 1], [5, 0]], classes=["paid back", "went bad"])
labels = np.asarray(y)


def rows(chosen):
    return {name: np.asarray(column)[chosen] for name, column in X.items()}


for name, classifier in (
    ("as many as pay", pm.ULSClassifier.compact(random_state=0)),
    ("six rules", pm.ULSClassifier.compact(n_rules=6, early_stopping=False)),
    ("default", pm.ULSClassifier(random_state=0)),
):
    spent = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(labels, labels):
        decided = classifier.fit(rows(train), labels[train]).decide_labels(rows(test), costs)
        spent.append(np.mean(np.where(labels[test] == decided, 0, np.where(labels[test] == "went bad", 5, 1))))
    print(f"{name:>14}: {np.mean(spent):.3f} an application +- {np.std(spent) / np.sqrt(10):.3f}")

# %%
# One application explained
# -------------------------
# Each rule's contribution to the score of the first row; positive values speak against the loan.
print(model.explain(rows([0]))[0])

# %%
# Into the database
# -----------------
# The same rules as one SELECT; the score is the same to the last digit that the database can hold.
print(model.to_sql(table="applications", dialect="duckdb")[:800], "...")

# %%
# **The decision**: grant below a risk of 0.15, refuse above 0.4, ask for papers in between:
actions = model.decide(X, pm.Boundaries([0.15, 0.4]))
print({name: int((actions == k).sum()) for k, name in enumerate(("grant", "ask for papers", "refuse"))})
