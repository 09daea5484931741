"""`permissible fit --out-of-core DIR`: the file is binned into a folder once and learned from block by block."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def learn_from_folder(
    learner: Any, decision: Any, data: Path, folder: Path, target: str, weight: str | None, drop: Sequence[str],
    categorical: Sequence[str], output: Path | None, json: bool, refused: Sequence[str],
) -> None:  # fmt: skip
    """Bin, learn, print in words, write where asked. What needs all rows in memory is refused by name."""
    from permissible.cli import show
    from permissible.cli.errors import UseError
    from permissible.cli.fit import aligned
    from permissible.distributed.dataset import BinnedDataset
    from permissible.estimators.files import save

    if refused:
        raise UseError(f"--out-of-core reads the file block by block and takes no {', '.join(refused)}; leave it out.")
    linear = learner.model == "boundary" or getattr(learner.estimator(), "learner", None) == "linear"
    with show.progress("binning", json):
        dataset = BinnedDataset.from_parquet(
            data, target=target, weight=weight, drop=drop, categorical=categorical, directory=folder, seed=learner.seed,
            keep_values=linear,
        )  # fmt: skip
    classes = dataset.classes
    if not json:
        show.say(show.size_of(data.name, dataset.n_rows, len(dataset.schema.columns), target, len(classes)))
    with show.progress("learning", json):
        fitted = learner.estimator(classes.tolist()).fit(dataset)
    fitted.decision_ = None if decision is None else aligned(decision, classes)
    fitted.notes_ = {"target": target, "source": data.name, "id": []}
    if output is not None:
        save(fitted, output)
    if json:
        show.as_json({
            "estimator": type(fitted).__name__, "classes": classes, "rows": dataset.n_rows, "text": fitted.to_text(),
            "model": None if output is None else str(output), "folder": str(folder),
        })  # fmt: skip
        return
    show.say()
    show.say(fitted.to_text())
    show.say()
    show.say(f"The binned rows are in {folder}.")
    if output is not None:
        show.say(f"The model is in {output}.")
