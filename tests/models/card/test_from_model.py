"""A scorecard evaluated term by term gives the scores and probabilities of the estimator, whatever the model."""

import numpy as np
import pytest

from permissible.estimators.classifier import actions_for, card_of, table_of
from permissible.models.card.scorecard import scores
from tests.estimators.files.test_save_load import CASES


@pytest.mark.parametrize("case", CASES, ids=[name for name, *_ in CASES])
def test_the_scorecard_is_the_model(case):
    _, estimator, X = case
    card, table = card_of(estimator), table_of(estimator, X)
    score = scores(card, table)
    proba = card.link.probabilities(score)
    np.testing.assert_allclose(proba, estimator.predict_proba(X), rtol=1e-9, atol=1e-12)
    actions = actions_for(estimator, None)
    places = actions.places(score if actions.by_score else proba, actions.by_score)
    chosen = np.array(actions.labels)[places]
    ranked = np.sort(proba, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-9  # on the boundary itself rounding decides (BLAS adds in another order)
    assert clear.mean() > 0.8
    assert (chosen == estimator.predict(X))[clear].all()
