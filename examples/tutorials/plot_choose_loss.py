"""
Which loss? Let the data say
============================

Any permissible or strictly convex loss can be minimised by ULS, so which one should be used? `loss="auto"` chooses by
cross-validation over the bag of the papers, and keeps the evidence.
"""

# %%
# The evidence
# ------------
from sklearn.datasets import load_breast_cancer

import permissible as pm

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = pm.ULSClassifier(loss="auto", n_rounds=20, max_literals=2, random_state=0).fit(X, y)
evidence = model.loss_evidence_
for name, scores, p_value in zip(evidence.names, evidence.scores, evidence.p_values, strict=True):
    print(f"{name:<11} log-loss {scores.mean():.3f}, P value of the difference to the chosen one {p_value:.2f}")
print("chosen:", evidence.chosen)

# %%
# On most data the losses are close, and the evidence shows it; then the default, logistic, is as good as any. Where
# they differ, the paired test in the evidence gives the significance.
#
# The curves that were compared
# -----------------------------
import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
for loss in ("logistic", "matsushita", "squared", "power"):
    fitted = pm.ULSClassifier(loss=loss, n_rounds=30, max_literals=2, early_stopping=False, learning_rate=0.3).fit(X, y)
    ax.plot(fitted.history_["train_error"], label=loss)
ax.set(xlabel="rules", ylabel="training error", title="Four surrogates, one algorithm")
ax.legend()

# %%
# **The decision**: take the chosen loss where the evidence is clear, logistic where it is not.
