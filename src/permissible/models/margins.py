"""The margin of a linear separator, y H / sum |alpha|, beside that of the probabilities ([T] section 4.1.5).

It lies in [-1, 1] where every h_t does, as rules do, and does not depend on the loss ([T] prints the sum of alpha: E20). The
margin bounds of boosting refer to it; (27) of [T], the default of `margins`, depends on the scale of the scores as well.
"""

from typing import Any

import numpy as np

from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.rules import RuleModel
from permissible.models.model import Model
from permissible.types import FloatArray, IntArray
from permissible.validation import Words, refusal


def normalised_margins(model: Model, rows: Any, codes: IntArray, n_threads: int = 1) -> FloatArray:
    """The margin y H / sum |alpha| of each row, with the constant as a term; 0 where every coefficient is 0."""
    if isinstance(model, RuleModel):
        sizes = model.coefficients
    elif isinstance(model, LinearModel):
        sizes = model.coef
    else:
        came = Words(f"a {type(model).__name__}")
        raise refusal("normalised", "False unless the model is one list of rules or one linear separator", came)
    total = abs(float(model.intercept)) + float(np.abs(sizes).sum())
    scores = np.asarray(model.scores(rows, n_threads))
    return np.where(codes == 1, scores, -scores) / (total if total > 0 else 1.0)
