"""Options of the command line -> an estimator and a decision."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from permissible.cli.errors import UseError
from permissible.cli.options import listed

MODELS = {
    "uls": "ULSClassifier", "udt": "UDTClassifier", "boundary": "BoundaryClassifier", "mcboost": "MCBoostClassifier",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Learner:
    """What the user asked to be fitted."""

    model: str = "uls"
    loss: str | None = None
    rules: int | None = None
    literals: int | None = None
    compact: bool = False
    boundaries: str | None = None
    reject_cost: float | None = None
    cost_matrix: Path | None = None
    seed: int = 0
    jobs: int = 1
    settings: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def estimator(self, classes: list[Any] | None = None) -> Any:
        """The estimator, not yet fitted."""
        import permissible as pm

        if self.model not in MODELS:
            raise UseError(f"--model must be one of {', '.join(MODELS)}, got {self.model!r}.")
        parameters = self._parameters(classes)
        parameters.update(self._settings())
        makers = {
            "udt": "UDTClassifier",
            "boundary": "BoundaryClassifier",
            "mcboost": "MCBoostClassifier",
            "uls": "ULSClassifier",
        }
        maker: Any = getattr(pm, makers[self.model])
        if self.model == "uls" and self.compact:
            maker = maker.compact
        try:
            return maker(**parameters)
        except TypeError as error:
            raise UseError(f"--set must name a parameter of {MODELS[self.model]}: {error}.") from None

    def decision(self) -> Any:
        """The decision that was asked for, None when none was."""
        from permissible.decisions import Boundaries, CostMatrix, Reject

        try:
            if self.cost_matrix is not None:
                if not self.cost_matrix.exists():
                    raise UseError(f"the file {self.cost_matrix} does not exist.")
                costs = CostMatrix.from_csv(self.cost_matrix)
                return costs if self.reject_cost is None else CostMatrix(costs.matrix, self.reject_cost, costs.classes)
            if self.boundaries is not None:
                return Boundaries(tuple(self._numbers(self.boundaries)))
            return None if self.reject_cost is None else Reject(self.reject_cost)
        except ValueError as error:
            raise UseError(str(error)) from None

    def _parameters(self, classes: list[Any] | None) -> dict[str, Any]:
        parameters: dict[str, Any] = {} if self.loss is None else {"loss": self.loss}
        if self.categorical:
            if self.model == "boundary":
                raise UseError("--categorical is for rules and trees, got --model boundary, which takes numbers alone.")
            parameters["categorical"] = list(self.categorical)
        if self.model == "boundary":
            cuts = self._numbers(self.boundaries) if self.boundaries else [0.5]
            if self.reject_cost is not None and not self.boundaries:
                cuts = [self.reject_cost, 1.0 - self.reject_cost]
            return {**parameters, "boundaries": tuple(cuts), "n_jobs": self.jobs}
        sizes = {"uls": "n_rules", "udt": "max_leaves", "mcboost": "n_rounds"}
        if self.rules is not None:
            parameters[sizes[self.model]] = self.rules
        if self.literals is not None:
            if self.model != "uls":
                raise UseError(f"--literals is for rules (--model uls), got --model {self.model}.")
            parameters["max_literals"] = self.literals
        if self.model == "mcboost" and self.cost_matrix is not None:
            import numpy as np

            from permissible.cli.verbs.fit import aligned

            decision = self.decision()
            parameters["cost_matrix"] = (decision if classes is None else aligned(decision, np.asarray(classes))).matrix
        return {**parameters, "random_state": self.seed, "n_jobs": self.jobs}

    def _settings(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for item in self.settings:
            name, sign, text = item.partition("=")
            if not sign or not name:
                raise UseError(f"--set must look like name=value, got {item!r}.")
            try:
                found[name.strip()] = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                found[name.strip()] = text
        return found

    def _numbers(self, text: str) -> list[float]:
        try:
            return [float(item) for item in listed(text)]
        except ValueError:
            raise UseError(f"--boundaries must be numbers such as .25,.5,.75, got {text!r}.") from None
