"""After normalisation, equal answers are equal and different ones differ."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.methods.answers.normalise import (
    ANSWER_KINDS,
    AnswerKind,
    AnswerNormaliser,
    choice_label,
    encode_texts,
    normaliser_of_kind,
)
from calib_core.runs import RunInfo
from core import confidence_oracle as oracle
from core.confidence_runs import ANSWERS, CHOICES, Row, run_of

SAME_NUMBER = [
    (
        "1234",
        [
            "1234",
            "$1,234",
            "1234.0",
            " 1234 ",
            "1,234.",
            "€ 1,234.00",
            "1234 €.",
            "+1234",
            "1.234e3",
            "01234",
        ],
    ),
    ("0.75", ["3/4", "6/8", " 3 / 4. ", "+3/4", ".75", "$0.75"]),
    ("0.75", ["\\frac{3}{4}", "\\dfrac34", "$\\tfrac{6}{8}$"]),
    ("-1.5", ["-3/2", "-1 1/2", "−1\\frac{1}{2}", "-\\frac{3}{2}", "\\frac{-3}{2}"]),
    ("1/3", ["1/3", "2/6", "0 1/3", "\\frac{2}{6}."]),
    ("12345678901234567890123456.789", ["12345678901234567890123456789/1000"]),
    ("20", ["20%", "20 %", "20.0%", "20 percent", "20 Per cent.", "20\\%", "$20\\%$", "40/2"]),
    ("1234", ["1{,}234", "1,\\!234", "\\$1234", "\\(1234\\)"]),
    ("-5", ["-5", "-$5", "$-5", "−5", "-5.0", "- $5"]),
    ("0", ["0", "-0", "0.000", "-.0", "00"]),
    ("0.5", [".5", "0.50", "0.5.", "5e-1"]),
    ("1000", ["1e3", "1E+3", "1,000", "1000."]),
    ("1234567890123456789.1", ["1,234,567,890,123,456,789.10"]),
    ("0.12345678901234567890123", ["0.12345678901234567890123"]),
]
NO_NUMBER = [
    "",
    ".",
    "-",
    "$",
    "1,23",
    "1234,567",
    "1,234,56",
    "0,123",
    "00,123",
    "\\frac123",
    "\\frac{1}{2}5",
    ",234",
    "1/0",
    "1 3/2",
    "1 2/2",
    "1/2/3",
    "1/2.5",
    "%",
    "20%%",
    "5 percentage",
    "18 apples",
    "1 234",
    "1e3.5",
    "1e999",
    "--5",
    "-$-5",
    "1.2.3",
    "x",
    "nan",
    "inf",
    "٣",
    "The answer is 18",
]


def normalise_answer(text: str, kind: AnswerKind, choices: Sequence[str] = ()) -> str | None:
    """Normal form of one answer, None where it does not parse."""
    forms = normaliser_of_kind(kind, choices).answer_forms(pl.Series([0], dtype=pl.UInt32), pl.Series([text]))
    (form,) = forms
    return form


@pytest.mark.parametrize(("form", "text"), [(form, text) for form, texts in SAME_NUMBER for text in texts])
def test_a_number_is_written_in_one_way(form: str, text: str) -> None:
    assert normalise_answer(text, "number") == form


@pytest.mark.parametrize("text", NO_NUMBER)
def test_what_is_not_a_number_does_not_parse(text: str) -> None:
    assert normalise_answer(text, "number") is None


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("paris", "Paris."),
        ("paris", "PARIS "),
        ("paris", "\n paris .\t"),
        ("new york", "New\u00a0 York"),
        ("u.s", "U.S."),
        ("3/4", "3/4"),
        ("wait..", "wait..."),
        (None, "."),
        (None, " \n"),
    ],
)
def test_a_text_keeps_its_words_alone(form: str | None, text: str) -> None:
    assert normalise_answer(text, "text") == form


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("B", "(B)"),
        ("B", "b"),
        ("B", "B."),
        ("B", " [b]: "),
        ("B", "**B**"),
        ("B", "**(b).**"),
        ("B", "`B`."),
        ("B", "__B)__"),
        ("B", "1"),
        ("A", "0."),
        (None, "AB"),
        (None, "I think B"),
        (None, ""),
        (None, "é"),
        ("Z", "z"),
        ("26", "26"),
    ],
)
def test_a_choice_is_its_letter(form: str | None, text: str) -> None:
    assert normalise_answer(text, "choice") == form


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("C", "Paris."),
        ("D", "3"),
        ("A", "0"),
        ("B", "b"),
        ("B", "1"),
        (None, "E"),
        (None, "7"),
        (None, "Lyon"),
    ],
)
def test_the_text_of_a_choice_comes_before_its_letter_and_index(form: str | None, text: str) -> None:
    assert normalise_answer(text, "choice", ["Rome", "Oslo", "paris", "3"]) == form


def test_of_equal_choices_the_first_is_meant() -> None:
    assert normalise_answer("same", "choice", ["x", "Same.", "same"]) == "B"


def test_a_choice_beyond_z_is_called_by_its_index() -> None:
    assert choice_label(pl.Series([0, 25, 26, None])).to_list() == ["A", "Z", "26", None]
    assert normalise_answer("last", "choice", [*(f"c{at}" for at in range(30)), "last"]) == "30"


PIECES = st.sampled_from(
    ["", "+", "-", "−", "$", "€", " ", "/", "%", " percent", *"015.,eEx", "12", "123", "000"]
)
NUMBER_LIKE = st.lists(PIECES, max_size=8).map("".join)


@given(st.lists(NUMBER_LIKE, min_size=2, max_size=6))
def test_two_numbers_have_one_form_just_when_they_are_equal(texts: list[str]) -> None:
    forms = [normalise_answer(text, "number") for text in texts]
    exact = [oracle.number(text) for text in texts]
    assert [form is None for form in forms] == [value is None for value in exact]
    assert [Fraction(form) for form in forms if form is not None] == [
        value for value in exact if value is not None
    ]
    for one, value in zip(forms, exact, strict=True):
        assert one == next(form for form, other in zip(forms, exact, strict=True) if other == value)


@pytest.mark.parametrize("kind", ["number", "choice"])
@given(data=st.data())
def test_a_normal_form_is_its_own(kind: AnswerKind, data: st.DataObject) -> None:
    form = normalise_answer(data.draw(st.one_of(ANSWERS[kind].map(str), NUMBER_LIKE)), kind)
    assert form is None or normalise_answer(form, kind) == form


@given(st.lists(st.sampled_from([" ", ".", "A", "b", "\n", "é", "Σ", "1"]), max_size=8).map("".join))
def test_a_text_is_compared_by_its_words(text: str) -> None:
    assert normalise_answer(text, "text") == oracle.normalised_text(text)


@given(
    st.lists(
        st.sampled_from(
            [(kind, text) for kind in ANSWER_KINDS for text in (" (b) ", "1.0", "A Bridge", "z", "")]
        )
    )
)
def test_many_answers_at_once_are_each_as_alone(asked: list[tuple[AnswerKind, str]]) -> None:
    rows: list[Row] = [{"answer_kind": kind, "choices": list(CHOICES)} for kind, _ in asked]
    run = run_of(rows or [{}])
    at = pl.Series(range(len(asked)), dtype=pl.UInt32)
    forms = AnswerNormaliser.for_run(run).answer_forms(
        at, pl.Series([text for _, text in asked], dtype=pl.String)
    )
    assert forms.to_list() == [normalise_answer(text, kind, CHOICES) for kind, text in asked]


def kinds(*rows: Row, info: RunInfo | None = None) -> list[str]:
    return AnswerNormaliser.for_run(run_of(rows, info)).kind.to_list()


def test_the_kind_of_answer_is_the_one_the_file_names() -> None:
    assert (
        kinds({"answer_kind": "text", "gold": "1"}, {"answer_kind": "boolean", "gold": "true"})
        == ["text"] * 2
    )
    assert kinds({"answer_kind": "number", "gold": "x"}, {"gold": "B", "answer_kind": "choice"}) == [
        "number",
        "choice",
    ]
    assert kinds({"answer_kind": "text", "gold": "x"}, info=RunInfo(answer_normaliser="choice")) == ["choice"]
    assert kinds({"answer_kind": "text"}, info=RunInfo(answer_normaliser="somebody's")) == ["text"]


def test_the_kind_of_answer_is_choice_where_there_are_choices() -> None:
    assert kinds({"choices": ["a", "b"], "gold": "1"}) == ["choice"]
    assert (
        kinds({"gold_index": 1}, {"gold": "B", "gold_index": 1}, {"gold": "1", "gold_index": 1})
        == ["choice"] * 3
    )
    assert kinds({"gold": "Rome", "gold_index": 1}) == ["text"]
    assert kinds({"choices": ["a"], "gold": "a"}, {"gold": "12"}) == ["choice", "number"]


def test_the_kind_of_answer_is_number_where_every_gold_is_one() -> None:
    assert kinds({"gold": "1"}, {"gold": "$2,000"}, {"gold": None}) == ["number"] * 3
    assert kinds({"gold": "3/4"}, {"gold": "20%"}, {"gold": "so it is 5\n#### 5"}) == ["number"] * 3
    assert kinds({"gold": "1"}, {"gold": "two"}) == ["text"] * 2
    assert kinds({"gold_all": ["1", "1.5"]}) == ["number"]
    assert kinds({"samples": ["1"]}) == ["text"]


def test_the_kind_of_answer_is_choice_where_golds_and_answers_are_letters() -> None:
    letters: list[Row] = [
        {"gold": gold, "prediction": said} for gold, said in (("A", "(A)"), ("B", "**C**"), ("b", "B)"))
    ]
    assert kinds(*letters) == ["choice"] * 3
    assert kinds(*letters, {"gold": "C", "prediction": "no idea"}) == ["choice"] * 4
    assert kinds(*letters, {"gold": "Rome", "prediction": "A"}) == ["text"] * 4
    assert kinds(*letters, {"gold": "A", "prediction": "1"}) == ["choice"] * 4
    words: list[Row] = [{"gold": "A", "samples": ["Rome", "Oslo"]}]
    assert kinds(*words * 10, {"gold": "B", "samples": ["A"]}) == ["text"] * 11
    assert kinds(*words * 9, {"gold": "B", "samples": ["A"]}) == ["choice"] * 10
    assert kinds({"gold": "A", "samples": ["The answer is (B)."]}) == ["choice"]
    assert kinds({"gold": "A"}) == ["text"]


@pytest.mark.parametrize(
    ("form", "output"),
    [
        ("B", "B. Rome"),
        ("B", "(b) because it is so"),
        ("B", "**B)** Rome"),
        ("B", "So the answer is B) Rome, as E. coli is no plant."),
        (None, "B) or C) would do"),
        (None, "(B) and (C)"),
        (None, "A. B"),
        (None, "Rome, B. say some"),
        (None, "1"),
        (None, "A man"),
    ],
)
def test_an_output_that_begins_with_a_letter_names_that_choice(form: str | None, output: str) -> None:
    run = run_of([{"gold": "B", "prediction": "A"}, {"gold": "A", "prediction": output}])
    normaliser = AnswerNormaliser.for_run(run)
    assert normaliser.kind.to_list() == ["choice", "choice"]
    assert normaliser.output_forms(pl.Series([1], dtype=pl.UInt32), pl.Series([output])).item() == form


def test_a_letter_beyond_the_listed_choices_names_none() -> None:
    run = run_of([{"gold": "B", "choices": ["x", "y"], "prediction": "C. z"}])
    forms = AnswerNormaliser.for_run(run).output_forms(pl.Series([0], dtype=pl.UInt32), pl.Series(["C. z"]))
    assert forms.item() is None


TEXTS = st.lists(st.none() | st.text(max_size=20) | st.sampled_from(["a", "b", "a longer text of words"]))


@given(TEXTS)
def test_a_number_stands_for_its_text(texts: list[str | None]) -> None:
    numbers, distinct = encode_texts(pl.Series("text", texts, dtype=pl.String))
    assert [distinct[int(number)] for number in numbers] == texts
    assert distinct.n_unique() == distinct.len() == len(set(texts))


LETTERED = ["B", "A", "blood group", "none"]


def choices_named(column: str, answers: list[str]) -> list[str | None]:
    """The last answer, and gold, among choices of which two are letters; the others have plain choices."""
    choices = [["red", "green", "blue", "grey"]] * (len(answers) - 1) + [LETTERED]
    rows: list[Row] = [
        {"choices": of_row, "samples": [answer], "gold": answer}
        if column == "samples"
        else {"choices": of_row, "prediction": answer, "gold": answer}
        for of_row, answer in zip(choices, answers, strict=True)
    ]
    normaliser = AnswerNormaliser.for_run(run_of(rows))
    last, text = pl.Series([len(answers) - 1], dtype=pl.UInt32), pl.Series([answers[-1]])
    return [one.output_forms(last, text).item() for one in (normaliser, normaliser.of_golds())]


@pytest.mark.parametrize("column", ["samples", "prediction"])
@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["B", "(c)"], "A"),  # letters in the other rows
        (["The answer is B.", "red", "The answer is (D)."], "A"),  # at markers, and more often than texts
        (["red", "green"], "B"),  # texts in the other rows
        (["B", "red"], "B"),  # as many of both
        (["F", "Z", "red"], "B"),  # letters that name no choice
        ([], "B"),
    ],
)
def test_a_letter_that_is_another_choices_text_is_read_as_in_the_other_rows(
    others: list[str], expected: str, column: str
) -> None:
    assert choices_named(column, [*others, "A"]) == [expected, expected]
    assert choices_named(column, [*others, "blood group"]) == ["C", "C"]


def test_golds_may_be_texts_where_the_answers_are_letters() -> None:
    rows: list[Row] = [{"choices": ["red", "green"], "samples": ["A"], "gold": "red"} for _ in range(3)]
    rows.append({"choices": ["B", "A"], "samples": ["A"], "gold": "A"})
    normaliser = AnswerNormaliser.for_run(run_of(rows))
    last, letter = pl.Series([3], dtype=pl.UInt32), pl.Series(["A"])
    assert normaliser.answer_forms(last, letter).item() == "A"
    assert normaliser.of_golds().answer_forms(last, letter).item() == "B"


def test_a_choice_whose_text_is_its_own_letter_or_no_letter_of_the_row_is_named_by_its_text() -> None:
    rows: list[Row] = [{"choices": ["red", "green"], "prediction": "A"} for _ in range(3)]
    rows += [{"choices": ["A", "other"], "prediction": "A"}, {"choices": ["X", "Y"], "prediction": "Y"}]
    forms = AnswerNormaliser.for_run(run_of(rows)).answer_forms(
        pl.Series([3, 4], dtype=pl.UInt32), pl.Series(["A", "Y"])
    )
    assert forms.to_list() == ["A", "B"]
