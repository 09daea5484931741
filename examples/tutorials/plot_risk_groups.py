"""
Risk groups in medicine
=======================

297 patients came to the Cleveland Clinic with chest pain. Who can go home, who needs another test, who goes straight to
the catheter? Practice draws two lines: below 15% risk of coronary disease further tests do more harm than good, above
85% one more test would not change what is done. So the decision is about two probabilities, and only these two have to
be learned well.
"""

# %%
# A classifier for two boundaries
# -------------------------------
# `BoundaryClassifierCV([0.15, 0.85])` learns on which side of the two lines a patient is, at the penalty that
# cross-validation prefers. Columns are scaled first, as for every penalised linear model.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from papers.datasets import load

data = load("heart-cleveland")
X, ill = data.matrix(impute=True), (data.target != "0").astype(int)
train, test, y_train, y_test = train_test_split(X, ill, test_size=0.5, random_state=0, stratify=ill)
LINES = (0.15, 0.85)
model = make_pipeline(StandardScaler(), pm.BoundaryClassifierCV(LINES, random_state=0)).fit(train, y_train)
fitted = model[-1]
print(f"penalty chosen {fitted.alpha_:.3g}; the objective is within {fitted.gap_:.1e} of the best there is")

# %%
# The groups, on patients it has not seen
# ---------------------------------------
# Each group should match its definition: fewer than 15% ill in the first, more than 85% in the last.
region = fitted.predict_region(model[:-1].transform(test))
ACTIONS = ("home", "one more test", "catheter")
for group, action in enumerate(ACTIONS):
    inside = region == group
    print(f"{action:>14}: {inside.sum():3d} patients, {y_test[inside].mean():5.1%} of them ill")

# %%
# What a mistake of group costs
# -----------------------------
# `pm.Boundaries` is that decision as an object. Its loss counts, for every patient, the boundaries that the patient is
# on the wrong side of, each at its cost. Logistic regression, which estimates every probability, is evaluated by the
# same loss.
decision = pm.Boundaries(LINES)
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, y_train)
for name, one in (("trained for the two lines", model), ("logistic regression", logistic)):
    print(f"{name:<26} risk {decision.risk(y_test, one.predict_proba(test)):.4f}")

# %%
# The groups over the first two principal components, and the scores of sick and healthy with the lines between the
# groups:
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
scaled = model[:-1].transform(test)
pm.RegionDisplay.from_estimator(fitted, scaled, y_test, ax=left)
pm.MarginDensityDisplay.from_estimator(fitted, scaled, np.where(y_test == 1, "ill", "healthy"), ax=right)

# %%
# **The decision**: send home group 0, test group 1, catheter for group 2; the fraction of each group that is ill,
# printed above, shows what that means for the patients.
