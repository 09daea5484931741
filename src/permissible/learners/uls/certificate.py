"""The certificate of a ULS fit: what is left to gain, Theorem 2's bound with its ingredients, and separability.

Theorem 2 ([T], [I], constant of section 4.3): while every rule has an edge of at least gamma_j, the number of rounds is
at most 2 m b a_m^2 / (a_v a_Z^2 a_gamma^2). Here m b is the surrogate at the start (sum of b F), a_m the largest
Euclidean norm of a feature over the rows (a_m^2 = m for +-1 rules), a_v = min G'' = 1 / largest curvature, a_Z the
least sum of weights and a_gamma the mean edge. It bounds how long weak learning can last and is not a stopping rule. It
is proved for the plain algorithm (no shrinkage, no l2); otherwise it is shown for comparison.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import Doubts
from permissible.learners.uls.guarantees.agreement import Agreement
from permissible.learners.uls.guarantees.weak_learning import weak_learning
from permissible.learners.uls.trace import Trace
from permissible.losses import Loss, PermissibleLoss
from permissible.types import AnyArray, FloatArray, Matrix


@dataclass(frozen=True, slots=True)
class RuleCertificate(CertificateHead):
    """How far a fit is from the optimum.

    Attributes
    ----------
    separable : bool
        Whether the rules separate the classes and the loss has no finite minimiser, so that the fit stopped at a cap.
    rounds : int
        Rounds used.
    surrogate : float
        Mean surrogate at the end.
    largest_edge : float
        The largest edge of a rule of one literal (of a column) under the last weights; 0 at the optimum over such
        rules. If coefficients are refitted with `l2`, the derivative of the penalty is included, here and in
        `gradient_norm`.
    gradient_norm : float
        Euclidean norm of the gradient over the rules found and the constant, over the sum of weights; NaN if it was too
        expensive to compute.
    bound : float
        Theorem 2's bound on the rounds.
    ingredients : mapping
        `examples`, `b`, `a_m`, `a_v`, `a_Z`, `a_gamma`.
    separation : str or None
        With ``learner="column"`` and a loss whose weights never vanish, by linear programming: "none" (a finite minimiser
        exists), "partial" or "complete" (it does not: some or all rows are separated). None: not looked at.
    agreement : Agreement or None
        What the models of the folds that chose, each fitted once, have in common with this one: `n_rules`, `found`, `flipped`.
        None where nothing was held out, and of the classic scheme where five folds chose no average.

    `stopped` is "rounds", "no edge", "separable", "time" or "callback". No bound on the gap is known.
    """

    separable: bool
    rounds: int
    surrogate: float
    largest_edge: float
    gradient_norm: float
    bound: float
    ingredients: Mapping[str, float]
    separation: str | None = None
    agreement: Agreement | None = None


def certify(
    trace: Trace, loss: Loss, doubts: Doubts = (), largest_norm: float | None = None, separation: str | None = None
) -> RuleCertificate:
    """State what is known at the end of a fit.

    `largest_norm` is a_m, the largest Euclidean norm of a feature over the weighted rows; None means +-1 rules.
    `separation` is what the linear program says of given columns.
    """
    surrogate = trace.rounds[-1].surrogate if trace.rounds else trace.start_surrogate
    ingredients = _ingredients(trace, loss, largest_norm)
    bound = float("inf")
    curved = ingredients["a_v"] * ingredients["a_Z"] ** 2 * ingredients["a_gamma"] ** 2
    if curved > 0:
        bound = 2.0 * ingredients["examples"] * ingredients["b"] * ingredients["a_m"] ** 2 / curved
    return RuleCertificate(
        separable=trace.stop == "separable",
        rounds=len(trace.rounds),
        surrogate=surrogate,
        largest_edge=trace.largest_edge,
        gradient_norm=trace.gradient_norm,
        bound=bound,
        ingredients=ingredients,
        statement=_statement(trace, surrogate, bound, doubts),
        stopped=trace.stop,
        doubts=doubts,
        separation=separation,
        agreement=trace.evidence.get("agreement"),
    )


def largest_norm(X: Matrix, weight: FloatArray | None, constant: bool) -> float:
    """a_m of the columns of a matrix: the root of the largest weighted sum of squares, including the constant."""
    sample = np.ones(X.shape[0]) if weight is None else weight
    squares = X.multiply(X).T @ sample if hasattr(X, "multiply") else np.einsum("ij,ij,i->j", X, X, sample)
    return float(np.sqrt(np.max(squares, initial=float(sample.sum()) if constant else 0.0)))


def _ingredients(trace: Trace, loss: Loss, largest_norm: float | None) -> dict[str, float]:
    start = loss.b if isinstance(loss, PermissibleLoss) else float(np.asarray(loss.value(np.zeros(1)))[0])
    return {
        "examples": trace.total_weight,
        "b": start,
        "a_m": float(np.sqrt(trace.total_weight)) if largest_norm is None else largest_norm,
        "a_v": 1.0 / loss.largest_curvature,
        "a_Z": min((step.weight for step in trace.rounds), default=0.0),
        "a_gamma": float(np.mean([step.edge for step in trace.rounds])) if trace.rounds else 0.0,
    }


def in_unit(certificate: RuleCertificate, scale: float) -> RuleCertificate:
    """The certificate of a fit on weights times `scale`, with its ingredients in the original unit of the weights."""
    if scale == 1.0:
        return certificate
    units = {"examples": scale, "a_m": math.sqrt(scale), "a_Z": scale}
    return replace(certificate, ingredients={k: v / units.get(k, 1.0) for k, v in certificate.ingredients.items()})


_REASONS: dict[str, str] = {
    "rounds": "it reached the maximum number of rounds",
    "no edge": "no {term} lowers the surrogate further",
    "separable": "the {terms} separate the classes, so the surrogate has no finite minimiser and the coefficients were capped",
    "time": "it reached the time limit",
    "callback": "a callback stopped it",
}


def _statement(trace: Trace, surrogate: float, bound: float, doubts: Doubts) -> str:
    columns = trace.evidence.get("learner") == "column"
    term, terms, single = ("column", "columns", "a column") if columns else ("rule", "rules", "a rule of one literal")
    known = bool(trace.rounds) and not np.isnan(trace.largest_edge)
    left = f"; the largest remaining edge of {single} is {trace.largest_edge:.3g}" if known else ""
    theorem = (
        f"Theorem 2 allows at most {bound:.3g} rounds" if np.isfinite(bound) else "Theorem 2 gives no finite bound"
    )
    averaged = trace.evidence.get("averaged")
    fit = f"average of {averaged} fits" if averaged else "fit"
    reason = _REASONS[trace.stop].format(term=term, terms=terms)
    away = [doubt.words for doubt in doubts if doubt.kind in ("coefficient explodes", "not converged")]
    stopped = (
        f"The {fit} stopped after {len(trace.rounds)} rounds because {reason}: mean surrogate {surrogate:.4g}{left}."
    )
    folds = [] if trace.evidence.get("agreement") is None else [str(trace.evidence["agreement"])]
    return " ".join([stopped, f"{theorem} at these edges.", *(away if trace.stop != "separable" else ()), *folds])


def history_of(trace: Trace, loss: Loss, scheme: int = 1, largest_norm: float | None = None) -> dict[str, AnyArray]:
    """One array entry per round: surrogate, train_error, edge, loss, weak learning, and validation where there was one."""
    history: dict[str, AnyArray] = {
        "surrogate": np.array([step.surrogate for step in trace.rounds]),
        "train_error": np.array([step.train_error for step in trace.rounds]),
        "edge": np.array([step.edge for step in trace.rounds]),
        "loss": np.array([step.loss for step in trace.rounds], dtype=str),
        **weak_learning(trace, scheme, _ingredients(trace, loss, largest_norm)),
    }
    validation = np.array([step.validation for step in trace.rounds])
    if len(validation) and not np.isnan(validation).all():
        history["validation"] = validation
    return history
