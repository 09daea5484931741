"""`permissible fit --out-of-core DIR`: the file is binned into a folder once and learned from block by block."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def learn_from_folder(
    learner: Any, decision: Any, data: Path, folder: Path, target: str, weight: str | None, drop: Sequence[str],
    ids: Sequence[str], output: Path | None, json: bool, refused: Sequence[str],
) -> None:  # fmt: skip
    """Bin, learn, print in words, write where asked. What needs all rows in memory is refused by name.

    The columns, their kinds and the classes are those of a fit in memory, so the model file is the same to the last byte.
    """
    from permissible.cli import show
    from permissible.cli.errors import UseError
    from permissible.cli.io.rows import FileOptions, features_of, identifiers, kinds_shown
    from permissible.cli.verbs.fit import aligned
    from permissible.distributed.data.dataset import BinnedDataset
    from permissible.estimators.files.save_load import save

    if refused:
        raise UseError(f"--out-of-core reads the file block by block and takes no {', '.join(refused)}; leave it out.")
    linear = learner.model == "boundary" or getattr(learner.estimator(), "learner", None) == "linear"
    source = FileOptions().open(data)
    features = features_of(source, data, target, learner.categorical, drop, weight)
    kinds = source.kinds()
    with show.progress("binning", json):
        texts = {name: kinds[name] for name in features if kinds[name] == "text"}
        names = identifiers(source.chunks(texts) if texts else [], features, kinds, learner.categorical)
        dataset = BinnedDataset.from_parquet(
            data, target=target, weight=weight, drop=[*drop, *names], categorical=learner.categorical, directory=folder,
            seed=learner.seed, keep_values=linear,
        )  # fmt: skip
    classes = dataset.classes
    if not json:
        show.say(show.size_of(data.name, dataset.n_rows, len(dataset.schema.columns), target, len(classes)))
        show.columns(kinds_shown(features, kinds, learner.categorical, names))
    with show.progress("learning", json):
        estimator = learner.estimator(classes.tolist())
        if (
            learner.categorical
        ):  # the data set knows; the model file tells what was asked for, as that of a fit in memory
            fitted = estimator.set_params(categorical=None).fit(dataset).set_params(categorical=[*learner.categorical])
        else:
            fitted = estimator.fit(dataset)
    fitted.decision_ = None if decision is None else aligned(decision, classes)
    fitted.notes_ = {"target": target, "source": data.name, "id": list(ids)}
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
