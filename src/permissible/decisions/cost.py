"""Cost matrices C[true, predicted], and the decision of least expected cost ([B] section 2).

C is non-negative with a zero diagonal and no empty row. The Bayes decision is argmin_k sum_j p_j C[j, k], the lowest
index among equals; a rejection, where it has a cost, is chosen when it is strictly cheaper than every class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np

from permissible.decisions import builders
from permissible.decisions.proba import by_class
from permissible.decisions.scoring import Decision
from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import Words, checked_costs, real_numbers, refusal, refusal_type
from permissible.validation.numbers import real_number, whole_number

RejectCost: TypeAlias = float | FloatArray | Mapping[object, float] | None
"""What a user may give; a `CostMatrix` holds a number, or an array in the order of its rows."""


@dataclass(frozen=True, eq=False)
class CostMatrix(Decision):
    """Decide at least expected cost.

    Parameters
    ----------
    matrix : array of shape (M, M)
        ``matrix[true, predicted]``, non-negative, zero diagonal, no row of zeros. A data frame names its classes.
    reject_cost : float, array of shape (M,) or mapping from class, optional
        Price of not deciding, the same for all or by true class; an array is in the order of the rows of the matrix.
    classes : sequence, optional
        The class of each row and column, in any order. An estimator, a scorer, a report or an export finds its classes
        by these names; without them row k belongs to ``classes_[k]``, and estimators sort their classes. `decide` and
        `loss` use no estimator: their probabilities and codes are in the order of the matrix.

    Examples
    --------
    >>> import permissible as pm
    >>> costs = pm.CostMatrix([[0, 1], [4, 0]])
    >>> costs.decide([0.1, 0.2, 0.3])
    array([0, 0, 1])
    >>> pm.CostMatrix([[0, 1], [4, 0]], reject_cost=0.3).decide([0.05, 0.2, 0.9])
    array([ 0, -1,  1])
    """

    matrix: FloatArray
    reject_cost: float | FloatArray | None = None
    classes: tuple[object, ...] | None = None

    def __post_init__(self) -> None:
        costs, classes = builders.named_costs(self.matrix, self.classes)
        matrix = checked_costs(costs)
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)
        if classes is not None:
            object.__setattr__(self, "classes", _checked_classes(classes, len(matrix)))
        object.__setattr__(self, "reject_cost", _checked_reject(self.reject_cost, len(matrix), self.classes))

    # -- ways to build it ---------------------------------------------------------------------------------------------

    @classmethod
    def from_class_weights(cls, weights: ArrayLike | Mapping[object, float], reject_cost: RejectCost = None) -> Self:
        """Build costs that depend on the true class only: missing class j costs weights[j].

        A mapping names the classes, which are then sorted as estimators sort theirs, so that its order does not matter;
        a sequence gives them in the order of ``classes_``.
        """
        classes = tuple(weights) if isinstance(weights, Mapping) else None
        given = list(weights.values()) if isinstance(weights, Mapping) else weights
        column = real_numbers("weights", given, "one number for each class")
        if column.ndim != 1:
            raise refusal("weights", "one number for each class", Words(f"shape {column.shape}"))
        return cls(column[:, None] * (1 - np.eye(column.size)), reject_cost, classes)._sorted()  # type: ignore[arg-type]

    @classmethod
    def from_hierarchy(
        cls, tree: object, reject_cost: RejectCost = None, node_costs: Mapping[object, float] | None = None
    ) -> Self:
        """Build costs from a hierarchy: the number of edges between two classes in the tree, or the costs of its nodes.

        Branches are mappings (names of inner nodes are free) or lists, leaves are class names; the classes are sorted. With
        `node_costs`, a mapping from the names of inner nodes, confusing two classes costs what the node costs at which
        their branches part.

        Examples
        --------
        >>> import permissible as pm
        >>> pm.CostMatrix.from_hierarchy({"animal": ["cat", "dog"], "vehicle": ["car"]}).matrix
        array([[0., 4., 4.],
               [4., 0., 2.],
               [4., 2., 0.]])
        """
        matrix, classes = builders.hierarchy_costs(tree, node_costs)
        return cls(matrix, reject_cost, classes)._sorted()  # type: ignore[arg-type]

    @classmethod
    def corals(cls) -> Self:
        """Build the costs of the nine classes of Moorea Labeled Corals ([B] appendix D), from their hierarchy.

        Examples
        --------
        >>> import permissible as pm
        >>> costs = pm.CostMatrix.corals()
        >>> costs.matrix[costs.classes.index("Sand"), costs.classes.index("Turf")]
        np.float64(2.0)
        """
        matrix, classes = builders.hierarchy_costs(builders.CORALS, builders.CORAL_COSTS)
        return cls(matrix, None, classes)._sorted()

    @classmethod
    def ordinal(cls, n_classes: int, power: float = 1.0, reject_cost: RejectCost = None) -> Self:
        """Build costs of classes on an ordered scale: the distance of true and predicted, to a power."""
        if not real_number("power", power) > 0:
            raise refusal("power", "positive", power)
        whole_number("n_classes", n_classes, 2)
        scale = np.arange(n_classes, dtype=np.float64)
        return cls(np.abs(scale[:, None] - scale) ** power, reject_cost)  # type: ignore[arg-type]

    @classmethod
    def from_csv(cls, path: "str | PathLike[str]") -> Self:
        """Read costs from a CSV file: predicted classes as header, true classes in the first column, in any order.

        A last column called ``reject`` gives the price of rejection by true class.
        """
        return cls(*builders.read_costs(path))._sorted()

    @classmethod
    def random_symmetric(cls, n_classes: int, low: float = 1.0, high: float = 10.0, seed: int = 0) -> Self:
        """Draw symmetric costs, uniform in [low, high], as in the experiments of [B] section 5.1."""
        whole_number("n_classes", n_classes, 2)
        if not 0 <= low <= high or high == 0:
            raise refusal("low, high", "0 <= low <= high with high > 0", (low, high))
        upper = np.triu(np.random.default_rng(seed).uniform(low, high, (n_classes, n_classes)), 1)
        return cls(upper + upper.T)

    # -- the decision -------------------------------------------------------------------------------------------------

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.matrix)

    def expected(self, proba: ArrayLike) -> FloatArray:
        """Return the expected cost of each action: a column for each class, and a last one for rejection if any."""
        array = by_class(proba)
        if array.shape[1] != self.n_classes:
            raise refusal("proba", f"of shape (n, {self.n_classes})", Words(f"shape {array.shape}"))
        costs = array @ self.matrix
        if self.reject_cost is None:
            return costs
        return np.column_stack([costs, array @ self._reject_column()])

    def decide(self, proba: ArrayLike) -> IntArray:
        """Return the class of least expected cost, or -1 for a rejection."""
        costs = self.expected(proba)
        action = costs.argmin(axis=1).astype(np.int64)  # the rejection comes last, so it must be strictly cheaper
        return np.where(action == self.n_classes, -1, action)

    def action_losses(self, n_classes: int) -> FloatArray:
        """Return the matrix, with the price of rejection as last column where there is one: that of the action -1."""
        return self.matrix if self.reject_cost is None else np.column_stack([self.matrix, self._reject_column()])

    def bayes_risk(self, proba: ArrayLike) -> FloatArray:
        """Return the least expected cost."""
        least: FloatArray = self.expected(proba).min(axis=1)
        return least

    def aligned(self, classes: ArrayLike) -> Self:
        """Return the matrix with rows and columns in the order of `classes`."""
        wanted = _names(classes)
        if self.classes is None:
            if len(wanted) != self.n_classes:
                came = Words(f"{self.n_classes} classes")
                raise refusal("matrix", f"of {len(wanted)} classes, as the estimator", came)
            return self
        if set(wanted) != set(self.classes):
            unknown = [name for name in self.classes if name not in wanted]
            missing = [name for name in wanted if name not in self.classes]
            odd = [
                f"{word} {', '.join(map(repr, names))}"
                for word, names in (("unknown", unknown), ("no", missing))
                if names
            ]
            came = Words(f"{list(self.classes)} ({'; '.join(odd)})")
            raise refusal("classes", f"those of the estimator, {wanted}", came)
        order = [self.classes.index(name) for name in wanted]
        reject = self.reject_cost[order] if isinstance(self.reject_cost, np.ndarray) else self.reject_cost
        return type(self)(self.matrix[np.ix_(order, order)], reject, tuple(wanted))

    def _sorted(self) -> Self:
        """The classes sorted, as those of an estimator are; classes that cannot be compared keep their order."""
        try:
            return self if self.classes is None else self.aligned(sorted(self.classes))
        except TypeError:
            return self

    def to_document(self) -> dict[str, object]:
        """Return the decision as plain data for JSON."""
        reject = self.reject_cost.tolist() if isinstance(self.reject_cost, np.ndarray) else self.reject_cost
        classes = None if self.classes is None else list(self.classes)
        return {"kind": "CostMatrix", "matrix": self.matrix.tolist(), "reject_cost": reject, "classes": classes}

    def _reject_column(self) -> FloatArray:
        return np.broadcast_to(np.asarray(self.reject_cost, dtype=np.float64), (self.n_classes,))

    def _key(self) -> tuple[object, ...]:
        document = self.to_document()
        return (str(document["matrix"]), str(document["reject_cost"]), self.classes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CostMatrix) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _names(classes: Any) -> list[object]:
    """Class names as plain Python values, each of its own type."""
    return [name.item() if isinstance(name, np.generic) else name for name in classes]


def _checked_classes(given: object, n_classes: int) -> tuple[object, ...]:
    expected = f"{n_classes} different classes, one for each row"
    listed = None if isinstance(given, str | bytes) or not hasattr(given, "__iter__") else _names(given)
    if listed is None or any(isinstance(name, list | dict | set | np.ndarray) for name in listed):
        raise refusal_type("classes", expected, given)
    if len(listed) != n_classes or len(set(listed)) != len(listed):
        raise refusal("classes", expected, listed)
    return tuple(listed)


def _checked_reject(
    reject_cost: object, n_classes: int, classes: tuple[object, ...] | None
) -> float | FloatArray | None:
    if reject_cost is None:
        return None
    if isinstance(reject_cost, Mapping):
        if classes is None or set(reject_cost) != set(classes):
            expected = "a number, or one for each true class" + ("" if classes is None else f" of {list(classes)}")
            came = Words(f"a mapping from {list(reject_cost)}")
            raise refusal("reject_cost", expected, came, "name the same classes")
        reject_cost = [reject_cost[name] for name in classes]
    column = np.array(real_numbers("reject_cost", reject_cost, "a number, or one for each true class"))
    if column.shape not in ((), (n_classes,)):
        raise refusal("reject_cost", f"a number or {n_classes} numbers", Words(f"shape {column.shape}"))
    if not (np.isfinite(column) & (column >= 0)).all():
        raise refusal("reject_cost", "finite and non-negative", reject_cost)
    if column.ndim == 0:
        return float(column)
    column.setflags(write=False)
    return column
