"""What is varied: one size at a time, the others held, for each of the four estimators that the size means something to.

The law: along a curve the work is of one kind, so the rule search visits all rows (by default it takes a share of them from
100,000 rows on, which would put a step into the curve of rows).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BASE = {"rows": 20_000, "columns": 10, "rounds": 20, "literals": 2, "classes": 2, "boundaries": 1, "threads": 1}
"""The sizes that are held; a round of UDT is a split."""
ALL = ("ULS", "UDT", "Boundary", "MCBoost")


@dataclass(frozen=True)
class Axis:
    """One size, its values, the estimators it means something to, and what is held elsewhere than in `BASE`."""

    name: str
    values: tuple[int, ...]
    estimators: tuple[str, ...]
    held: dict[str, int] = field(default_factory=dict)

    def points(self) -> Iterator[dict[str, Any]]:
        """Every fit of this axis, small ones first."""
        for value in self.values:
            for name in self.estimators:
                least = {"classes": 4} if name == "MCBoost" else {}
                yield {"axis": self.name, "estimator": name, **BASE, **least, **self.held, self.name: value}


AXES = (
    Axis("rows", (*(k * 10**e for e in (3, 4, 5, 6) for k in (1, 3)), 10_000_000), ALL),
    Axis("columns", (10, 30, 100, 300, 1000, 3000, 10_000), ALL, {"rows": 5000}),
    Axis("rounds", (10, 30, 100, 300, 1000), ("ULS", "UDT", "MCBoost"), {"rows": 100_000}),
    Axis("literals", (1, 2, 3, 4, 6, 8), ("ULS", "MCBoost"), {"rows": 100_000}),
    Axis("classes", (2, 4, 8, 16, 32, 64), ("ULS", "UDT", "MCBoost"), {"rows": 50_000}),
    Axis("boundaries", (1, 3, 9, 19, 49, 99), ("Boundary",), {"rows": 100_000}),
    Axis("threads", (1, 2), ALL, {"rows": 1_000_000}),
)


def estimator(point: dict[str, Any]) -> Any:
    """The unfitted estimator of a point."""
    import permissible as pm

    jobs, rounds = point["threads"], point["rounds"]
    if point["estimator"] == "ULS":
        return pm.ULSClassifier(
            n_rounds=rounds,
            max_literals=point["literals"],
            early_stopping=False,
            search_fraction=1.0,
            n_jobs=jobs,
            random_state=0,
        )
    if point["estimator"] == "UDT":
        return pm.UDTClassifier(max_leaf_nodes=rounds + 1, n_jobs=jobs, random_state=0)
    if point["estimator"] == "Boundary":
        count = point["boundaries"]
        return pm.BoundaryClassifier([(k + 1) / (count + 1) for k in range(count)], n_jobs=jobs, random_state=0)
    learner = "rule" if point["axis"] == "literals" else "linear"
    return pm.MCBoostClassifier(
        n_rounds=rounds, learner=learner, max_literals=point["literals"], calibration=None, n_jobs=jobs, random_state=0
    )
