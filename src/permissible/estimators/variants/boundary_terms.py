"""BoundaryClassifier on rules and leaves of trees: it reads tables, calls the learner, and stores."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.training import remember, seed, threads, training_rows
from permissible.estimators.input.weights import canonical
from permissible.estimators.parameters.boundary import refuse_many
from permissible.learners.boundary.generation.certificate import TermCertificate, certify
from permissible.learners.boundary.generation.edges import largest_edges
from permissible.learners.boundary.generation.leaves import leaf_edges
from permissible.learners.boundary.generation.rules import FittedTerms, Search, TermOptions, generate_rules
from permissible.learners.boundary.target import Target
from permissible.learners.uls.trace import category_bins
from permissible.models.kinds.rules import RuleModel
from permissible.validation import refusal

if TYPE_CHECKING:
    from permissible.estimators.boundary import BoundaryClassifier

SOFT = "name boundaries, or fit ULSClassifier, which learns all probabilities"


def fit_terms(estimator: "BoundaryClassifier", X: object, y: object, sample_weight: object, target: Target) -> None:
    """Fit rules to rows in memory and store them in the estimator."""
    if target.segments is None:
        raise refusal("boundaries", f"probabilities with learner={estimator.learner!r}", "soft", SOFT)
    n_threads, fit_seed = threads(estimator.n_jobs), seed(estimator.random_state)
    given = training_rows(estimator, X, y, sample_weight, n_threads=n_threads)
    refuse_many(given.classes)
    binned = given.bins(estimator.max_bins, fit_seed, n_threads)
    options = TermOptions(
        float(estimator.alpha), int(estimator.n_rounds), bool(estimator.fit_intercept), float(estimator.tol)
    )
    weight = canonical(given.weight)[0] if given.weighted else given.weight
    trees = estimator.learner == "tree"
    search: Search = (
        partial(leaf_edges, binned, weight, int(estimator.max_leaf_nodes))
        if trees
        else partial(largest_edges, binned, int(estimator.max_literals))
    )
    with threadpool_limits(1, user_api="blas"):  # sums of a threaded library depend on the number of its threads
        found = generate_rules(binned, given.target == 1, weight, target.segments, options, search)
    cutoffs = target.boundaries, target.deltas
    model = RuleModel(
        given.schema, target.loss, found.intercept, found.rules, found.coef, category_bins(binned.binning), *cutoffs
    )
    estimator._forget()
    remember(estimator, given.classes, given.schema)
    estimator.model_, estimator.target_, estimator.deltas_ = model, target, target.deltas
    estimator.intercept_ = np.array([found.intercept])
    estimator._coverage = (list(found.support),)
    exhaustive = not trees and estimator.max_literals == 1
    _store_trace(estimator, found, certify(found, target.loss, options, exhaustive))


def _store_trace(estimator: "BoundaryClassifier", found: FittedTerms, certificate: TermCertificate) -> None:
    rounds = found.rounds
    estimator.certificate_, estimator.n_iter_ = certificate, len(rounds)
    estimator.objective_, estimator.gap_ = certificate.objective, certificate.gap
    estimator._rounds = {
        "objective": np.array([step.objective for step in rounds]),
        "gap": np.array([step.objective - step.dual_objective for step in rounds]),
        "edge": np.array([step.largest_edge for step in rounds]),
        "terms": np.array([step.n_terms for step in rounds]),
    }
    if estimator.verbose:
        print(
            f"BoundaryClassifier: {len(rounds)} rounds, {found.n_terms} terms, objective {certificate.objective:.8g}, "
            f"relative gap {certificate.relative_gap:.1e}"
        )
    warn_of([certificate.doubts])
