"""Methods of a fitted classifier that has a point card: the printed card as text, HTML and Excel."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from permissible.decisions.words import worded
from permissible.estimators.classifier import StagedClassifier, actions_for, decision_asked, labels_of
from permissible.estimators.exports import MOST_LINES, written_whole
from permissible.learners.points.certificate import PointsCertificate
from permissible.models.kinds.one_versus_rest import OneVersusRest
from permissible.models.points.excel import refuse_no_card, workbook
from permissible.models.points.model import PointsModel
from permissible.models.points.sheet import PointSheet, Scaling, sheet
from permissible.validation import Words, refusal
from permissible.validation.numbers import positive_number, real_number


def _training_loss(certificate: Any) -> float:
    """The mean loss that a certificate states; the mean over the classes if there are several."""
    each = certificate.by_class if hasattr(certificate, "by_class") else (certificate,)
    return sum(one.loss if isinstance(one, PointsCertificate) else one.surrogate for one in each) / len(each)


def _for_cards_alone(decision: object, names: object) -> None:
    """Refuse what only a card is printed with."""
    for argument, given in (("decision", decision), ("names", names)):
        if given is not None:
            raise refusal(
                argument, "left out, for this model has no point card", Words(f"a {type(given).__name__}"), REMEDY
            )


REMEDY = "use `decide_labels`, or fit ULSClassifier.points()"
TOGETHER = "Predicted is the class whose card gives the largest probability, of equal ones the first."
"""How the cards of several classes are read, where all have the same loss."""


class CardMethods(StagedClassifier):
    """The printed card of a classifier; text and HTML of other models are unchanged."""

    certificate_: Any

    def card(
        self,
        *,
        decision: object = None,
        points_to_double_odds: float | None = None,
        base_points: float = 600,
        base_odds: float = 50,
        names: Sequence[str] | None = None,
    ) -> Any:
        """Return the card as it is printed: conditions, points, and what each total means.

        Parameters
        ----------
        decision : Decision or array of costs, optional
            What to do at each total; not shown unless given (or saved with the model).
        points_to_double_odds : float, optional
            Scale the points as in credit scoring: this many points double the odds of ``classes_[1]``. Logistic loss only.
        base_points, base_odds : float
            With it: the total that has these odds to one.
        names : sequence of str, optional
            Of the risk groups of ``pm.Boundaries``, from the lowest; their probabilities unless given.

        Returns
        -------
        card : PointSheet, or a list of one per class for more than two
            With ``lines``, ``totals``, ``to_text()``, ``to_html()`` and ``to_excel(path)``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import permissible as pm
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = pm.ULSClassifier.points(n_rules=2, max_points=2).fit(X, y)
        >>> scaled = model.card(points_to_double_odds=20)
        >>> len(scaled.lines)
        2
        """
        found = self._sheets(decision, self._scaling(points_to_double_odds, base_points, base_odds), names)
        return found[0] if len(found) == 1 else found

    def _scaling(self, double: float | None, base_points: float, base_odds: float) -> Scaling | None:
        if double is None:
            for argument, given, usual in (("base_points", base_points, 600), ("base_odds", base_odds, 50)):
                if given != usual:
                    raise refusal(argument, "left out where points are not scaled", given, "give points_to_double_odds")
            return None
        positive = [positive_number(*pair) for pair in (("points_to_double_odds", double), ("base_odds", base_odds))]
        return Scaling(positive[0], real_number("base_points", base_points), positive[1])

    def _cards(self) -> list[PointsModel]:
        """The cards of the model: one, one per class, or none."""
        check_is_fitted(self, "model_")
        found = self.model_.models if isinstance(self.model_, OneVersusRest) else (self.model_,)
        return [model for model in found if isinstance(model, PointsModel)]

    def _together(self) -> list[str]:
        cards = self._cards()
        return [TOGETHER] if len(cards) > 1 and all(card.loss == cards[0].loss for card in cards) else []

    def _sheets(
        self, decision: object = None, scaling: Scaling | None = None, names: Sequence[str] | None = None
    ) -> list[PointSheet]:
        cards, labels = self._cards(), labels_of(self)
        if not cards:
            refuse_no_card(self.model_)
        if len(cards) > 1:
            for argument, given in (("decision", decision), ("names", names)):
                if given is not None:
                    expected = "None for one card per class, whose totals decide together"
                    raise refusal(argument, expected, Words(f"a {type(given).__name__}"), "use `decide`")
            return [sheet(card, [label], None, scaling) for card, label in zip(cards, labels, strict=True)]
        asked = decision_asked(self, decision)
        if asked is None:
            if names is not None:
                raise refusal("names", "left out without a decision, whose risk groups they name", names)
            return [sheet(cards[0], labels, None, scaling)]
        actions = actions_for(self, asked)
        codes = np.array(actions.codes or range(len(actions.labels)))
        words = worded(asked, codes, np.asarray(self.classes_), "refer", names)
        return [sheet(cards[0], labels, actions, scaling, [str(word) for word in words])]

    def constraint_cost(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return what `monotonic_cst` and `interaction_cst` cost: the mean training loss with them minus that without.

        X, y and sample_weight are those of the fit; the model is fitted once more without constraints.
        """
        check_is_fitted(self, "model_")
        free = clone(self).set_params(monotonic_cst=None, interaction_cst=None)
        free.fit(X, y, sample_weight)
        return _training_loss(self.certificate_) - _training_loss(free.certificate_)

    def to_text(
        self, max_rules: int | None = MOST_LINES, *, decision: object = None, names: Sequence[str] | None = None
    ) -> str:
        """Return the model as text; of a point card its conditions, points and totals, with the decision where one is given.

        Of more rules than `max_rules` the lightest are only counted; None writes all. `names` are those of risk groups.
        """
        if not self._cards():
            _for_cards_alone(decision, names)
            return super().to_text(max_rules)
        written_whole(max_rules, "a point card")
        found = [one.to_text() for one in self._sheets(decision, names=names)]
        return "\n\n".join([*found, *self._together()])

    def to_html(self, *, decision: object = None, names: Sequence[str] | None = None) -> str:
        """Show the model as HTML; of a point card its conditions, points and totals, with the decision where one is given.

        `names` are those of risk groups.
        """
        if not self._cards():
            _for_cards_alone(decision, names)
            return super().to_html()
        found = [one.to_html() for one in self._sheets(decision, names=names)]
        return "".join([*found, *(f"<p>{words}</p>" for words in self._together())])

    def to_excel(
        self, path: str | os.PathLike[str], *, decision: object = None, names: Sequence[str] | None = None
    ) -> None:
        """Write a point card as an Excel workbook in which one answers the conditions and reads the risk.

        Parameters
        ----------
        path : str or path-like
            Conventionally `something.xlsx`.
        decision : Decision or array of costs, optional
            What to do at each total.
        names : sequence of str, optional
            Of the risk groups of ``pm.Boundaries``.
        """
        Path(path).write_bytes(workbook(self._sheets(decision, names=names)))
