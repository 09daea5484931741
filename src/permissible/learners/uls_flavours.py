"""The papers' adaptive flavours: the surrogate itself is chosen on the way ([N], [I]; mathematics.md section 5).

F1 and F2 pick in every round the phi of a bag whose step leaves the least training 0/1 risk, E1 and E2 the one whose rule has
the largest edge on its own weights; ties go to the order of the bag. H is shared, so this is the one place where phi_mu differs
from phi_M. When phi_B is picked the coefficients are renormalised: divided by the sum of their sizes where that exceeds 1
(mathematics.md 4.2 iii). F* runs each of five phi entirely and keeps the one of least training risk.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible import losses
from permissible.bins.literal import Rule
from permissible.learners.uls import Fit, grow, leverage
from permissible.learners.uls_fast import Examples, layout_of
from permissible.learners.uls_leverage import Field, Leverage
from permissible.learners.uls_memory import PythonRows, PythonSurrogate
from permissible.learners.uls_options import Stop, ULSOptions
from permissible.learners.uls_rows import Terms
from permissible.learners.uls_search import GrownRule
from permissible.learners.uls_trace import Round, Trace
from permissible.losses import Loss
from permissible.types import FloatArray

BAGS = {
    "F1": ("mu", "matsushita", "logistic", "squared"),
    "E1": ("mu", "matsushita", "logistic", "squared"),
    "F2": ("mu", "matsushita", "logistic", "power"),
    "E2": ("mu", "matsushita", "logistic", "power"),
    "F*": ("mu", "matsushita", "logistic", "squared", "power"),
}
FLAVOURS = tuple(BAGS)


@dataclass(slots=True)
class Proposal:
    """What one phi of the bag would do in this round."""

    loss: Loss
    fit: Fit
    grown: GrownRule
    step: Leverage
    edge: float
    risk: float
    covered: tuple[float, float]


def boost_adaptive(flavour: str, examples: Examples, options: ULSOptions, held: Examples | None = None) -> Trace:
    """Run F1, F2, E1 or E2."""
    bag = [losses.get(name) for name in BAGS[flavour]]
    made = [_Candidate(loss, examples, held, options) for loss in bag]
    rules: list[Rule] = []
    theta = np.zeros(1)
    rounds: list[Round] = []
    stop: Stop = "rounds"
    start = made[0].fit.rows.now
    for number in range(options.n_rules):
        proposals = [p for candidate in made if (p := candidate.propose(options.seed + number)) is not None]
        if not proposals:
            stop = "no edge"
            break
        by_edge = flavour.startswith("E")
        best = max(proposals, key=lambda p: p.edge) if by_edge else min(proposals, key=lambda p: p.risk)
        before = best.fit.rows.now.weight
        value_in, value_out = (options.learning_rate * v for v in (best.step.value_in, best.step.value_out))
        if best.grown.rule not in rules:
            rules.append(best.grown.rule)
            theta = np.append(theta, 0.0)
        theta[1 + rules.index(best.grown.rule)] += 0.5 * (value_in - value_out)
        theta[0] += 0.5 * (value_in + value_out)
        if best.loss.name == "squared":
            theta /= max(1.0, float(np.abs(theta).sum()))
        terms = Terms(float(theta[0]), tuple(rules), tuple(theta[1:].tolist()))
        for candidate in made:
            candidate.reset(terms)
        rounds.append(_round(best, theta, before, examples, held))
        if best.step.capped:
            stop = "separable"
            break
    unit = float(made[0].surrogate.at(np.zeros(1))[0, 0]) * examples.total
    return Trace(
        0.0, tuple(rounds), stop, start.surrogate / unit, start.error / examples.total, total_weight=examples.total
    )


class _Candidate:
    """One phi of the bag with the shared margins."""

    def __init__(self, loss: Loss, examples: Examples, held: Examples | None, options: ULSOptions) -> None:
        binning = examples.binned.binning
        self.loss, self.surrogate = loss, PythonSurrogate(loss)
        self.rows = PythonRows(examples, loss, options.fit_intercept)
        judged = None if held is None else Field.start(PythonRows(held, loss, options.fit_intercept), self.surrogate)
        field = Field.start(self.rows, self.surrogate)
        self.fit = Fit(field, judged, binning, layout_of(binning), options, loss.name, 1.0)

    def reset(self, terms: Terms) -> None:
        self.fit.rows.reset(terms)
        if self.fit.held is not None:
            self.fit.held.reset(terms)

    def propose(self, seed: int) -> Proposal | None:
        grown = grow(self.fit, seed)
        now = self.fit.rows.now
        if grown is None or not grown.decrease > self.fit.options.tolerance * now.surrogate:
            return None
        step = leverage(self.fit, grown)
        edge = abs(2.0 * grown.weight_in - grown.weight_all) / now.weight
        mask, examples = self.rows.mask(grown.rule), self.rows.examples
        moved = self.rows.moved(mask, step.value_in, step.value_out)
        sample = np.ones(len(mask)) if examples.weight is None else examples.weight
        covered = float(sample[mask].sum())
        share = float(sample[mask & examples.positive].sum()) / covered if covered else float("nan")
        return Proposal(
            self.loss, self.fit, grown, step, edge, _risk(moved, examples), (covered / examples.total, share)
        )


def _risk(margin: FloatArray, examples: Examples) -> float:
    wrong = (margin < 0) | ((margin == 0) & ~examples.positive)
    return float(wrong.sum()) if examples.weight is None else float(examples.weight[wrong].sum())


def _round(best: Proposal, theta: FloatArray, before: float, examples: Examples, held: Examples | None) -> Round:
    now, unit = best.fit.rows.now, float(PythonSurrogate(best.loss).at(np.zeros(1))[0, 0])
    judged = best.fit.held
    validation = float("nan") if judged is None or held is None else judged.now.surrogate / (unit * held.total)
    return Round(
        best.grown.rule, 0.0, 0.0, best.edge, before, now.surrogate / (unit * examples.total), now.error / examples.total,
        best.loss.name, validation, best.step.passes, *best.covered, tuple(theta[1:].tolist()), float(theta[0]),
    )  # fmt: skip


def boost_best(examples: Examples, run: Any) -> tuple[Loss, Trace]:
    """F*: run each phi of the bag of five entirely, keep the first of least training risk. `run(loss)` fits one."""
    bag = [losses.get(name) for name in BAGS["F*"]]
    traces = [run(loss) for loss in bag]
    errors = [trace.rounds[-1].train_error if trace.rounds else trace.start_error for trace in traces]
    best = int(np.argmin(errors))
    return bag[best], traces[best]
