"""`permissible fit --out-of-core DIR`: the file is binned into a folder once and learned from block by block."""

from pathlib import Path
from typing import TYPE_CHECKING

from permissible.cli.options import ColumnOptions, FileOptions, listed

if TYPE_CHECKING:
    from permissible.cli.io.model_options import ModelOptions
    from permissible.cli.verbs.fit import Places


def learn_from_folder(asked: "ModelOptions", places: "Places", folder: Path, columns: ColumnOptions) -> None:
    """Bin, learn, print in words, write to a file.

    Columns, kinds and classes are those of a fit in memory, so the model file is identical.
    """
    from permissible.cli import show
    from permissible.cli.io.columns import identifiers, kinds_shown, may_identify, ranges, refuse_notations
    from permissible.cli.io.model_options import decision_of
    from permissible.cli.io.rows import features_of, open_file
    from permissible.distributed.data.dataset import BinnedDataset
    from permissible.estimators.files.save_load import save

    data, target, categorical = places.data, places.target, asked.categorical
    linear = asked.model == "boundary" or getattr(asked.estimator(), "learner", None) == "linear"
    source = open_file(data, FileOptions())
    features = features_of(source, data, target, columns)
    kinds = source.kinds()
    with show.progress("binning", places.json):
        texts = {name: kinds[name] for name in features if may_identify(name, kinds[name])}
        refuse_notations(source, features, kinds, categorical)
        names = identifiers(
            source.chunks(texts) if texts else [], features, kinds, (*categorical, *listed(columns.numeric))
        )
        dataset = BinnedDataset.from_parquet(
            data,
            target=target,
            weight=columns.weight,
            drop=[*columns.left_out, *names],
            categorical_features=categorical,
            directory=folder,
            seed=asked.given.seed,
            keep_values=linear,
        )
    classes = dataset.classes
    numeric = {name: kinds[name] for name in features if kinds[name] in ("number", "integer") and name not in names}
    if not places.json:
        show.say(show.size_of(data.name, dataset.n_rows, len(dataset.schema.columns), target, len(classes)))
        show.columns(kinds_shown(features, kinds, categorical, names))
    with show.progress("learning", places.json):
        estimator = asked.estimator(classes)
        if categorical:
            # The data set has its categories, so `fit` gets none; the model file keeps the option.
            fitted = (
                estimator.set_params(categorical_features=None)
                .fit(dataset)
                .set_params(categorical_features=[*categorical])
            )
        else:
            fitted = estimator.fit(dataset)
    fitted.decision_ = decision_of(asked.deciding, classes)
    fitted.notes_ = {"target": target, "source": data.name, "id": [*listed(columns.id_columns), *names]}
    fitted.notes_ |= {"notations": {}, "ranges": ranges(source.chunks(numeric), categorical)}
    if places.output is not None:
        save(fitted, places.output)
    text, output = fitted.to_text(), None if places.output is None else str(places.output)
    if places.json:
        found = {"estimator": type(fitted).__name__, "classes": classes, "rows": dataset.n_rows, "text": text}
        show.as_json({**found, "model": output, "folder": str(folder)})
        return
    show.say(f"\n{text}\n\nThe binned rows are in {folder}.")
    if output is not None:
        show.say(f"The model is in {output}.")
