"""ULSClassifier: the scikit-learn face of boosted rules. It validates, calls the learner, and stores."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from permissible.bins.encoding import encode
from permissible.estimators.input.source import HasSource, memory_source, source_of
from permissible.estimators.input.training import TrainingRows, remember, seed, threads, training_rows
from permissible.estimators.input.weights import ClassWeight, canonical
from permissible.estimators.parameters.idle import ULS, refuse_idle
from permissible.estimators.parameters.uls import (
    goes_on,
    loss_of,
    plan_rules,
    refuse_other_data,
    refused_on_parts,
    validation_rows,
)
from permissible.estimators.progress import CallbackSupportMixin, rollback, watched, with_callbacks
from permissible.estimators.uls_rules import RuleAttributes
from permissible.learners.uls.boost import Start
from permissible.learners.uls.fit import FittedRules, Task, fit_labels
from permissible.losses import Loss
from permissible.rows.source import Source
from permissible.table.reading import Categorical


class ULSClassifier(RuleAttributes, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Boosted readable rules for any permissible or strictly convex loss.

    Each round finds the rule (a conjunction of at most `max_literals` tests) that promises the largest decrease of the loss,
    and gives it its exact coefficient ([N], [T]: ULS). The default adds a constant refitted with each rule, shrinkage and l2,
    and lets five-fold cross-validation by content choose their number and length; lengths that it cannot tell apart are averaged.
    :meth:`plain` is the papers' algorithm, :meth:`compact` a list of ten short rules.

    Parameters
    ----------
    loss : str or loss, default="logistic"
        A name of :func:`permissible.losses.names`, a loss object (a user's own phi too), one of the papers' adaptive flavours
        ``"F1"``, ``"F2"``, ``"E1"``, ``"E2"``, ``"F*"``, or ``"auto"``: chosen by cross-validation with the settings of the fit
        (`loss_evidence_`), with `l2_regularization` in units of the logistic loss, and one that weighs as much for other losses.
    n_rounds : int, default=100
        Rounds, at most. Of 1,000 to 10,000 rows the folds may choose three times as many, and rules leave until so many are left.
    max_literals : int or "auto", default="auto"
        Tests in a rule, at most. "auto": of 1, 2 and 3 those within one standard error of the best on the folds are averaged,
        with at most `n_rounds` rules in all (where coefficients are refitted, the shortest within a tenth is taken); 2 where
        nothing chooses, 1 for more than 2,000 columns. With an intercept rules may have intervals, `40 < age <= 60`.
    learner : {"rule", "column", "tree"}, default="rule"
        What is boosted: rules found on the way, the columns of X as they are (dense or sparse), or trees, as :meth:`trees`
        does; then `n_rounds` counts trees.
    scheme : {"classic", "corrective"} or int, default="classic"
        Refit the newest coefficient, all so far, or a block of this size.
    points : int or None, default=None
        Round the coefficients to whole numbers of at most this size: a point card, as :meth:`points` builds it.
    fit_intercept : bool, default=True
        Refit the constant with each rule, so that a rule has a value inside and one outside.
    learning_rate : float or "auto", default="auto"
        Factor on each step. "auto": 0.2 for rules, 0.5 where the folds would take all rounds of steps of 0.2, 1 where
        coefficients are refitted; trees: the hold-out chooses from 0.05 to 0.4, 0.1 without one. Below 1 the search on all rows
        varies a literal's gain by half its standard error; such fits are averaged, and rules that others can replace leave.
    l2_regularization : float or "auto", default=1.0
        Each value v that a rule adds to a score costs l2 v^2 / 2, beside the sum of b F over the examples, so it is in the
        unit of the weights. The coefficient c of a +-1 rule, which adds c inside and -c outside, costs l2 c^2, and so does
        that of a column. In the classic scheme of rules and trees each step pays for its own values; where coefficients
        are refitted, and for columns, the penalty is on the whole coefficient. The constant is free. Without a penalty a side
        of a rule whose rows are all of one class has no finite value: it gets the longest step of the loss, and a doubt names
        the rule. "auto": the folds choose between 0.3, 1, 3, 10 and 30; 3 where nothing
        chooses, for point cards and for more than 2,000 columns. Not for trees.
    criterion : {"newton", "exact", "impurity"}, default="newton"
        What a rule is chosen by: the second-order decrease of the loss; the loss after the rule's step, exactly ([N], [I]); or
        the weighted impurity of its two sides ([T]). The last two are for :meth:`plain`, in memory, and take longer.
    beam : int, default=2
        Columns whose best literal starts a rule; with `points` also the rules that are tried in the place of another.
    early_stopping : bool or "auto", default="auto"
        Find the number of rules by cross-validation, then refit on all rows. Five folds by content, equal rows together; of
        more than 10,000 rows as many folds as hold out 10,000, one from 50,000 on. Trees hold out a fifth of the rows.
    ensemble : int or None, default=None
        Average the fits of so many folds: slightly better than one fit on all rows, with several times as many rules.
    search_fraction : float or "auto", default="auto"
        Share of the rows that a round's search looks at, drawn anew in each round, rows of large weights first; the values of a
        rule and its edge are those of all rows. "auto" is 1, and 0.3 above 100,000 rows.
    monotonic_cst : sequence of {-1, 0, 1} or mapping from column name, optional
        Direction in which the probability of ``classes_[1]`` may move with a column, for every row there can be. Two classes.
    interaction_cst : sequence of groups of columns, "pairwise", "no_interactions", optional
        Columns that may meet in one rule, or on one path of a tree; those in no group form one more.
    max_bins : int, default=255
        Columns with no more different values than this are not approximated.
    tol : float, default=1e-10
        Stop when the best rule would lower the loss by less than this share of it.
    n_jobs : int or None
        Threads; the model is the same bit for bit for any number of them.
    random_state : int, generator or None
        None is the seed 0: the same rows give the same model. A generator draws a seed for each fit.
    verbose : int, default=0, where 1 shows a progress bar
    class_weight : mapping, "balanced" or None
    categorical_features : names, positions or mask, optional
        Numeric columns to be taken as categories; columns of text or of a categorical type are anyway.
    max_time : float or None
        Seconds after which the fit stops with the rules it has.
    warm_start : bool, default=False
        Continue from the last fit when `n_rounds` is larger. Columns and classes must be the same; bins and a chosen loss are
        those of the first fit, and nothing is held out. On other rows the history gives the loss of the earlier rounds there.
    max_leaf_nodes : int or "auto", default=31
        Leaves of a tree, at most 256; "auto" lets the hold-out choose. Only with ``learner="tree"``, as the next two.
    max_depth : int or None
        Tests on the way to a leaf, at most.
    max_features : float or "auto", default="auto"
        Fraction of the columns that one tree may use, drawn for each tree; "auto" lets the hold-out choose all or half.

    Attributes
    ----------
    model_ : RuleModel, LinearModel, BoostedModel or OneVersusRest
        The frozen model; of rules and columns one model per class where there are more than two.
    rules_, coefficients_, intercept_
        Tuple of rules, their coefficients, the constant; one each per class where there are more than two.
    coef_ : array of shape (1 or n_classes, n_features)
        Only with ``learner="column"``.
    history_ : mapping of arrays
        One entry per round: ``surrogate`` (mean loss), ``train_error``, ``edge``, ``loss``, ``validation`` where there is one;
        and, of rules and columns, how weak learning went: ``weak_edge`` (over the features of the round), its mean so far
        ``mean_edge``, and Theorem 2's ``rounds_bound`` at these.
    certificate_ : RuleCertificate
        How far the fit is from the optimum and what is doubtful about it; where there are more than two classes,
        ``certificate_.by_class`` has one for each.
    selection_ : mapping or None
        What the folds saw: candidates, their mean validation curves, which of them the model uses, the `factor` of an average.
    loss_evidence_ : LossEvidence or None
        What ``loss="auto"`` saw.
    classes_ : array
        ``classes_[1]`` is the positive class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from permissible.estimators.uls import ULSClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ULSClassifier.compact(n_rules=3, early_stopping=False).fit(X, y)
    >>> len(model.rules_), model.score(X, y) > 0.95
    (3, True)
    """

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        learner: str = "rule",
        n_rounds: int = 100,
        max_literals: object = "auto",
        max_leaf_nodes: object = 31,
        max_depth: int | None = None,
        max_features: object = "auto",
        scheme: object = "classic",
        points: int | None = None,
        fit_intercept: bool = True,
        learning_rate: object = "auto",
        l2_regularization: object = 1.0,
        criterion: str = "newton",
        beam: int = 2,
        early_stopping: object = "auto",
        ensemble: int | None = None,
        search_fraction: object = "auto",
        monotonic_cst: object = None,
        interaction_cst: object = None,
        max_bins: int = 255,
        tol: float = 1e-10,
        class_weight: ClassWeight = None,
        categorical_features: Categorical = None,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.loss, self.learner, self.n_rounds, self.scheme, self.criterion = loss, learner, n_rounds, scheme, criterion
        self.max_literals, self.max_leaf_nodes, self.max_depth = max_literals, max_leaf_nodes, max_depth
        self.max_features, self.beam, self.search_fraction = max_features, beam, search_fraction
        self.fit_intercept, self.learning_rate = fit_intercept, learning_rate
        self.l2_regularization, self.early_stopping, self.ensemble = l2_regularization, early_stopping, ensemble
        self.monotonic_cst, self.interaction_cst, self.max_bins = monotonic_cst, interaction_cst, max_bins
        self.tol, self.max_time, self.warm_start, self.verbose = tol, max_time, warm_start, verbose
        self.class_weight, self.categorical_features = class_weight, categorical_features
        self.n_jobs, self.random_state = n_jobs, random_state
        self.points = points  # type: ignore[method-assign,assignment]  # the class keeps its preset of this name

    @classmethod
    def plain(
        cls, loss: str | Loss = "logistic", n_rules: int = 10, max_literals: int | None = None, **more: Any
    ) -> "ULSClassifier":
        """Build the papers' algorithm: +-1 rules with exact coefficients; the best literal and its negation are extended.

        No intercept, no shrinkage, no l2, no beam, no stopping, every row in every search. Rules have at most `max_literals`
        literals, 2 unless given; with columns or trees there are no rules to search. To the letter a rule is chosen by
        ``criterion="exact"`` ([N], [I]) or ``"impurity"`` ([T]); the second-order one is faster, and nearly the first.

        Examples
        --------
        >>> import permissible as pm
        >>> pm.ULSClassifier.plain("exponential", n_rules=50, max_literals=1).l2_regularization
        0.0
        """
        options = {"fit_intercept": False, "learning_rate": 1.0, "l2_regularization": 0.0, "early_stopping": False}
        learner = more.get("learner", "rule")
        if max_literals is not None or learner == "rule":
            options["max_literals"] = 2 if max_literals is None else max_literals
        if learner == "rule":
            options |= {"beam": 1, "search_fraction": 1.0}
        return cls(loss, n_rounds=n_rules, **{**options, **more})

    @classmethod
    def compact(cls, n_rules: int = 10, max_literals: int = 2, **more: Any) -> "ULSClassifier":
        """Build a short list to be read: all coefficients refitted with each rule, a wide search.

        Cross-validation chooses the strength of the penalty, and may choose fewer rules than asked for.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import permissible as pm
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = pm.ULSClassifier.compact(n_rules=3).fit(X, y)
        >>> len(model.rules_) <= 3
        True
        """
        options = {"scheme": "corrective", "beam": 8, "l2_regularization": "auto", **more}
        return cls(n_rounds=n_rules, max_literals=max_literals, **options)

    @classmethod
    def points(cls, n_rules: int = 5, max_points: int = 5, max_literals: int = 1, **more: Any) -> "ULSClassifier":
        """Build a point card: at most `n_rules` conditions with whole numbers of points, and a table from totals to risk.

        Conditions, thresholds and points are found together; `certificate_` says what the rounding costs. With `max_time` the
        time that is left goes into the search for the best points of all (at most 10 rules and 5 points).

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import permissible as pm
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = pm.ULSClassifier.points(n_rules=3).fit(X, y)
        >>> len(card.rules_) <= 3, int(card.model_.points.max()) <= 5
        (True, True)
        """
        options = {"beam": 5, "early_stopping": False}
        return cls(n_rounds=n_rules, max_literals=max_literals, **{**options, "points": max_points, **more})

    @classmethod
    def trees(
        cls, n_trees: int = 1000, max_leaf_nodes: object = "auto", learning_rate: object = "auto", **more: Any
    ) -> "ULSClassifier":
        """Build boosted trees: more accurate than rules on large data, and no longer to be read.

        Each round grows a tree on the current weights and gives its leaves their values by the same loss. A hold-out chooses the
        number of trees, at most `n_trees`, and whatever is "auto": learning rate, leaves and columns of a tree; `selection_`
        has what it saw. A learning rate of 1 gives every leaf its exact value (35).

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import permissible as pm
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = pm.ULSClassifier.trees(n_trees=50).fit(X, y)
        >>> model.model_.n_trees <= 50
        True
        """
        options = {"n_rounds": n_trees, "max_leaf_nodes": max_leaf_nodes, "learning_rate": learning_rate}
        return cls(**{"learner": "tree", **options, **more})

    def __sklearn_tags__(self) -> Tags:
        """Rules take missing values and categories; columns take sparse matrices."""
        tags = super().__sklearn_tags__()
        columns = self.learner == "column"
        tags.input_tags.allow_nan = not columns
        tags.input_tags.categorical = not columns
        tags.input_tags.string = not columns
        tags.input_tags.sparse = columns
        return tags

    @rollback
    @with_callbacks
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, *, validation: object = None
    ) -> "ULSClassifier":
        """Boost rules on the rows of X with labels y.

        Parameters
        ----------
        X : NumPy, pandas, polars or pyarrow table
            With learner="column" a dense or sparse matrix of numbers.
        y : labels
        sample_weight : array, optional
            Weight 2 is the row twice.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Rows that choose the number of rules in place of a hold-out; with early_stopping=False the history shows their
            loss and nothing is chosen.
        """
        n_threads, fit_seed, begun = threads(self.n_jobs), seed(self.random_state), time.monotonic()
        if isinstance(self.learner, str) and self.learner == "tree":
            from permissible.estimators.uls_trees import fit_boosted_trees

            refuse_idle(self, ULS, parts=isinstance(X, HasSource), validation=validation)
            fit_boosted_trees(self, X, y, sample_weight, validation, fit_seed)
            return self
        if isinstance(X, HasSource):
            loss, source = loss_of(self.loss), source_of(X, y, sample_weight, self.class_weight)
            refused_on_parts(self, loss, validation)
            refuse_idle(self, ULS, parts=True)
            asked = plan_rules(self, source.n_rows, fit_seed, source.binning.schema, len(source.classes))
            task, before, table, scale = asked.task(loss), None, None, 1.0
        else:
            refuse_idle(self, ULS, validation=validation)
            if isinstance(self.learner, str) and self.learner == "column":
                from permissible.estimators.variants.uls_columns import fit_columns

                fit_columns(self, X, y, sample_weight, fit_seed)
                return self
            loss = loss_of(self.loss)
            given = training_rows(self, X, y, sample_weight, n_threads=n_threads)
            weight, scale = canonical(given.weight) if given.weighted else (np.ones(0), 1.0)
            given, table = replace(given, weight=weight), given.table  # no ones, as long as the table
            asked = plan_rules(self, table.n_rows, fit_seed, given.schema, len(given.classes)).in_unit(scale)
            before = self._continue(given)
            # The earlier rules refer to bins, so a continuation keeps those of the first fit.
            binned = encode(self._binning, table) if before else given.bins(self.max_bins, fit_seed, n_threads)
            held_out = None if validation is None else validation_rows(validation, given, binned.binning)
            task = asked.task(loss, held_out)
            source = memory_source(given, binned, fit_seed, n_threads)
        found = self._fit_rules(source, task, n_threads, before)
        remember(self, source.classes, source.binning.schema)
        card: object = self.points
        if card is None:
            self._store(source.binning, found, table, scale)
        else:
            from permissible.estimators.cards.store import store_cards

            store_cards(self, source, found, task, begun, scale)
        return self

    def _fit_rules(
        self, source: Source, task: Task, n_threads: int, before: list[Start] | None = None
    ) -> list[FittedRules]:
        """Fit each class against the rest, two classes once; a continuation keeps a loss that was chosen."""
        labels = [1] if len(source.classes) == 2 else list(range(len(source.classes)))
        with watched(self, task.candidates[0].n_rounds) as callback:
            task = replace(task, n_threads=n_threads, callback=callback)
            if before is None:
                return fit_labels(source, dict.fromkeys(labels, task))
            chosen = task.loss in ("auto", "F*")
            last = self.loss_evidence_
            evidence = [*last] if isinstance(last, tuple) else [last] * len(labels)
            known = [model.loss if chosen else task.loss for model in self._members()]
            tasks = [replace(task, loss=loss, start=start) for loss, start in zip(known, before, strict=True)]
            found = fit_labels(source, dict(zip(labels, tasks, strict=True)))
            return [replace(fitted, evidence=seen) for fitted, seen in zip(found, evidence, strict=True)]

    def _continue(self, given: TrainingRows) -> list[Start] | None:
        """The last fit, where this one goes on from it."""
        if not goes_on(self):
            return None
        refuse_other_data(self, given.schema, given.classes)
        pairs = zip(self._traces, self._members(), strict=True)
        return [Start(trace, model.scores(given.table)) for trace, model in pairs]
