"""Labels and weights of every type: every estimator gives the model of the plain version, or one sentence."""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import permissible as pm
from permissible.estimators.input.training import codes_among, decode_target
from permissible.estimators.input.weights import row_weights, with_class_weight

NAN = float("nan")
ROWS = 48
RNG = np.random.default_rng(5)
X = RNG.integers(0, 5, (ROWS, 3))
CODES = (X[:, 0] + RNG.integers(0, 3, ROWS) > 3).astype(int)
ESTIMATORS = {
    "rules": lambda **more: pm.ULSClassifier(n_rounds=4, max_literals=2, early_stopping=False, **more),
    "columns": lambda **more: pm.ULSClassifier(n_rounds=4, learner="column", early_stopping=False, **more),
    "tree": lambda **more: pm.UDTClassifier(max_leaf_nodes=4, **more),
    "boundary": lambda **more: pm.BoundaryClassifier(**more),
    "boosting": lambda **more: pm.MCBoostClassifier(n_rounds=4, **{"learner": "linear", **more}),
}
every_estimator = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def one_sentence(error):
    message = str(error)
    assert "\n" not in message
    assert message.endswith(".")
    return message


# -- labels ---------------------------------------------------------------------------------------------------------------


def label_forms():
    """Forms of two labels, as a function of the codes, with the classes that must be found."""
    for kind in ("i1", "i2", "i4", "i8", ">i2", "f2", "f4", "f8", np.longdouble):
        pair = np.array([-100, 100], dtype=kind)
        yield f"numpy {np.dtype(kind)}", (lambda c, pair=pair: pair[c]), [-100, 100]
    for kind in ("u1", "u2", "u4", "u8", ">u4"):
        pair = np.array([0, 255], dtype=kind)
        yield f"numpy {kind}", (lambda c, pair=pair: pair[c]), [0, 255]
    for low, high in (
        (-(2**63), 2**63 - 1),
        (2**62, 2**62 + 1),
        (2**63, 2**64 - 1),
        (0, 2**64 - 1),
        (2**53, 2**53 + 1),
    ):
        yield f"large {low}", (lambda c, p=(low, high): [p[i] for i in c]), [low, high]
        yield f"objects {low}", (lambda c, p=(low, high): objects(*(p[i] for i in c))), [low, high]
    truth, text = [False, True], ["no", "yes"]
    yield "bool", lambda c: c > 0, truth
    yield "list of bool", lambda c: (c > 0).tolist(), truth
    yield "objects of bool", lambda c: (c > 0).astype(object), truth
    yield "bool beside int", lambda c: objects(*(bool(v) if i % 2 else int(v) for i, v in enumerate(c))), [0, 1]
    yield "int beside bool", lambda c: objects(*(int(v) if i % 2 else bool(v) for i, v in enumerate(c))), [0, 1]
    yield "float beside int", lambda c: objects(*(float(v) if i % 2 else int(v) for i, v in enumerate(c))), [0, 1]
    yield "pandas boolean", lambda c: pd.array(c > 0, dtype="boolean"), truth
    yield "polars bool", lambda c: pl.Series(c > 0), truth
    yield "arrow bool", lambda c: pa.array(c > 0), truth
    yield "list of int", lambda c: c.tolist(), [0, 1]
    yield "masked nowhere", lambda c: np.ma.masked_array(c), [0, 1]
    for kind in ("Int8", "UInt64", "Float64", "category"):
        yield f"pandas {kind}", (lambda c, kind=kind: pd.Series(c).astype(kind)), [0, 1]
    yield "pandas other index", lambda c: pd.Series(c, index=np.arange(len(c))[::-1]), [0, 1]
    yield "pandas sparse", lambda c: pd.Series(pd.arrays.SparseArray(c)), [0, 1]
    yield "polars Int128", lambda c: pl.Series(c).cast(pl.Int128), [0, 1]
    yield "arrow int", lambda c: pa.array(c), [0, 1]
    yield "arrow chunks", lambda c: pa.chunked_array([pa.array(c[:5]), pa.array(c[5:])]), [0, 1]
    names = lambda c: np.array(text)[c]  # noqa: E731
    yield "U", names, text
    yield "objects of text", lambda c: names(c).astype(object), text
    yield "numpy text", lambda c: names(c).astype(np.dtypes.StringDType()), text
    yield "tuple of text", lambda c: tuple(names(c).tolist()), text
    for kind in ("str", "string", "category", pd.ArrowDtype(pa.string())):
        yield f"pandas {kind}", (lambda c, kind=kind: pd.Series(names(c)).astype(kind)), text
    yield "pandas unused", lambda c: pd.Categorical(names(c), ["z", "yes", "no"], ordered=True), text
    yield "pandas index", lambda c: pd.Index(names(c)), text
    for kind in (pl.String, pl.Categorical, pl.Enum(["z", "yes", "no"])):
        yield f"polars {kind}", (lambda c, kind=kind: pl.Series(names(c).tolist(), dtype=kind)), text
    yield "arrow text", lambda c: pa.array(names(c).tolist(), pa.large_string()), text
    twice = pa.array(["no", "yes", "no", "yes"])
    yield (
        "arrow dictionary",
        lambda c: pa.DictionaryArray.from_arrays(pa.array(c + 2 * (np.arange(len(c)) % 2)), twice),
        text,
    )


LABELS = {name: (form, classes) for name, form, classes in label_forms()}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type_are_sorted_classes_and_codes(name):
    form, classes = LABELS[name]
    found, codes = decode_target("Classifier", form(CODES), ROWS)
    assert found.tolist() == classes
    assert [type(label) for label in found.tolist()] in ([type(c)] * 2 for c in (*classes, 0.0))
    np.testing.assert_array_equal(codes, CODES)
    np.testing.assert_array_equal(codes_among(found, form(CODES), ROWS), CODES)


@every_estimator
def test_the_type_of_the_labels_changes_no_model(make):
    plain = make().fit(X, CODES).predict_proba(X)
    for name, (form, classes) in LABELS.items():
        model = make().fit(X, form(CODES))
        np.testing.assert_array_equal(model.predict_proba(X), plain, err_msg=name)
        assert set(model.predict(X).tolist()) <= set(classes)


@every_estimator
def test_a_column_vector_of_labels_is_taken_with_a_warning(make):
    with pytest.warns(UserWarning, match="column-vector y"):
        model = make().fit(X, CODES[:, None])
    np.testing.assert_array_equal(model.predict_proba(X), make().fit(X, CODES).predict_proba(X))


@pytest.mark.parametrize("name", ["rules", "tree", "boosting"])
def test_labels_of_new_rows_are_compared_by_value(name):
    model = ESTIMATORS[name]().fit(X, CODES)
    expected = model.margins(X, CODES)
    for same in (CODES > 0, CODES.astype(float), pl.Series(CODES), CODES.astype(object)):
        np.testing.assert_array_equal(model.margins(X, same), expected)
    for other in (CODES.astype(str), CODES + 1, np.where(CODES, None, 0), CODES / 2, CODES[1:]):
        with pytest.raises(ValueError, match="y") as caught:
            model.margins(X, other)
        one_sentence(caught.value)


BAD_LABELS = {
    "masked": np.ma.masked_array(CODES, mask=np.arange(ROWS) == 3),
    "masked text": np.ma.masked_array(CODES.astype(str), mask=np.arange(ROWS) == 3),
    "missing numpy text": np.array([NAN, *CODES[1:].astype(str)], dtype=np.dtypes.StringDType(na_object=NAN)),
    "None in numpy text": np.array([None, *CODES[1:].astype(str)], dtype=np.dtypes.StringDType(na_object=None)),
    "NaN": np.where(np.arange(ROWS) == 3, NAN, CODES),
    "infinity": np.where(np.arange(ROWS) == 3, np.inf, CODES),
    "None": [None, *CODES[1:].tolist()],
    "NA": objects(pd.NA, *CODES[1:].tolist()),
    "NaN of NumPy": objects(np.float32("nan"), *CODES[1:].tolist()),
    "NaN among text": objects(NAN, *CODES[1:].astype(str)),
    "pandas NA": pd.array([None, *CODES[1:]], dtype="Int64"),
    "pandas category": pd.Categorical([None, *CODES[1:].astype(str)]),
    "polars null": pl.Series([None, *CODES[1:].tolist()]),
    "polars enum null": pl.Series([None, *CODES[1:].astype(str)], dtype=pl.Enum(["0", "1"])),
    "arrow null": pa.array([None, *CODES[1:].tolist()]),
    "number and text": objects("1", *CODES[1:].tolist()),
    "truth and text": objects("1", *(CODES[1:] > 0).tolist()),
    "bytes": CODES.astype("S1"),
    "list of bytes": [b"ab"[c : c + 1] for c in CODES],
    "bytes and text": objects(b"0", *CODES[1:].astype(str)),
    "continuous": X[:, 0] + 0.5,
    "continuous objects": (X[:, 0] + 0.5).astype(object),
    "infinite object": objects(float("inf"), *CODES[1:].tolist()),
    "complex": CODES + 1j,
    "objects of complex": (CODES + 1j).astype(object),
    "objects of NumPy complex": objects(*(np.complex128(c) for c in CODES)),
    "dates": CODES.astype("M8[D]"),
    "spans": CODES.astype("m8[D]"),
    "objects of dates": objects(*CODES.astype("M8[D]")),
    "objects of spans": objects(*CODES.astype("m8[D]")),
    "Python dates": [datetime.date(2020, 1, 1 + c) for c in CODES],
    "decimals": [Decimal(int(c)) for c in CODES],
    "periods": pd.Series(pd.PeriodIndex(["2020-01", "2020-02"], freq="M")[CODES]),
    "intervals": pd.cut(X[:, 0], 2),
    "integers beyond 64 bits": objects(*(2**64 + int(c) for c in CODES)),
    "integers beyond float64": objects(*(10**400 + int(c) for c in CODES)),
    "integers that floats join": objects(2**53 + 1, 2.0**53, *CODES[2:].tolist()),
    "structured": np.zeros(ROWS, dtype=[("a", "i4")]),
    "two columns": X[:, :2],
    "one row": CODES[None, :],
    "sparse": scipy.sparse.csr_matrix(CODES[:, None]),
    "a number": 3,
    "a text": "ab",
    "a mapping": {0: 1},
    "a set": {0, 1},
    "a generator": (c for c in CODES),
    "ragged": [[1], [2, 3]],
    "too few": CODES[1:],
    "one class": CODES * 0,
    "lists": [[c, c] for c in CODES],
    "polars lists": pl.Series([[int(c)] for c in CODES]),
}


@pytest.mark.parametrize("name", BAD_LABELS)
def test_what_is_no_label_is_refused_in_one_sentence(name):
    for make in ESTIMATORS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((ValueError, TypeError)) as caught:
                make().fit(X, BAD_LABELS[name])
        assert "y" in one_sentence(caught.value)


# -- weights --------------------------------------------------------------------------------------------------------------

WEIGHT = 1 + np.arange(ROWS) % 3
WEIGHTS = {
    "list": WEIGHT.tolist(),
    "int8": WEIGHT.astype("i1"),
    "uint64": WEIGHT.astype("u8"),
    "float16": WEIGHT.astype("f2"),
    "big-endian": WEIGHT.astype(">f8"),
    "long double": WEIGHT.astype(np.longdouble),
    "objects": WEIGHT.astype(object),
    "decimals": [Decimal(int(w)) for w in WEIGHT],
    "masked nowhere": np.ma.masked_array(WEIGHT),
    "strided": np.repeat(WEIGHT, 2)[::2],
    "pandas Int64": pd.Series(WEIGHT, dtype="Int64"),
    "pandas other index": pd.Series(WEIGHT, index=np.arange(ROWS)[::-1]),
    "polars": pl.Series(WEIGHT),
    "polars Int128": pl.Series(WEIGHT).cast(pl.Int128),
    "polars decimal": pl.Series(WEIGHT).cast(pl.Decimal(9, 2)),
    "arrow": pa.array(WEIGHT),
    "arrow chunks": pa.chunked_array([pa.array(WEIGHT)]),
}
BAD_WEIGHTS = {
    "text": WEIGHT.astype(str),
    "list of text": WEIGHT.astype(str).tolist(),
    "bytes": WEIGHT.astype("S1"),
    "negative": -WEIGHT,
    "NaN": np.where(WEIGHT == 1, NAN, WEIGHT),
    "infinity": np.where(WEIGHT == 1, np.inf, WEIGHT),
    "None": [None, *WEIGHT[1:]],
    "NA": pd.array([None, *WEIGHT[1:]], dtype="Int64"),
    "pandas NA truth": pd.array([None, *(WEIGHT[1:] > 1)], dtype="boolean"),
    "null": pl.Series([None, *WEIGHT[1:].tolist()]),
    "masked": np.ma.masked_array(WEIGHT, mask=WEIGHT == 1),
    "all zero": WEIGHT * 0,
    "too few": WEIGHT[1:],
    "a column": WEIGHT[:, None],
    "a row": WEIGHT[None, :],
    "a frame": pd.DataFrame({"w": WEIGHT}),
    "sparse": scipy.sparse.csr_matrix(WEIGHT[:, None]),
    "complex": WEIGHT + 1j,
    "objects of complex": objects(*(np.complex128(w) for w in WEIGHT)),
    "spans": WEIGHT.astype("m8[D]"),
    "objects of spans": objects(*WEIGHT.astype("m8[D]")),
    "dates": WEIGHT.astype("M8[D]"),
    "huge": objects(10**400, *WEIGHT[1:].tolist()),
    "too large a sum": np.full(ROWS, 1e308),
    "a text for all": "balanced",
    "a mapping": {0: 1},
    "a generator": (w for w in WEIGHT),
    "ragged": [[1], [2, 3]],
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_every_type_are_their_numbers(name):
    np.testing.assert_array_equal(row_weights(WEIGHTS[name], ROWS), WEIGHT)


def test_truth_values_as_weights_choose_rows():
    np.testing.assert_array_equal(row_weights(WEIGHT > 1, ROWS), WEIGHT > 1)


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_what_is_no_weight_is_refused_in_one_sentence(name):
    for make in ESTIMATORS.values():
        with pytest.raises((ValueError, TypeError)) as caught:
            make().fit(X, CODES, sample_weight=BAD_WEIGHTS[name])
        assert one_sentence(caught.value).startswith("`sample_weight` must be ")


@pytest.mark.parametrize("name", [*BAD_WEIGHTS, "a zero"])
def test_weights_of_validation_rows_are_checked_as_those_of_fit(name):
    weight = {**BAD_WEIGHTS, "a zero": WEIGHT - 1}[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        ESTIMATORS["rules"]().fit(X, CODES, validation=(X, CODES, weight))
    assert one_sentence(caught.value).startswith(("`sample_weight` must be ", "`validation` must be "))


CLASSES = {
    "int": [0, 1],
    "float": [0.0, 1.0],
    "truth": [False, True],
    "text": ["0", "1"],
    "words": ["False", "True"],
}


@pytest.mark.parametrize("named", CLASSES)
@pytest.mark.parametrize("labels", CLASSES)
def test_class_weights_are_named_by_equal_labels_or_refused(labels, named):
    classes, codes = decode_target("Classifier", np.array(CLASSES[labels])[CODES], ROWS)
    low, high = CLASSES[named]
    if [low, high] == CLASSES[labels]:  # Python's equality: 1, 1.0 and True are one name, "1" is another
        for mapping in ({low: 2, high: 3}, {high: 3, low: 2}, {np.array([low])[0]: 2.0, high: np.float32(3)}):
            np.testing.assert_array_equal(with_class_weight(None, mapping, classes, codes), 2 + CODES)
        np.testing.assert_array_equal(with_class_weight(None, {high: 3}, classes, codes), 1 + 2 * CODES)
    else:
        with pytest.raises(ValueError, match="`class_weight` must be a weight for labels of y") as caught:
            with_class_weight(None, {low: 2, high: 3}, classes, codes)
        one_sentence(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {5: 1.0},
        {0: 1, 1: 1, 2: 1},
        {None: 2},
        {NAN: 2},
        {b"1": 2},
        {(1,): 2},
        {0: -1},
        {0: NAN},
        {0: np.inf},
        {0: None},
        {0: "1"},
        {0: 1j},
        {0: [1, 2]},
        {0: 10**400},
        {0: 0, 1: 0},
        {0: 1e308, 1: 1e308},
        {0: 1e-320, 1: 1e-320},
        {0: np.timedelta64(1)},
        [1, 2],
        "Balanced",
        "balanced_subsample",
        3,
        True,
        pd.Series({0: 1, 1: 2}),
    ],
    ids=repr,
)
def test_what_is_no_class_weight_is_refused_in_one_sentence(given):
    for make in ESTIMATORS.values():
        with pytest.raises((ValueError, TypeError)) as caught:
            make(class_weight=given).fit(X, CODES)
        assert one_sentence(caught.value).startswith("`class_weight` must be ")
