"""Documents: the same data is the same text, numbers come back bit for bit, and anything odd is refused in one sentence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissible.models.files.json_node import Node
from permissible.models.files.strict_json import MAX_DEPTH, _object, dump, number, parse

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(data=plain)
def test_what_is_written_is_read_back(data):
    again = parse(dump(data))
    assert again == data
    assert dump(again) == dump(data)


@given(value=st.floats())
def test_every_double_comes_back_bit_for_bit(value):
    again = Node(parse(dump(number(value))), "x").number()
    assert (
        math.isnan(again)
        if math.isnan(value)
        else again == value and math.copysign(1, again) == math.copysign(1, value)
    )


def test_lone_surrogates_survive():
    assert parse(dump({"\ud800": "\udfff"}).encode()) == {"\ud800": "\udfff"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1', "cut off"),
        ("", "cut off"),
        ('{"a": NaN}', "says NaN"),
        ('{"a": 1, "a": 2}', "says 'a' twice"),
        ("[" * 100000, "nested more than"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "nested more than"),
        (b"\xff\xfe", "not UTF-8"),
        ("{'a': 1}", "not valid JSON"),
        ("9" * 5000, "it"),
    ],
)
def test_odd_text_is_refused_in_one_sentence(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse(text)


@pytest.mark.parametrize(
    ("value", "ask", "sentence"),
    [
        ("x", lambda n: n.number(), "`place` must be a number, got 'x'."),
        (True, lambda n: n.number(), "`place` must be a number, got True."),
        (10**400, lambda n: n.number(), "`place` must be a number that a double can hold"),
        ("inf", lambda n: n.number(finite=True), "`place` must be a finite number"),
        (1.5, lambda n: n.integer(), "`place` must be an integer, got 1.5."),
        (7, lambda n: n.integer(0, 5), "`place` must be an integer from 0 to 4, got 7."),
        ({"b": 1}, lambda n: n.fields("a"), "`place` must be an object with 'a', got one without it"),
        ({"a": 1, "b": 1}, lambda n: n.fields("a"), "unknown field 'b'"),
        ([1, [2]], lambda n: n.matrix(), r"`place\[0\]` must be a list"),
        ([[1], [2, 3]], lambda n: n.matrix(), "lists of several lengths"),
        ([2**70], lambda n: n.integers(), "at most 64 bits"),
        ("d", lambda n: n.one_of(("a", "b")), "`place` must be one of 'a', 'b', got 'd'."),
    ],
)
def test_a_refusal_names_the_place(value, ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(Node(value, "place"))


class CountedKey(str):
    """A key that counts how often keys are compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedKey.compared += 1
        return str.__eq__(self, other)


def test_a_repeated_key_is_found_with_a_few_comparisons_a_key():
    """Wherever it stands: a hostile file must not cost the square of its length."""
    pairs = [(CountedKey(f"k{i}"), 1) for i in range(5000)] + [(CountedKey("last"), 1), (CountedKey("last"), 2)]
    CountedKey.compared = 0
    with pytest.raises(ValueError, match=r"it says 'last' twice in one object"):
        _object(pairs)
    assert CountedKey.compared < 10 * len(pairs)
