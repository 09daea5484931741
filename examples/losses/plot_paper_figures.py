"""
The papers' figures
===================

Figures 1 to 3 of Nock and Nielsen, 4 and 5 of Kimes et al., each drawn by one line.
"""

from papers.figures import losses as figures

# %%
# The loss as a divergence between class and probability ([T] Figure 1).
figures.divergence_figure("matsushita")

# %%
# The conjugates and their asymptotes ([N] Figure 1, [T] Figure 2a).
figures.conjugates_figure()

# %%
# The links, one of them bounded ([T] Figure 2b).
figures.links_figure()

# %%
# The Legendre dual: how a step of boosting changes a weight ([N] Figure 2, [T] Figure 3).
figures.legendre_figure("logistic", p=0.3, x=1.5)

# %%
# Surrogates of one, two and three boundaries ([K] Figure 4).
figures.surrogates_figure()

# %%
# The surrogate as tangents of the logistic loss ([K] Figure 5).
figures.tangents_figure([0.2, 0.4, 0.6])
