"""The answer's letter is found, and the probabilities of its spellings are added up."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from calib_core.readers.choice_letters import (
    SymbolMasses,
    TokenPosition,
    choice_fields,
    choice_letters,
    find_answer_tokens,
    find_answers,
    invalid_top_logprobs,
    letter_of_token,
    mass_above_one,
    parse_positions,
    path_logprobs,
    symbol_among,
    symbol_masses,
    truth_of_token,
)
from calib_core.readers.json_values import BadValueError

ABC = ("A", "B", "C")


@pytest.mark.parametrize(
    ("token", "letter"),
    [
        ("A", "A"),
        (" B", "B"),
        ("\u2581C", "C"),
        ("\u0120D", "D"),
        ("(A)", "A"),
        ("B.", "B"),
        ("C:\n", "C"),
        ("b", None),
        ("AB", None),
        ("", None),
        ("\u00c4", None),
        ("1", None),
    ],
)
def test_a_token_that_is_a_letter(token: str, letter: str | None) -> None:
    assert letter_of_token(token) == letter


def test_the_two_words() -> None:
    assert (truth_of_token(" True"), truth_of_token("false."), truth_of_token("maybe")) == (
        "true",
        "false",
        None,
    )


def test_choices_beyond_the_alphabet_are_numbered() -> None:
    assert choice_letters(3) == ABC
    assert choice_letters(28)[25:] == ("Z", "1", "2")
    assert find_answers("ANSWER: 2", symbol_among(choice_letters(28))) == [(8, "2")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ANSWER: B", ["B"]),
        ("The answer is C.", ["C"]),
        ("Answer: (A)", ["A"]),
        ("answer: **B**", ["B"]),
        ("B", ["B"]),
        ("b", ["B"]),
        ("(B) Oslo", ["B"]),
        ("B. Oslo", ["B"]),
        ("B\nas it is cold", ["B"]),
        ("B, as it is cold", ["B"]),
        ("A, B or C", []),
        ("I'm not sure", []),
        ("Option B.", ["B"]),
        ("ANSWER: A\nNo: ANSWER: C", ["A", "C"]),
        ("A cat", []),
        ("The answer is a cat", [None]),
        ("D", []),
        ("ANSWER: Bern", [None]),
        ("Before", []),
        ("", []),
        ("answer: b", ["B"]),
        ("Answer B", ["B"]),
        ('{"answer": "B", "why": "it is cold"}', ["B"]),
        ('{"final_answer": "C"}', ["C"]),
        ("The answer is \\boxed{B}.", ["B"]),
        ("The answer is: option C", ["C"]),
        ("ANSWER: B. The other options are wrong, which the answer shows.", ["B"]),
        ("The best option is B.", ["B"]),
        ("Option B is better than option A.", []),
        ("The answer_index is 1", []),
        ("It was answered by C", []),
    ],
)
def test_where_a_text_names_its_answer(text: str, found: list[str | None]) -> None:
    places = find_answers(text, symbol_among(ABC))
    assert [letter for _, letter in places] == found
    assert all(letter in (None, text[at].upper()) for at, letter in places)


def test_a_word_that_is_a_letter_ends_the_sentence() -> None:
    assert find_answers("Answer: I think so", letter_of_token) == [(8, None)]
    assert find_answers("Answer: I.", letter_of_token) == [(8, "I")]


@pytest.mark.parametrize(
    ("tokens", "at"),
    [
        (["B"], 0),
        (["\n", " B", "."], 1),
        (["ANSWER", ":", " B"], 2),
        (["The", " answer", " is", " (", "C", ")."], 4),
        (["Answer", ":", " A", " no", ",", " answer", ":", " D"], 7),
        (["B", ".", " the", " cat"], 0),
        (['{"', "answer", '":', ' "', "B", '"}'], 4),
        (["\u2581The", "\u2581answer", "\u2581is", "\u2581C"], 3),
        (["A", " cat", " sat"], None),
        (["I", " think", " so"], None),
        (["Answer", ":", " Because"], None),
        (["ANSWER: B"], None),
        (["ANSWER:", " B."], 1),
        (["A", " guess", ".\n", "ANSWER", ":", " ", "B"], 6),
        (["Hm"], None),
        ([], None),
    ],
)
def test_where_the_letter_was_generated(tokens: list[str], at: int | None) -> None:
    found = find_answer_tokens([TokenPosition(token, -0.1) for token in tokens], letter_of_token)
    assert next((place for place, letter in reversed(found) if letter), None) == at


def token_position(top: Mapping[str, object], token: str = "", logprob: object = None) -> TokenPosition:
    return TokenPosition(token or next(iter(top)), logprob, tuple(top.items()))


def choice_logprobs(position: TokenPosition, letters: tuple[str, ...] = ABC) -> object:
    return choice_fields(symbol_masses(position, symbol_among(letters)), letters).get("choice_logprobs")


def test_spellings_are_added_up_and_the_rest_is_the_other_mass() -> None:
    top = {"A": math.log(0.5), " A": math.log(0.1), "(B)": math.log(0.2), "The": math.log(0.05)}
    found = symbol_masses(token_position(top), symbol_among(ABC))
    assert (found.probability_of("A"), found.probability_of("B"), found.probability_of("C")) == (
        pytest.approx(0.6),
        pytest.approx(0.2),
        None,
    )
    assert found.has_merged_spellings
    fields = choice_fields(found, ABC)
    assert fields["choice_logprobs"] == [pytest.approx(math.log(0.6)), math.log(0.2), None]
    assert fields["choice_other_mass"] == pytest.approx(0.05)
    assert fields["choice_logprob_floor"] == math.log(0.05)


def test_the_generated_token_counts_where_the_list_leaves_it_out_but_bounds_nothing() -> None:
    found = symbol_masses(
        token_position({"A": math.log(0.6), "B": math.log(0.2)}, "C", math.log(0.05)), letter_of_token
    )
    assert [found.probability_of(letter) for letter in ABC] == pytest.approx([0.6, 0.2, 0.05])
    assert found.floor == math.log(0.2)
    assert found.listed_mass == pytest.approx(0.85)
    assert choice_logprobs(token_position({"A": -0.5}, "A", -0.5)) == [-0.5, None, None]


def test_small_letters_count_only_where_no_large_one_is_listed() -> None:
    assert choice_logprobs(token_position({"b": -0.1, "a": -3.0})) == [-3.0, -0.1, None]
    assert choice_logprobs(token_position({"B": -0.1, "a": -3.0})) == [None, -0.1, None]


def test_letters_beyond_the_choices_are_other_mass() -> None:
    position = token_position({"A": math.log(0.6), "E": math.log(0.2), "B": math.log(0.1)})
    fields = choice_fields(symbol_masses(position, letter_of_token), ABC)
    assert fields["choice_logprobs"] == [math.log(0.6), math.log(0.1), None]
    assert fields["choice_other_mass"] == pytest.approx(0.2)
    assert choice_fields(symbol_masses(token_position({"The": -0.5}), letter_of_token), ABC) == {}


def test_a_letter_without_remaining_mass_has_probability_zero() -> None:
    assert choice_logprobs(token_position({"A": math.log(0.75), "B": math.log(0.25)})) == [
        math.log(0.75),
        math.log(0.25),
        -math.inf,
    ]


@pytest.mark.parametrize("value", [-9999, -9999.0, "-9999.0", -1000.0])
def test_the_number_for_not_listed_is_none(value: object) -> None:
    assert choice_logprobs(token_position({"A": -0.1, "B": value})) == [-0.1, None, None]
    assert path_logprobs([TokenPosition("A", -0.1), TokenPosition("B", value)]) == [-0.1, None]


@pytest.mark.parametrize("value", [-math.inf, "-inf"])
def test_minus_infinity_is_probability_zero(value: object) -> None:
    position = token_position({"A": -0.1, "B": value})
    assert choice_logprobs(position) == [-0.1, -math.inf, None]
    assert symbol_masses(position, letter_of_token).floor == -0.1


def test_rounding_above_certainty_is_certainty() -> None:
    assert choice_logprobs(token_position({"A": math.log(0.6), " A": math.log(0.4000001)})) == [
        0.0,
        -math.inf,
        -math.inf,
    ]


def test_an_entry_that_is_listed_twice_counts_once() -> None:
    top = (("A", math.log(0.4)), ("A", math.log(0.4)), ("B", math.log(0.3)))
    assert choice_logprobs(TokenPosition("A", None, top)) == [math.log(0.4), math.log(0.3), None]


@pytest.mark.parametrize("value", ["x", 0.5, True, "nan", math.inf])
@pytest.mark.parametrize("token", [" A", "The"])
def test_what_is_not_a_log_probability_is_handed_on(token: str, value: object) -> None:
    position = token_position({"A": -0.1, token: value})
    assert choice_logprobs(position) == [value, None, None]
    assert invalid_top_logprobs([TokenPosition("A", -0.1), position]) == (value,)
    assert path_logprobs(
        [TokenPosition("A", -0.1), TokenPosition("B", value), TokenPosition("C", -9999.0)]
    ) == [-0.1, value, -9999.0]


def test_a_list_summing_above_one_is_bad() -> None:
    broken = mass_above_one(
        symbol_masses(token_position({"A": math.log(0.9), "B": math.log(0.2)}), letter_of_token), "top"
    )
    assert broken is not None
    assert (broken.column, broken.found) == ("top", "1.1")
    assert mass_above_one(SymbolMasses({}, 1.0009, None, has_merged_spellings=False), "top") is None


@pytest.mark.parametrize("content", [None, [], [{}], [None], [{"token": None, "top_logprobs": [None, {}]}]])
def test_what_is_missing_is_no_token(content: object) -> None:
    positions = parse_positions(content, "content")
    assert all(each.token == "" for each in positions)
    assert path_logprobs(positions) is None


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (3, "content"),
        ({}, "content"),
        ([3], "content.0"),
        ([{}, {"token": 3}], "content.1.token"),
        ([{"token": "A", "top_logprobs": {}}], "content.0.top_logprobs"),
        ([{"token": "A", "top_logprobs": [{"token": "A"}, 3]}], "content.0.top_logprobs.1"),
        ([{"token": "A", "top_logprobs": [{"token": True}]}], "content.0.top_logprobs.0.token"),
    ],
)
def test_what_is_no_token_is_named_by_its_path(content: object, path: str) -> None:
    with pytest.raises(BadValueError) as raised:
        parse_positions(content, "content")
    assert raised.value.broken.column == path
