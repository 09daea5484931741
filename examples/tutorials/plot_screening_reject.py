"""
A reject option for screening: when to say "I don't know"
==========================================================

A screening test may answer "malignant", "benign", or "send this one to a specialist". A specialist costs something, a
mistake costs more. With the cost of a mistake as 1 and that of a referral as 0.1, which tumours should be referred?
"""

# %%
# The decision first
# ------------------
# `pm.Reject(0.1)` is the decision as an object: it turns probabilities into actions, and defines its own loss.
# Referring is optimal exactly where the probability lies between 0.1 and 0.9.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler

import permissible as pm

decision = pm.Reject(0.1)
print(decision.decide([0.02, 0.09, 0.5, 0.89, 0.97]), "(-1: refer)")

# %%
# A classifier trained for it
# ---------------------------
# The boundary classifier is trained at the two boundaries where the decision changes, 0.1 and 0.9, and solves its
# problem to a certified gap.
X, y = load_breast_cancer(return_X_y=True)
malignant = (y == 0).astype(int)
train, test, y_train, y_test = train_test_split(X, malignant, test_size=0.4, random_state=0, stratify=malignant)
scaler = StandardScaler().fit(train)
model = pm.BoundaryClassifier(decision, alpha=0.01).fit(scaler.transform(train), y_train)
print(f"boundaries {model.deltas_.round(2)} on the score, relative gap {model.gap_:.1e}")

# %%
# What it does on tumours it has not seen
# ---------------------------------------
region = model.predict_region(scaler.transform(test))
for name, chosen in (("benign", region == 0), ("refer", region == 1), ("malignant", region == 2)):
    share, rate = chosen.mean(), y_test[chosen].mean() if chosen.any() else np.nan
    print(f"{name:>10}: {share:5.1%} of the patients, of whom {rate:5.1%} have a malignant tumour")
probability = model.predict_proba(scaler.transform(test))[:, 1]
print(f"cost a patient with the option to refer: {decision.risk(y_test, probability):.4f}")
print(f"cost a patient without it:               {pm.Hard().risk(y_test, probability):.4f}")

# %%
# How the cost depends on the price of a referral
# -----------------------------------------------
# The same probabilities serve any cost of a referral: `decide` and `risk` need no refit. Here those of ten rules that a
# doctor can read.
readable = pm.ULSClassifier.compact(random_state=0)
held_out = cross_val_predict(readable, X, malignant, method="predict_proba", cv=5)[:, 1]
prices = np.linspace(0.01, 0.5, 50)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
edges = np.linspace(0, 1, 41)
left.hist(
    [held_out[malignant == 0], held_out[malignant == 1]],
    edges,
    stacked=True,
    color=["#0072b2", "#d55e00"],
    label=["benign", "malignant"],
)
left.axvspan(0.1, 0.9, color="0.85", zorder=0)
left.text(0.5, 0.95, "refer", ha="center", va="top", transform=left.transAxes)
left.legend(loc="center")
left.set(xlabel="probability of a malignant tumour", ylabel="tumours (held-out folds)", yscale="log")
right.plot(prices, [pm.Reject(price).risk(malignant, held_out) for price in prices], label="may refer")
right.axhline(pm.Hard().risk(malignant, held_out), color="0.5", linestyle="--", label="must decide")
right.set(xlabel="cost of a referral (a mistake costs 1)", ylabel="cost a tumour", ylim=(0, None))
right.legend()
print(f"referred at a price of 0.1: {np.mean(pm.Reject(0.1).decide(held_out) == -1):.1%}")

# %%
# **The decision**: at a tenth of the cost of a mistake, refer the few tumours in the middle region; the rest is
# answered at once.
