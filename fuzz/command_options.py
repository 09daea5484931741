"""The options of the command line that are parsed by hand: --set, --boundaries, --reject-cost, --loss, lists of names."""

import atheris

from fuzz.target import allowed, run
from permissible.cli.errors import CommandError
from permissible.cli.io.model_options import Learner
from permissible.cli.options import listed

for model in ("uls", "udt", "boundary", "mcboost"):
    Learner(model).estimator()  # loads it


def one(data: bytes) -> None:
    """An estimator and a decision, or one sentence."""
    given = atheris.FuzzedDataProvider(data)
    model = ["uls", "udt", "boundary", "mcboost", "x"][given.ConsumeIntInRange(0, 4)]
    settings = tuple(given.ConsumeUnicode(40) for _ in range(given.ConsumeIntInRange(0, 2)))
    boundaries = given.ConsumeUnicode(30) if given.ConsumeBool() else None
    reject = given.ConsumeFloat() if given.ConsumeBool() else None
    loss = given.ConsumeUnicode(12) if given.ConsumeBool() else None
    listed(boundaries)
    learner = Learner(model, loss, None, None, given.ConsumeBool(), boundaries, reject, None, 0, 1, settings)
    for ask in (learner.decision, learner.estimator):
        try:
            ask()
        except CommandError as error:
            allowed(Exception(" ".join(str(error).split())))


if __name__ == "__main__":
    run(
        one,
        "permissible.cli.io.model_options",
        "permissible.cli.options",
        "permissible.decisions.binary",
        "permissible.validation.arrays",
    )
