"""
One phi, everything else
========================

Four permissible functions of the papers: the loss of a margin, the weight of an example,
the score of a probability. Each picture is one line.
"""

from permissible.report import loss_plots

# %%
# The losses all pass through 1 at margin 0 and lie above the 0/1 loss.
loss_plots.plot_loss()

# %%
# The weight of an example says how important it is for the next rule.
loss_plots.plot_weight()

# %%
# The link turns a probability into a score; that is where a decision at probability pi changes.
loss_plots.plot_link()
