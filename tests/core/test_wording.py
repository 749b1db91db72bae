"""Numbers are formatted as people read them."""

from __future__ import annotations

from calib_core.wording import (
    bad_rows_phrase,
    both_or_all,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_short,
    format_signed,
    join_names,
    p_value_phrase,
    plural,
    too_few_phrase,
)


def test_numbers_in_words() -> None:
    assert (format_number(None), format_number(float("inf")), format_number(0.12345)) == ("–", "∞", "0.1235")
    assert format_number(-0.0123) == "−0.0123"
    assert (format_percent(None), format_percent(0.5)) == ("–", "50.0 %")
    assert (format_signed(-0.5, "+.3f"), format_signed(None)) == ("−0.500", "–")
    assert (format_interval(-1, 2, ".1f"), format_interval(None, 2)) == ("−1.0 to 2.0", "–")
    assert format_interval(0.1, 0.2, ".1f", 100) == "10.0 to 20.0"
    assert format_interval(0.5, float("inf")) == "0.5000 to ∞"
    assert (plural(1, "run"), plural(1200, "row")) == ("1 run", "1,200 rows")
    assert (both_or_all(2), both_or_all(1200)) == ("both", "all 1,200")


def test_names_stand_in_one_list() -> None:
    assert [join_names(list("ABC")[:n]) for n in (1, 2, 3)] == ["A", "A and B", "A, B and C"]


def test_what_is_too_few_agrees_with_its_number() -> None:
    assert too_few_phrase(1, "row") == "1 row is too few for a verdict"
    assert too_few_phrase(29, "answer") == "29 answers are too few for a verdict"


def test_percent() -> None:
    assert [format_percent(share) for share in (0, 0.7119, 1)] == ["0.0 %", "71.2 %", "100.0 %"]


def test_short() -> None:
    numbers = [format_short(value) for value in (0, 1.2e-16, -1.2e-16, 2.41e-7, 0.0009, 0.0312, -0.01)]
    assert numbers == ["0.0000", "0.0000", "0.0000", "2.41e-07", "0.0009", "0.0312", "−0.0100"]


def test_bad_rows_agree_with_their_number() -> None:
    assert bad_rows_phrase(1, 60) == "1 of 60 rows is bad"
    assert bad_rows_phrase(1, 1) == "1 of 1 row is bad"
    assert bad_rows_phrase(1300, 2600) == "1,300 of 2,600 rows are bad"


def test_the_smallest_p_that_draws_can_give_is_a_bound() -> None:
    assert [format_p_value(p, 199) for p in (None, 1 / 200, 2 / 200, 1.0)] == [
        "–",
        "≤ 0.005",
        "0.010",
        "1.000",
    ]
    assert [format_p_value(p, 9999) for p in (1e-4, 2e-4)] == ["≤ 0.0001", "0.0002"]
    assert format_p_value(1 / 20, 19) == "≤ 0.050"
    assert format_p_value(1 / 200, None) == "0.005"
    assert [p_value_phrase(p, 199) for p in (None, 1 / 200, 0.36)] == ["", "p ≤ 0.005", "p = 0.360"]
