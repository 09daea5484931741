"""ULS on blocks gives the model of ULS in memory, bit for bit, whatever the chunks and blocks."""

import numpy as np
import pytest

import permissible as pm
from permissible import losses
from permissible.distributed.data import store as store_module
from permissible.distributed.data.dataset import BinnedDataset
from permissible.estimators.uls import ULSClassifier
from permissible.models.kinds.one_versus_rest import members
from tests.distributed.rows_in_parts import InParts, make, question_of


def same_model(one: ULSClassifier, other: ULSClassifier) -> None:
    assert one.classes_.tolist() == other.classes_.tolist()
    for a, b in zip(members(one.model_), members(other.model_), strict=True):
        assert repr(a.rules) == repr(b.rules)  # by text: a literal without a threshold holds a NaN
        assert a.coefficients.tobytes() == b.coefficients.tobytes()
        assert a.intercept == b.intercept


@pytest.mark.parametrize("block_rows", [64, 250, 5000])
@pytest.mark.parametrize(
    "settings",
    [
        {"n_rounds": 8},
        {"n_rounds": 8, "max_literals": 3, "early_stopping": False, "search_fraction": 0.5},
        {"n_rounds": 6, "loss": "matsushita", "max_literals": 2, "fit_intercept": False, "early_stopping": False},
        {"n_rounds": 6, "max_literals": 2, "scheme": "corrective", "l2_regularization": 3.0, "beam": 20},
        {"n_rounds": 6, "max_literals": 2, "scheme": 3, "early_stopping": False},
        {
            "n_rounds": 6,
            "loss": "logcosh",
            "scheme": "corrective",
            "l2_regularization": 0.0,
            "early_stopping": False,
            "max_literals": 1,
        },
        {
            "n_rounds": 6,
            "loss": "exponential",
            "scheme": 2,
            "l2_regularization": 0.0,
            "early_stopping": False,
            "max_literals": 1,
        },
    ],
)
def test_blocks_give_the_model_of_memory(monkeypatch, block_rows, settings):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr("permissible.estimators.parameters.uls.UNSEEN", 1.0)  # a sampled search of few rows, for speed
    frame, y = make(900)
    whole = frame.assign(label=y)
    dataset = BinnedDataset.from_batches([whole[:333], whole[333:340], whole[340:]], target="label")
    settings = {"random_state": 0, **settings}
    parts, memory = ULSClassifier(**settings).fit(dataset), ULSClassifier(**settings).fit(frame, y)
    same_model(parts, memory)
    assert parts.certificate_.surrogate == memory.certificate_.surrogate
    assert parts.certificate_.largest_edge == memory.certificate_.largest_edge
    assert parts.certificate_.gradient_norm == memory.certificate_.gradient_norm


@pytest.mark.parametrize("large", [False, True])
def test_rows_that_come_again_are_known_in_blocks_too(monkeypatch, large):
    if large:
        monkeypatch.setattr("permissible.rows.splits.RANGE_ROWS", 500)
        monkeypatch.setattr("permissible.rows.splits.PROBED", 200)
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 256)
    frame, _ = make()
    frame = (frame[["colour", "truth"]]).assign(other=frame["count"] > 4)
    y = ((frame["colour"] == "red") ^ frame["truth"] ^ (np.random.default_rng(1).random(len(frame)) < 0.1)).astype(int)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    parts, whole = ULSClassifier(n_rounds=8).fit(dataset), ULSClassifier(n_rounds=8).fit(frame, y)
    assert parts.selection_["validation_share"] == whole.selection_["validation_share"] == 0.0
    same_model(parts, whole)


PHI = losses.from_phi(lambda p: np.sqrt(p * (1 - p)), name="own phi")
PSI = losses.from_psi(lambda x: np.logaddexp(0, -2 * x) / 2, lambda x: -1 / (1 + np.exp(2 * x)), name="own psi")


@pytest.mark.parametrize("loss", ["logistic", PHI, PSI], ids=lambda loss: getattr(loss, "name", loss))
@pytest.mark.parametrize("scheme", ["classic", "corrective"])
def test_real_weights_and_a_user_loss_give_the_model_of_memory(monkeypatch, loss, scheme):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 100)
    frame, y = make(250)
    weight = np.random.default_rng(1).random(250)
    dataset = BinnedDataset.from_batches([frame.assign(label=y, w=weight)], target="label", weight="w")
    settings = {"random_state": 0, "n_rounds": 3, "max_literals": 2, "loss": loss, "scheme": scheme}
    settings |= {"early_stopping": loss == "logistic"}  # a phi alone is inverted numerically: one fit is enough
    same_model(ULSClassifier(**settings).fit(dataset), ULSClassifier(**settings).fit(frame, y, sample_weight=weight))


def test_more_classes_give_the_model_of_memory(monkeypatch):
    monkeypatch.setattr(store_module, "BLOCK_ROWS", 128)
    frame, y = make(700, classes=3)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    settings = {"random_state": 0, "n_rounds": 4, "max_literals": 2}
    same_model(ULSClassifier(**settings).fit(dataset), ULSClassifier(**settings).fit(frame, y))


def test_a_target_beside_the_data_set_is_refused():
    frame, y = make(50)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    with pytest.raises(ValueError, match="`y` must be None, since the data set holds its target"):
        pm.ULSClassifier().fit(dataset, y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "auto"}, "`loss` must be one loss on data in parts"),
        ({"loss": "F*"}, "`loss` must be one loss on data in parts"),
        ({"learner": "column"}, '`learner` must be "rule" or "tree" for data in parts'),
        ({"warm_start": True}, "`warm_start` must be False on data in parts"),
    ],
)
def test_what_parts_cannot_do_is_refused_in_one_sentence(settings, said):
    frame, y = make(60)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    with pytest.raises(ValueError, match=said):
        ULSClassifier(**settings).fit(dataset)
    with pytest.raises(ValueError, match="`validation` must be None on data in parts"):
        ULSClassifier().fit(dataset, validation=(frame, y))


@pytest.mark.parametrize(
    ("settings", "most"), [({"max_literals": 2}, 5), ({"max_literals": 3, "beam": 3}, 6), ({"max_literals": 1}, 4)]
)
def test_where_messages_cost_a_round_takes_few_and_the_model_is_the_same(settings, most):
    frame, y = make(900)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    settings = {"n_rounds": 10, "early_stopping": False, "random_state": 0, **settings}
    source = InParts(dataset, [1, 500, 0, 399], remote=True)
    asked = source.transport.asked
    same_model(ULSClassifier(**settings).fit(source), ULSClassifier(**settings).fit(frame, y))
    once = {"TotalsOf", "Reset", "close"}
    # Beside the rounds: the constant, and what is left to gain.
    assert len([question for question in asked if question not in once]) <= most * 10 + 4


@pytest.mark.parametrize("stopping", [False, True])
def test_where_messages_cost_the_classes_of_a_fit_share_them(stopping):
    frame, y = make(900, 4)
    dataset = BinnedDataset.from_batches([frame.assign(label=y)], target="label")
    settings = {"n_rounds": 6, "max_literals": 2, "early_stopping": stopping, "random_state": 0}
    sent = []
    for classes in (2, 4):
        target = np.minimum(y, classes - 1)
        dataset = BinnedDataset.from_batches([frame.assign(label=target)], target="label")
        source = InParts(dataset, [1, 500, 0, 399], remote=True)
        asked = source.transport.asked
        same_model(ULSClassifier(**settings).fit(source), ULSClassifier(**settings).fit(frame, target))
        sent.append(len([method for method in asked if method != "close"]))
        assert (asked.count("batch") > 0) == (classes == 4 or stopping)  # held-out rows are moved with the others
    assert sent[1] < 1.6 * sent[0]  # rounds and line searches of classes differ a little, and the longest counts


def test_a_class_that_fails_ends_the_fit_with_its_own_error():
    frame, y = make(300, 3)
    source = InParts(BinnedDataset.from_batches([frame.assign(label=y)], target="label"), [100, 200], remote=True)
    transport, send, sent = source.transport, source.transport.send, [0]

    def failing(request):
        sent[0] += question_of(request) == "batch"
        if sent[0] == 12 and question_of(request) == "batch":
            raise OSError("the cable is out")
        return send(request)

    transport.send = failing
    with pytest.raises(OSError, match="the cable is out"):
        ULSClassifier(n_rounds=5, random_state=0).fit(source)
    assert not transport.holder.sessions
