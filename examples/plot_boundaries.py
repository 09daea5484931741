"""
Risk groups, "I don't know", and unequal costs
==============================================

A classifier trained for the probabilities at which the decision changes. Four risk groups of tumours, a classifier that may
refuse to decide, and one for which a miss costs five false alarms; each fitted to a certified optimum.
"""

# %%
# Four risk groups
# ----------------
# Boundaries at 1/4, 1/2 and 3/4. The fit says how far from the optimum it can be at most.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import permissible as pm

X, y = load_breast_cancer(return_X_y=True)
malignant = 1 - y
X = StandardScaler().fit_transform(X)
train, test, y_train, y_test = train_test_split(X, malignant, test_size=0.5, random_state=0, stratify=malignant)

groups = pm.BoundaryClassifierCV((0.25, 0.5, 0.75), random_state=0).fit(train, y_train)
print(
    f"lambda = 2^{np.log2(groups.alpha_):.0f}, objective {groups.objective_:.6f}, within {groups.gap_:.1e} of the optimum"
)
region = groups.predict_region(test)
for k in range(4):
    print(f"group {k}: {np.sum(region == k):3d} patients, {y_test[region == k].mean():.2f} malignant")

# %%
# The groups over the first two principal components, and the density of the scores with the cut-offs between the groups.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
pm.RegionDisplay.from_estimator(groups, test, y_test, ax=left)
names = np.where(y_test == 1, "malignant", "benign")
pm.MarginDensityDisplay.from_estimator(groups, test, names, ax=right)

# %%
# When to say "I don't know"
# --------------------------
# An error costs 1, no decision 0.1. The curve shows the error among the tumours decided when only the surest are.
unsure = pm.BoundaryClassifierCV(pm.Reject(0.1), random_state=0).fit(train, y_train)
action = unsure.decide(test)
decided = action >= 0
print(f"decided {decided.mean():.0%}, error among them {np.mean(action[decided] != y_test[decided]):.3f}")
print(f"risk {pm.Reject(0.1).risk(y_test, unsure.predict_proba(test)):.4f}")
pm.RiskCoverageDisplay.from_estimator(unsure, test, y_test)

# %%
# Unequal costs
# -------------
# A miss costs five false alarms: positive above probability 1/6.
careful = pm.BoundaryClassifierCV(pm.Weighted(1 / 6), random_state=0).fit(train, y_train)
plain = pm.BoundaryClassifierCV(random_state=0).fit(train, y_train)
for name, model in (("trained for the costs", careful), ("trained for 1/2", plain)):
    missed = np.sum((model.predict(test) == 0) & (y_test == 1))
    alarms = np.sum((model.predict(test) == 1) & (y_test == 0))
    print(f"{name}: {missed} missed, {alarms} false alarms")

plt.show()
