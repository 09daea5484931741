"""Any bytes as a CSV file of costs."""

import permissible as pm
from fuzz.target import SCRATCH, allowed, run


def one(data: bytes) -> None:
    """A cost matrix, or a refusal."""
    path = SCRATCH / "costs.csv"
    path.write_bytes(data)
    try:
        costs = pm.CostMatrix.from_csv(path)
    except ValueError as error:
        allowed(error)
        return
    assert costs.matrix.shape == (len(costs.classes), len(costs.classes))


if __name__ == "__main__":
    run(one, "permissible.decisions.builders", "permissible.decisions.cost", "permissible.validation.costs")
