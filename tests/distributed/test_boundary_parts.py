"""BoundaryClassifier on parts: the optimum of rows in memory, certified; the same to the last bit however the rows are split."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import permissible as pm
from permissible.distributed.data import store as store_module
from permissible.distributed.data.dataset import BinnedDataset
from permissible.estimators.files.save_load import text_of
from permissible.learners.boundary.parts import bands
from permissible.learners.boundary.parts import rows as rows_module

SETTINGS = [
    {"boundaries": "soft"},
    {"boundaries": "soft", "loss": "squared", "penalize_intercept": True},
    {"boundaries": (0.5,)},
    {"boundaries": (0.2, 0.8), "alpha": 1e-6},
    {"boundaries": (0.3, 0.5), "fit_intercept": False},
]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((700, 4)) * [1.0, 10.0, 0.1, 1.0]
    X[:, 3] = random.standard_t(2, 700)
    y = np.where(X @ [1.0, 0.1, 5.0, 0.3] + random.standard_normal(700) > 0, "yes", "no")
    return pd.DataFrame(X, columns=list("abcd")), y, random.random(700) + 0.1


def dataset(frame, y, weight=None, sizes=(700,)):
    whole = frame.assign(label=y) if weight is None else frame.assign(label=y, w=weight)
    pieces = [whole[a:b] for a, b in pairwise(np.cumsum([0, *sizes]))]
    return BinnedDataset.from_batches(pieces, target="label", weight=None if weight is None else "w", keep_values=True)


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_optimum_is_that_of_memory(data, settings):
    frame, y, weight = data
    found = pm.BoundaryClassifier(**settings).fit(dataset(frame, y, weight))
    wanted = pm.BoundaryClassifier(**settings).fit(frame, y, sample_weight=weight)
    assert found.certificate_.relative_gap <= 1e-6
    assert found.objective_ == pytest.approx(wanted.objective_, rel=2e-6)
    assert np.mean(found.predict(frame) != wanted.predict(frame)) < 0.01
    assert found.feature_names_in_.tolist() == list("abcd")


def test_the_soft_logistic_fit_is_logistic_regression(data):
    frame, y, _ = data
    found = pm.BoundaryClassifier(boundaries="soft", alpha=1e-2).fit(dataset(frame, y))
    wanted = LogisticRegression(C=1 / (700 * 1e-2), tol=1e-10, max_iter=1000).fit(frame, y)
    np.testing.assert_allclose(found.coef_, wanted.coef_, atol=1e-5)


@pytest.mark.filterwarnings("ignore::permissible.DoubtfulFitWarning")  # 30 sub-gradient steps end far from the optimum
@pytest.mark.parametrize("settings", [*SETTINGS, {"solver": "psgd", "max_iter": 30, "tol": 10.0}])
def test_neither_blocks_nor_chunks_show(monkeypatch, data, settings):
    frame, y, weight = data
    texts = set()
    for block_rows, sizes in ((64, (1, 300, 0, 399)), (250, (700,)), (5000, (350, 350))):
        monkeypatch.setattr(store_module, "BLOCK_ROWS", block_rows)
        texts.add(text_of(pm.BoundaryClassifier(**settings).fit(dataset(frame, y, weight, sizes))))
    assert len(texts) == 1


@pytest.fixture
def few_gathered(monkeypatch):
    """Samples of 300 rows and levels of 1,500: most rows of these tests are summed where they lie."""
    monkeypatch.setattr(bands, "SAMPLE_CELLS", 1)
    monkeypatch.setattr(bands, "LEAST_SAMPLE", 300)
    asked = []
    for kind in (bands.Reduce, rows_module.Evaluate):
        monkeypatch.setattr(kind, "merge", counting(kind.merge, asked, kind.__name__))
    return asked


def counting(merge, asked, name):
    def counted(self, answers):
        asked.append(name)
        return merge(self, answers)

    return counted


@pytest.mark.parametrize("settings", [case for case in SETTINGS if case["boundaries"] != "soft"])
def test_summed_rows_lead_to_the_certified_optimum_in_few_passes(monkeypatch, few_gathered, settings):
    random = np.random.default_rng(5)
    X = random.standard_normal((4000, 4)) * [1.0, 10.0, 0.1, 1.0]
    y, weight = (X @ [1.0, 0.1, 5.0, 0.3] + random.standard_normal(4000) > 0).astype(int), random.random(4000) + 0.1
    frame = pd.DataFrame(X, columns=list("abcd"))
    wanted = pm.BoundaryClassifier(**settings).fit(frame, y, sample_weight=weight)
    texts = set()
    for block_rows, sizes in ((4000, (4000,)), (300, (1, 1999, 0, 2000))):
        monkeypatch.setattr(store_module, "BLOCK_ROWS", block_rows)
        few_gathered.clear()
        found = pm.BoundaryClassifier(**settings).fit(dataset(frame, y, weight, sizes))
        if block_rows == 4000:
            assert set(few_gathered) == {"Reduce"}
            assert len(few_gathered) <= 8  # a level, and at most two bands too narrow
        assert found.certificate_.relative_gap <= 1e-6
        assert found.certificate_.dual_objective <= wanted.objective_ * (1 + 1e-9)  # a lower bound on any classifier
        assert found.objective_ == pytest.approx(wanted.objective_, rel=2e-6)
        texts.add(text_of(found))
    assert len(texts) == 1


@pytest.mark.parametrize("cells", [bands.BAND_CELLS, 100])
def test_rows_that_all_lie_at_kinks_are_gathered_or_solved_by_smoothing(monkeypatch, few_gathered, cells):
    monkeypatch.setattr(bands, "BAND_CELLS", cells)
    random = np.random.default_rng(6)
    frame = pd.DataFrame({"a": random.integers(0, 2, 3000).astype(float)})
    y = (random.random(3000) < 0.3 + 0.4 * frame["a"]).astype(int)
    wanted = pm.BoundaryClassifier(alpha=1e-3).fit(frame, y)
    found = pm.BoundaryClassifier(alpha=1e-3).fit(dataset(frame, y, sizes=(1000, 2000)))
    assert ("Evaluate" in few_gathered) == (cells == 100)
    assert found.certificate_.relative_gap <= 1e-6
    assert found.objective_ == pytest.approx(wanted.objective_, rel=2e-6)


def test_a_table_that_fits_is_fitted_as_in_memory(data):
    frame, y, weight = data
    for settings in SETTINGS:
        found = pm.BoundaryClassifier(**settings).fit(dataset(frame, y, weight, (100, 600)))
        wanted = pm.BoundaryClassifier(**settings).fit(frame, y, sample_weight=weight)
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.intercept_ == wanted.intercept_


def test_sub_gradients_on_parts_do_as_well_as_in_memory(data):
    frame, y, _ = data
    scaled = (frame - frame.mean()) / frame.std()
    settings = {"solver": "psgd", "alpha": 0.1, "max_iter": 200, "tol": 0.02}
    found = pm.BoundaryClassifier(**settings).fit(dataset(scaled, y))
    assert found.certificate_.relative_gap <= 0.02
    assert found.objective_ <= 1.02 * pm.BoundaryClassifier(alpha=0.1).fit(scaled, y).objective_


def test_a_saved_model_predicts_alike(data, tmp_path):
    frame, y, _ = data
    model = pm.BoundaryClassifier(boundaries=(0.2, 0.8), tol=1e-3).fit(dataset(frame, y))
    pm.save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(pm.load(tmp_path / "model.json").predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kernel": "rbf"}, "`kernel` must be None on data in parts"),
        ({"solver": "dcd"}, "`solver` must be auto, newton or psgd"),
        ({"warm_start": True}, "`warm_start` must be False"),
    ],
)
def test_what_parts_cannot_do_is_refused(data, settings, said):
    frame, y, _ = data
    with pytest.raises(ValueError, match=said):
        pm.BoundaryClassifier(**settings).fit(dataset(frame, y))


def test_data_that_do_not_fit_are_refused(data):
    frame, y, _ = data
    with pytest.raises(ValueError, match="make the data set with keep_values=True"):
        pm.BoundaryClassifier().fit(BinnedDataset.from_batches([frame.assign(label=y)], target="label"))
    with pytest.raises(ValueError, match="columns of numbers for a linear classifier"):
        pm.BoundaryClassifier().fit(dataset(frame.assign(colour="red"), y))
    with pytest.raises(ValueError, match="NaN or infinity in column 'b'"):
        pm.BoundaryClassifier().fit(dataset(frame.assign(b=np.nan), y))
    with pytest.raises(ValueError, match="labels of two classes"):
        pm.BoundaryClassifier().fit(dataset(frame, np.arange(700) % 3))


@pytest.mark.parametrize("loss", ["logistic", "squared", "matsushita"])
def test_a_free_intercept_without_rows_near_a_kink_is_found(loss):
    random = np.random.default_rng(88)
    frame = pd.DataFrame(random.standard_normal((150, 3)).round(1), columns=list("abc"))
    y = np.isin(np.arange(150), random.choice(150, 3, replace=False)).astype(int)
    found = pm.BoundaryClassifier(loss=loss, alpha=1e-2).fit(dataset(frame, y, sizes=(50, 100)))
    wanted = pm.BoundaryClassifier(loss=loss, alpha=1e-2).fit(frame, y)
    assert found.certificate_.relative_gap <= 1e-6
    assert found.objective_ == pytest.approx(wanted.objective_, rel=2e-6)


@pytest.mark.parametrize(
    ("options", "remedy"), [({"max_iter": 2}, "raise max_iter or tol"), ({}, "raise tol, or alpha")]
)
def test_a_gap_above_the_tolerance_names_a_remedy_that_helps(data, few_gathered, options, remedy):
    frame, y, _ = data
    with pytest.warns(pm.DoubtfulFitWarning, match=remedy):
        pm.BoundaryClassifier(alpha=1e-2, tol=1e-15, **options).fit(dataset(frame, y))
