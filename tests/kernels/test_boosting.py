"""Every boosting kernel does what its NumPy twin does."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.bins.literal import Literal
from permissible.kernels._core import boosting as kernels
from permissible.kernels.reference import boosting as reference
from permissible.losses.surrogate import compiled
from permissible.models.card.scorecard import holds
from permissible.models.kinds.rules import RuleModel
from permissible.table import read

BUILT_IN = ["logistic", "matsushita", "mu", "squared", "power", "logcosh", "exponential", "least_squares"]


@dataclass
class Member:
    """A literal that covers any set of codes."""

    column: int
    members: np.ndarray

    def membership(self):
        return self.members.astype(bool)


def random_rows(seed, n_rows, n_columns, kind="spread"):
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_rows, (n_columns + 7) // 8 * 8), dtype=np.uint8)
    if kind == "constant":
        codes[:, :n_columns] = 7
    elif kind == "missing":
        codes[:, :n_columns] = 255
    else:
        codes[:, :n_columns] = rng.integers(0, 256, (n_rows, n_columns))
    blocks = np.ascontiguousarray(codes.reshape(n_rows, (n_columns + 7) // 8, 8).transpose(1, 0, 2))
    return rng, codes[:, :n_columns], blocks


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 2, 63, 500, 9000]),
    st.integers(1, 17),
    st.sampled_from(["spread", "constant", "missing"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_histograms_are_sums_by_code(seed, n_rows, n_columns, kind, two_sums, masked, repeated):
    rng, codes, blocks = random_rows(seed, n_rows, n_columns, kind)
    signed = (rng.random(n_rows) * np.where(rng.random(n_rows) < 0.5, 1, -1)).astype(np.float32)
    curved = (rng.random(n_rows) / 4).astype(np.float32) if two_sums else None
    mask = (rng.random(n_rows) < 0.3).astype(np.uint8) if masked else None
    copies = rng.integers(1, 5, n_rows).astype(np.float32) if repeated else None
    units = float(n_rows if copies is None else copies.sum())
    grids = kernels.histogram_grids(1.0, 0.25, units, two_sums)
    found = kernels.histogram(blocks, n_columns, signed, curved, copies, mask, *grids)
    values = [(signed, grids[0])] + ([(curved, grids[1])] if two_sums else [])
    expected = reference.histogram(codes, values, None if mask is None else mask.astype(bool), copies)
    assert np.array_equal(found, expected)
    assert np.array_equal(reference.codes_of(blocks, n_columns), codes)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 500, 9000]),
    st.sampled_from([0.1, 1.0, 30.0]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_sampled_histograms_are_those_of_the_twin(seed, n_rows, threshold, two_sums, masked, repeated):
    rng, codes, blocks = random_rows(seed, n_rows, 9)
    signed = (rng.random(n_rows) ** 4 * np.where(rng.random(n_rows) < 0.5, 1, -1)).astype(np.float32)
    curved = (rng.random(n_rows) / 4).astype(np.float32)
    hashes = rng.integers(0, 2**32, n_rows, dtype=np.uint32)
    mask = (rng.random(n_rows) < 0.3).astype(np.uint8) if masked else None
    copies = rng.integers(1, 5, n_rows).astype(np.float32) if repeated else None
    units = float(n_rows if copies is None else copies.sum())
    grids = kernels.histogram_grids(max(1.0, threshold), max(0.25, 3.25 * threshold), units, two_sums)
    given_curvature = curved if two_sums else None
    about = (signed, given_curvature, copies, mask, *grids, threshold, seed, hashes)
    found = kernels.histogram(blocks, 9, *about)
    g, h, unit = reference.sampled(signed, curved if two_sums else 0 * curved, hashes, threshold, seed)
    values = [(g, grids[0] * unit)] + ([(h, grids[1] * unit)] if two_sums else [])
    expected = reference.histogram(codes, values, None if mask is None else mask.astype(bool), copies)
    assert np.array_equal(found, expected)
    assert np.array_equal(found, kernels.histogram(blocks, 9, *about, n_threads=2))


@pytest.mark.parametrize(
    ("n_rows", "weights", "n_threads"),
    [
        (0, "", 1),
        (1, "", 1),
        (500, "real", 1),
        (9000, "", 1),
        (20_001, "real", 2),
        (20_001, "whole", 1),
        (90_000, "", 2),
    ],
)
def test_rows_that_a_search_has_drawn_serve_its_later_questions_until_the_weights_change(n_rows, weights, n_threads):
    rng, _, blocks = random_rows(0, n_rows, 5)
    positive, hashes = rng.integers(0, 2, n_rows, dtype=np.uint8), rng.integers(0, 2**32, n_rows, dtype=np.uint32)
    weight = {"": None, "real": rng.random(n_rows) + 0.5, "whole": rng.integers(1, 40, n_rows).astype(float)}[weights]
    whole, about = weights == "whole", {"n_threads": n_threads, "hashes": hashes}
    kept, drawn_anew = (
        kernels.Rows(blocks, 5, positive, weight, whole, keeps=keeps, **about) for keeps in (True, False)
    )
    rule, grids = [Member(2, np.arange(256) < 100)], (2.0**20, 2.0**20, 2.0**20, 2.0**20)
    both, request = [(), rule, [*rule, Member(4, np.arange(256) > 60)]], (2.0**15, 2.0**15, 1.1, 3)
    changes = [
        lambda rows: rows.reset((0.1, [], []), grids),
        lambda rows: rows.apply(rule, 0.3, -0.2, grids),
        lambda rows: rows.apply((), 0.1, 0.1, grids),
    ]
    for change in changes:
        change(kept), change(drawn_anew)
        for rules in (both, both[1:], both[:1]):
            for asked in (request, (*request[:3], 4), (2.0**14, *request[1:]), request, (*request[:2], 0.0, 0)):
                found, expected = kept.histograms(rules, asked), drawn_anew.histograms(rules, asked)
                np.testing.assert_array_equal(found, expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 1, 33, 400]), st.integers(1, 12), st.integers(0, 4))
def test_masks_are_set_membership(seed, n_rows, n_columns, n_literals):
    rng, codes, blocks = random_rows(seed, n_rows, n_columns)
    columns = rng.integers(0, n_columns, n_literals).astype(np.int32)
    members = np.zeros((n_literals, 256), dtype=np.uint8)
    for row in members:
        kind, at = rng.integers(4), rng.integers(256)
        if kind == 0:
            row[:at] = 1
        elif kind == 1:
            row[at:] = 1
        elif kind == 2:
            row[: at // 2] = row[255] = 1
        else:
            row[:] = rng.random(256) < 0.5
    found = kernels.rule_mask(blocks, n_columns, [*map(Member, columns.tolist(), members)])
    assert np.array_equal(found.astype(bool), reference.rule_mask(codes, columns, members))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_compiled_loss_is_its_python_definition(name):
    loss = losses.get(name)
    kernel = compiled(loss)
    limit = min(loss.score_limit, 30.0)
    margin = np.concatenate((np.linspace(-0.999 * limit, 0.999 * limit, 400), [0.0]))
    if np.isfinite(loss.score_limit):
        margin = np.concatenate((margin, [-2 * limit, 2 * limit]))
    value, weight, curvature, slope = kernel.function().at(np.ascontiguousarray(margin / kernel.scale)).T
    unit = float(loss.value(0.0)) / float(kernel.function().at(np.zeros(1))[0, 0])
    np.testing.assert_allclose(unit * value, loss.value(margin), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(weight, loss.weight(margin), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(curvature / kernel.scale, loss.curvature(margin), rtol=1e-8, atol=1e-14)
    if kernel.function().remainder >= 0:
        step = 1e-5
        ahead, behind = (
            kernel.function().at(np.ascontiguousarray(margin / kernel.scale + s))[:, 2] for s in (step, -step)
        )
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["logistic", "matsushita", "squared", "exponential"])
def test_measured_sums_are_those_of_the_formula(name):
    rng, codes, blocks = random_rows(3, 1003, 5)
    positive = rng.random(1003) < 0.4
    kernel = compiled(losses.get(name))
    function = kernel.function()
    score = 0.4 * rng.normal(size=1003)
    margin = np.where(positive, score, -score)
    state = np.array([function.state_of(value) for value in margin])
    rows = kernels.Rows(blocks, 5, positive.view(np.uint8), loss=name, state=state)
    grids = (2.0**44, 2.0**44, 2.0**40, 1.0)
    trials = [(0.3, -0.2), (0.35, -0.25), (0.4, -0.3), (0.0, 1.0)]  # three together, and one
    sums = rows.measure([Member(2, np.arange(256) < 90)], trials, grids)
    found = (sums[..., 0] * 2.0**32 + sums[..., 1]) / 2.0**44
    at = [lambda x, k=k: function.at(np.ascontiguousarray(x))[:, k] for k in (1, 2, 3)]
    for own, trial in zip(found, trials, strict=True):
        inside, outside = reference.measure(margin, positive, codes[:, 2] < 90, *trial, *at)
        np.testing.assert_allclose(own, np.concatenate((inside, outside)), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("two_values", [False, True])
def test_without_curvature_the_cut_of_the_largest_edge_is_found(two_values):
    sums = np.zeros((2, 1 + two_values, 256), dtype=np.int64)
    sums[0, 0, :4], sums[1, 0, :4] = [5, -4, -3, 2], [30, -20, -20, 10]
    layout = np.array([[0, 4, 0], [0, 4, 0]], dtype=np.int32)
    total = 0 if two_values else 1
    unit = 1.0 if two_values else 0.0
    criterion = kernels.Criterion(two_values, 0.0, 1.0, unit, 0, total)
    found = kernels.best_literals(layout, sums, criterion, False, [])
    gains = [candidate.decrease for candidate in found]
    expected = [reference.best_cut(column, 4, 0.0, (1.0, unit), two_values) for column in sums]
    assert gains == [gain for gain, _ in expected]
    assert all(np.isfinite(gains))
    assert gains[1] > gains[0]
    assert [candidate.code for candidate in found] == [code for _, code in expected] == [0, 0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 255), st.booleans())
def test_the_best_cut_is_the_best_of_all(seed, n_bins, two_values):
    rng = np.random.default_rng(seed)
    sums = np.zeros((1, 2 if two_values else 1, 256), dtype=np.int64)
    sums[0, 0, :n_bins] = rng.integers(-1000, 1000, n_bins)
    if two_values:
        sums[0, 1, :n_bins] = rng.integers(1, 1000, n_bins)
    units = (2.0**-10, 2.0**-12 if two_values else 3.0)
    total = int(sums[0, 1].sum()) if two_values else 1
    layout = np.array([[0, n_bins, 0]], dtype=np.int32)
    criterion = kernels.Criterion(two_values, 0.5, *units, int(sums[0, 0].sum()), total)
    found = kernels.best_literals(layout, sums, criterion, False, [])
    gain, code = reference.best_cut(sums[0], n_bins, 0.5, units, two_values)
    assert found[0].decrease == pytest.approx(gain, rel=1e-12)
    assert found[0].code == code


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 255), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_with_noise_the_best_cut_has_the_largest_drawn_gain(seed, n_bins, round_seed, key):
    rng = np.random.default_rng(seed)
    sums = np.zeros((1, 2, 256), dtype=np.int64)
    sums[0, 0, :n_bins], sums[0, 1, :n_bins] = rng.integers(-1000, 1000, n_bins), rng.integers(1, 1000, n_bins)
    units, noise = np.array([2.0**-7, 2.0**-10]), 0.3
    total = sums[0].sum(axis=1)
    criterion = kernels.Criterion(True, 0.5, *units, *total.tolist(), noise=noise, seed=round_seed)
    layout = np.array([[0, n_bins, 0, *np.array([key], dtype=np.uint64).view(np.int32)]], dtype=np.int32)
    found = kernels.best_literals(layout, sums, criterion, False, [])[0]
    inside = sums[0, :, : n_bins - 1].cumsum(axis=1).T * units
    gains = np.array([reference.decrease(*pair, *(total * units), 0.5, True) for pair in inside])
    draws = np.array([reference.draw(round_seed, key, code) for code in range(n_bins - 1)])
    scores = np.sqrt(2 * gains / noise) + draws
    np.testing.assert_allclose(criterion.draws(layout, 0, np.arange(n_bins - 1, dtype=np.uint64)), draws, atol=1e-12)
    assert found.score == pytest.approx(scores.max(), abs=1e-9)
    assert found.decrease == pytest.approx(gains[int(scores.argmax())], rel=1e-12)


def test_draws_are_standard_and_differ_by_round_column_and_path():
    criterion = kernels.Criterion(True, 0.0, 1.0, 1.0, 0, 1, noise=1.0, seed=5)
    layout = np.array([[0, 255, 0, 1, 0], [0, 255, 0, 2, 0]], dtype=np.int32)
    numbers, members = np.arange(40_000, dtype=np.uint64), np.arange(256) < 9
    first = criterion.draws(layout, 0, numbers)
    assert abs(first.mean()) < 0.02
    assert first.std() == pytest.approx(1.0, abs=0.02)
    assert np.abs(first).max() <= np.sqrt(12.0)
    next_round = kernels.Criterion(True, 0.0, 1.0, 1.0, 0, 1, noise=1.0, seed=6)
    deeper = criterion.after(layout, [Member(0, members)])
    others = criterion.draws(layout, 1, numbers), next_round.draws(layout, 0, numbers), deeper.draws(layout, 0, numbers)
    assert max(abs(np.corrcoef(first, other)[0, 1]) for other in others) < 0.03


def test_patterns_and_their_system():
    rng, codes, blocks = random_rows(5, 700, 6)
    positive = rng.random(700) < 0.5
    copies = rng.integers(1, 4, 700).astype(float)
    rows = kernels.Rows(blocks, 6, positive.view(np.uint8), copies, True)
    rules = [(np.array([j], dtype=np.int32), (np.arange(256) < 60 * j).astype(np.uint8)[None, :]) for j in (1, 2, 3)]
    masks = np.column_stack([reference.rule_mask(codes, *rule) for rule in rules])
    for count in (1, 3):  # the second call continues the first
        bits, weight = rows.patterns([[Member(int(rule[0][0]), rule[1][0])] for rule in rules[:count]])
        expected = reference.patterns(masks[:, :count], positive, copies.astype(np.int64))
        assert np.array_equal(bits, expected[0])
        assert np.array_equal(weight, expected[1])
    first, second = rng.normal(size=len(bits)), rng.random(len(bits))
    for name, derivatives in (("pattern_gradient", first), ("pattern_hessian", second)):
        found, expected = (getattr(module, name)(bits, derivatives) for module in (kernels, reference))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 7, 8, 9, 40]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([1, 127, 300]),
)
def test_scores_are_those_of_the_rules_bit_for_bit(seed, n_rounds, dtype, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    table = read(X)
    made = []
    for _ in range(n_rounds):
        chosen = rng.choice(4, size=rng.integers(1, 4), replace=False)
        made.append(
            tuple(
                Literal(int(c), rng.choice(["<=", ">"]), float(rng.normal()), (0,), bool(rng.random() < 0.5))
                if rng.random() < 0.8
                else Literal(int(c), "missing", missing=True)
                for c in chosen
            )
        )
    coefficients = rng.normal(size=n_rounds)
    model = RuleModel(table.schema, None, 0.3, tuple(made), coefficients)
    masks = np.array([holds(rule, model, table) for rule in made])
    assert model.scores(table).tobytes() == reference.score_rules(masks, coefficients, 0.3).tobytes()


def test_wrong_shapes_are_refused():
    _, _, blocks = random_rows(0, 10, 3)
    with pytest.raises(ValueError, match="blocks"):
        kernels.Rows(blocks, 30, np.zeros(10, dtype=np.uint8))
    with pytest.raises(ValueError, match="one entry per row"):
        kernels.Rows(blocks, 3, np.zeros(9, dtype=np.uint8))
    rows = kernels.Rows(blocks, 3, np.zeros(10, dtype=np.uint8))
    with pytest.raises(ValueError, match="out of range"):
        rows.histograms([[Member(3, np.zeros(256))]], (1.0, 1.0, 1.0, 0))
    with pytest.raises(ValueError, match="256 codes"):
        rows.histograms([[Member(0, np.zeros(255))]], (1.0, 1.0, 1.0, 0))
