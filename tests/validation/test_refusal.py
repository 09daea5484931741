"""Every error has one form: argument, expected, got, remedy."""

from permissible.validation import Words, refusal, refusal_type, shown


def test_a_refusal_names_argument_expectation_value_and_remedy():
    error = refusal("alpha", "a positive number", -1.0, "use a small value such as 1e-3")
    assert str(error) == "`alpha` must be a positive number, got -1.0; use a small value such as 1e-3."


def test_a_type_refusal_names_the_type_that_came():
    assert str(refusal_type("loss", "a name or a loss", 3)) == "`loss` must be a name or a loss, got int 3."


def test_what_came_may_be_said_in_words():
    assert "got a 1-D array of 10 values." in str(refusal("X", "2-D", Words("a 1-D array of 10 values")))


def test_long_values_are_shortened_to_one_line():
    assert len(shown(list(range(1000)))) <= 60
    assert "\n" not in shown("a\nb")
