"""Options of the command line -> an estimator and a decision."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from permissible.cli.errors import UseError
from permissible.cli.options import DecisionOptions, EstimatorOptions, listed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from permissible.decisions import Decision
    from permissible.types import AnyArray

MODELS = {
    "uls": "ULSClassifier",
    "trees": "ULSClassifier",
    "udt": "UDTClassifier",
    "boundary": "BoundaryClassifier",
    "mcboost": "MCBoostClassifier",
}
_DIRECTED = ("uls", "trees", "udt")
_SIZES = {"uls": "n_rounds", "trees": "n_rounds", "udt": "max_leaf_nodes", "mcboost": "n_rounds"}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model options that the user gave."""

    model: str = "uls"
    loss: str | None = None
    given: EstimatorOptions = field(default_factory=EstimatorOptions)
    deciding: DecisionOptions = field(default_factory=DecisionOptions)
    categorical: tuple[str, ...] = ()

    def estimator(self, classes: "AnyArray | None" = None) -> "BaseEstimator":
        """The estimator, not yet fitted."""
        import permissible as pm

        if self.model not in MODELS:
            raise UseError(f"--model must be one of {', '.join(MODELS)}, got {self.model!r}.")
        maker: Any = getattr(pm, MODELS[self.model])
        if self.model == "uls" and self.given.compact:
            maker = maker.compact
        if self.given.points is not None:
            if self.model != "uls" or self.given.compact:
                other = "--compact" if self.given.compact else f"--model {self.model}"
                raise UseError(f"--points is for a card of rules (--model uls), got {other}.")
            maker = maker.points
        if self.model == "trees":
            maker = maker.trees
        try:
            return maker(**{**self._parameters(classes), **self._settings()})
        except TypeError as error:
            raise UseError(f"--set must name a parameter of {MODELS[self.model]}: {error}.") from None

    def _parameters(self, classes: "AnyArray | None") -> dict[str, object]:
        from permissible.decisions import CostMatrix

        parameters: dict[str, object] = {} if self.loss is None else {"loss": self.loss}
        given, deciding = self.given, self.deciding
        if self.model == "boundary":
            parameters |= self._boundary_rules()
        if self.categorical:
            if self.model == "boundary" and "learner" not in {**parameters, **self._settings()}:
                raise UseError(
                    "--categorical is for rules and trees, got --model boundary, which learns from numbers alone; add --rules."
                )
            parameters["categorical_features"] = list(self.categorical)
        if self.model == "boundary":
            cuts = _numbers(deciding.boundaries) if deciding.boundaries else [0.5]
            if deciding.reject_cost is not None and not deciding.boundaries:
                cuts = [deciding.reject_cost, 1.0 - deciding.reject_cost]
            return {**parameters, "boundaries": tuple(cuts), "n_jobs": given.jobs}
        if given.monotone:
            if self.model not in _DIRECTED:
                raise UseError(f"--monotone is for --model {', '.join(_DIRECTED)}, got --model {self.model}.")
            parameters["monotonic_cst"] = _directions(given.monotone)
        if given.points is not None:
            parameters["max_points"] = given.points
        if given.rules is not None:
            compact = self.model == "uls" and given.compact
            parameters["n_rules" if compact or given.points is not None else _SIZES[self.model]] = given.rules
        if given.literals is not None:
            if self.model != "uls":
                raise UseError(f"--literals is for rules (--model uls), got --model {self.model}.")
            parameters["max_literals"] = given.literals
        if self.model == "mcboost" and deciding.cost_matrix is not None:
            costs = decision_of(deciding, classes)
            assert isinstance(costs, CostMatrix)
            parameters["cost_matrix"] = costs.matrix
        return {**parameters, "random_state": given.seed, "n_jobs": given.jobs}

    def _boundary_rules(self) -> dict[str, object]:
        """A number of rules, or of tests in one, asks for rules in place of a linear score."""
        asked = {"n_rounds": self.given.rules, "max_literals": self.given.literals}
        found = {name: value for name, value in asked.items() if value is not None}
        return {"learner": "rule", **found} if found else {}

    def _settings(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for item in self.given.settings or ():
            name, sign, text = item.partition("=")
            if not sign or not name:
                raise UseError(f"--set must look like name=value, got {item!r}.")
            try:
                found[name.strip()] = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                found[name.strip()] = text
        return found


def decision_of(asked: DecisionOptions, classes: "AnyArray | None" = None) -> "Decision | None":
    """The given decision, in the order of the classes where they are known; None without one."""
    from permissible.decisions import Boundaries, CostMatrix, Reject

    try:
        if asked.cost_matrix is not None:
            if not asked.cost_matrix.exists():
                raise UseError(f"the file {asked.cost_matrix} does not exist.")
            costs = CostMatrix.from_csv(asked.cost_matrix)
            price = costs.reject_cost if asked.reject_cost is None else asked.reject_cost
            decision: Decision | None = CostMatrix(costs.matrix, price, costs.classes)
        elif asked.boundaries is not None:
            decision = Boundaries(tuple(_numbers(asked.boundaries)))
        else:
            decision = None if asked.reject_cost is None else Reject(asked.reject_cost)
    except ValueError as error:
        raise UseError(str(error)) from None
    return decision if decision is None or classes is None else _aligned(decision, classes)


def positional(decision: "Decision | None") -> "Decision | None":
    """The same decision by the positions of the classes instead of their names."""
    from permissible.decisions import CostMatrix

    return CostMatrix(decision.matrix, decision.reject_cost) if isinstance(decision, CostMatrix) else decision


def _aligned(decision: "Decision", classes: "AnyArray") -> "Decision":
    """The decision for these classes, or an error that says why it does not match them."""
    from permissible.decisions import CostMatrix

    if isinstance(decision, CostMatrix) and decision.classes is not None:
        labels = {str(label): label for label in classes.tolist()}  # a CSV file holds text, labels may be numbers
        named = tuple(labels.get(str(name), name) for name in decision.classes)
        decision = CostMatrix(decision.matrix, decision.reject_cost, named)
    elif not isinstance(decision, CostMatrix) and len(classes) != 2:
        kind = type(decision).__name__.lower()
        raise UseError(f"{kind} decisions need two classes, got {len(classes)}; use --cost-matrix.")
    try:
        return decision.aligned(classes)
    except ValueError as error:
        raise UseError(f"--cost-matrix does not fit the target: {error}") from None


def _directions(text: str) -> dict[str, int]:
    """Columns with + or - after a colon, as a mapping."""
    found = {}
    for item in listed(text):
        name, _, sign = item.rpartition(":")
        if not name or sign not in ("+", "-"):
            raise UseError(f"--monotone must look like age:+,debt:-, got {item!r}.")
        if name in found:
            raise UseError(f"--monotone must name each column once, got {name!r} twice.")
        found[name] = 1 if sign == "+" else -1
    return found


def _numbers(text: str) -> list[float]:
    try:
        return [float(item) for item in listed(text)]
    except ValueError:
        raise UseError(f"--boundaries must be numbers such as .25,.5,.75, got {text!r}.") from None
