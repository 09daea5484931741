"""
From AdaBoost, logistic regression, LightGBM or EBM to permissible
==================================================================

What you have now, the line that replaces it, and what you gain, measured on the same folds of real data.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from papers.datasets import load

data = load("diabetes")
X, y = data.matrix(), np.char.endswith(data.target.astype(str), "positive").astype(int)
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
LOSSES = {}


def judge(name, classifier):
    """Ten folds: error, log-loss, seconds."""
    start = time.perf_counter()
    proba = cross_val_predict(classifier, X, y, cv=FOLDS, method="predict_proba")
    seconds = time.perf_counter() - start
    error = np.mean((proba[:, 1] >= 0.5) != y)
    LOSSES[name] = log_loss(y, proba)
    print(f"{name:<34} error {error:.3f}  log-loss {LOSSES[name]:.3f}  {seconds:5.2f} s")


# %%
# ========================================  =======================================================
# you have                                  you write
# ========================================  =======================================================
# ``AdaBoostClassifier(n_estimators=100)``  ``pm.ULSClassifier.plain("exponential", 100, 1)``
# ``LogisticRegression(penalty=None)``      ``pm.ULSClassifier(learner="column", early_stopping=False)``
# ``LGBMClassifier()``                      ``pm.ULSClassifier.trees()``, or ``pm.ULSClassifier()`` to read it
# ``ExplainableBoostingClassifier()``       ``pm.ULSClassifier()``, or ``pm.ULSClassifier.compact()`` for ten rules
# a threshold after ``predict_proba``       ``pm.BoundaryClassifier([threshold])``
# a cost matrix in a notebook cell          ``pm.CostMatrix(C)``, ``MCBoostClassifier(cost_matrix=C)``
# ========================================  =======================================================
judge("AdaBoost, 100 stumps", AdaBoostClassifier(n_estimators=100, random_state=0))
judge("ULS plain, exponential, 100 x 1", pm.ULSClassifier.plain("exponential", 100, 1))
judge("logistic regression", make_pipeline(StandardScaler(), LogisticRegression()))
judge("ULS on the columns", make_pipeline(StandardScaler(), pm.ULSClassifier(learner="column", early_stopping=False)))
judge("LightGBM, default", LGBMClassifier(n_jobs=1, verbose=-1))
judge("ULS, boosted trees", pm.ULSClassifier.trees(random_state=0))
judge(
    "EBM, no interactions, 2 bags",
    ExplainableBoostingClassifier(interactions=0, outer_bags=2, n_jobs=1, random_state=0),
)
judge("ULS, default", pm.ULSClassifier(random_state=0))
judge("ULS, at most ten rules", pm.ULSClassifier.compact())

# %%
# The same as a picture; shorter bars are better. On 768 rows differences of less than 0.02 may be chance.
figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
names = [*LOSSES][::-1]
ax.barh(names, [LOSSES[name] for name in names], color=["#0072b2" if "ULS" in name else "0.6" for name in names])
ax.set(xlabel="log-loss, ten folds")
ax.spines[["top", "right"]].set_visible(False)

# %%
# What stays the same: `fit`, `predict`, `predict_proba`, `Pipeline`, `GridSearchCV`, `clone`. What is new: `decide` for
# other costs without refitting, `certificate_`, `to_sql`, `pm.save`, and a model that can be read:
print(pm.ULSClassifier.compact(n_rules=5, early_stopping=False).fit(data.frame(), y).to_text())

# %%
# **The decision**: change the line, keep the pipeline. Use the default for the lowest loss, the ten rules where
# somebody has to read them.
