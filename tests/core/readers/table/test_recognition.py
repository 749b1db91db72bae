"""Columns of unknown names are recognised by their values and the words of their names, in any order."""

from __future__ import annotations

import polars as pl
import pytest
from calib_core.readers.table.recognition import name_words, suggest_columns, suggested_mappings
from hypothesis import given
from hypothesis import strategies as st

from calib_core.readers.format import BY_VALUES, HINTED, NAMED, ONLY_IF_CHOSEN
from core.readers.conftest import ReadText

LETTERS = "ABCD"


def texts(*values: object) -> pl.Series:
    """A column as a CSV gives it."""
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


SHARES = texts(*(f"0.{number:02}" for number in range(10, 90)))
PERCENTAGES = texts(*(f"{number}.5" for number in range(10, 90)))
YES_NO = texts(*("yes" if number % 3 else "no" for number in range(80)))
GOLD = texts(*(LETTERS[number * 7 % 4] for number in range(80)))
SAID = texts(*(LETTERS[(number * 7 + (number % 5 == 0)) % 4] for number in range(80)))
IDS = texts(*(f"q{number}" for number in range(80)))


def found(**columns: pl.Series) -> dict[str, tuple[str, int]]:
    """Column → the name that is suggested for it and its rank."""
    return {
        column: (name, suggestion.rank)
        for suggestion in reversed(suggest_columns(columns))
        for column, name in suggestion.names.items()
    }


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("Conf (%)", PERCENTAGES, ("confidence/100", NAMED)),
        ("How sure", SHARES, ("confidence", NAMED)),
        ("Sicherheit", texts("12%", "80 %", "55%"), ("confidence/100", NAMED)),
        ("score", SHARES, ("confidence", HINTED)),
        ("column 7", SHARES, ("confidence", BY_VALUES)),
        ("lp_answer", texts(-0.25, -3, -0.5), ("confidence:log", NAMED)),
        ("Is it correct?", YES_NO, ("correct", NAMED)),
        ("Is it correct?", texts(*YES_NO, "maybe", "see note", None), ("correct", NAMED)),
        ("Richtig", texts("ja", "nein", "Ja"), ("correct:Ja|ja", NAMED)),
        ("remark", texts("right", "wrong", "right"), ("correct", NAMED)),
        ("remark", texts("pass", "fail", "pass"), ("correct:pass", NAMED)),
        ("flag", texts(1, 0, 1), ("correct", BY_VALUES)),
        ("is_wrong", texts(1, 0, 1), ("correct:0", HINTED)),
        ("made an error", texts("yes", "no", None), ("correct:no", HINTED)),
        ("correct", texts(1, 1, 1), ("correct", NAMED)),
        ("hit", texts("correct", "unparseable", "incorrect"), ("correct", NAMED)),
        ("Question number", IDS, ("id", NAMED)),
        ("whatever", IDS, ("id", BY_VALUES)),
        ("Question number", texts(*[1, 2, 3] * 4), ("trial_of", NAMED)),
        ("Fach", texts(*["Bio", "Mathe"] * 5), ("subject", NAMED)),
    ],
)
def test_what_a_column_is_taken_for(name: str, values: pl.Series, expected: tuple[str, int]) -> None:
    assert found(**{name: values})[name] == expected


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("stars", texts(*[1, 2, 3, 4, 5] * 4)),
        ("temperature", texts(*["0.7", "0.2", "0.5"] * 4)),
        ("latency", texts(*["0.7", "0.2", "0.5"] * 4)),
        ("F1 score", texts(*["0.7", "0.2", "0.5"] * 4)),
        ("p_false", texts(*["0.7", "0.2", "0.5"] * 4)),
        ("logit", texts(*[-0.5, -3, -1] * 4)),
        ("lp_answer", texts(*[-0.5, 3, -1] * 4)),
        ("conf", texts(*["0.5", "high"] * 9)),
        ("conf", texts(*["0.5", "-0.5"] * 9)),
        ("conf", texts(*["50", "500"] * 9)),
        ("colour", texts(*["red", "blue"] * 9)),
        ("user id", texts(*["u1", "u2"] * 9)),
        ("Question number", texts(*range(20), 7)),
        ("chat", texts(*["yes", "no"] * 9)),
        ("flag", texts(*["yes", "no", "maybe"] * 9)),
        ("flag", texts(*YES_NO, "maybe")),
        ("Is it correct?", texts(*["yes", "no"] * 9, "maybe")),
        ("Verdict", texts(*["pass", "fail"] * 40, "maybe")),
        ("flag", texts(*["yes"] * 9)),
        ("empty", texts(None, None)),
        ("Right answer", texts(None, None)),
    ],
)
def test_what_is_not_guessed(name: str, values: pl.Series) -> None:
    assert name not in found(**{name: values})


def test_a_rating_is_never_taken_for_a_confidence_unasked() -> None:
    columns = {"rating": texts(*[1, 2, 3, 4, 5] * 4), "right": texts(*[1, 0, 1, 1, 0] * 4)}
    assert found(**columns)["rating"] == ("confidence/5", ONLY_IF_CHOSEN)
    assert suggested_mappings(suggest_columns(columns)) == []


def test_row_numbers_are_no_percentages() -> None:
    assert found(zeile=texts(*range(1, 101))) == {"zeile": ("id", BY_VALUES)}


def test_an_answer_and_the_right_one_are_a_pair() -> None:
    (pair,) = (one for one in suggest_columns({"Model said": SAID, "Right answer": GOLD}))
    assert dict(pair.names) == {"Model said": "prediction", "Right answer": "gold"}
    assert (pair.rank, pair.reason) == (NAMED, "its name and the same answer in 80 % of the first rows")


def test_columns_that_agree_no_more_than_by_chance_are_no_pair() -> None:
    shuffled = texts(*(GOLD[(number * 27 + 5) % 80] for number in range(80)))
    assert not suggest_columns({"left": GOLD, "other": shuffled})
    assert not suggest_columns({"left": GOLD, "other": GOLD})  # one column twice
    either_way = suggest_columns({"left": GOLD, "other": SAID})
    assert [dict(one.names) for one in either_way] == [
        {"left": "prediction", "other": "gold"},
        {"other": "prediction", "left": "gold"},
    ]
    assert {one.rank for one in either_way} == {BY_VALUES}


def test_the_right_answers_to_yes_no_questions_are_no_outcome() -> None:
    said = texts(*("no" if number % 4 == 0 else "yes" for number in range(80)))
    (first, *_) = suggest_columns({"Right answer": YES_NO, "Model said": said})
    assert dict(first.names) == {"Model said": "prediction", "Right answer": "gold"}


def test_of_two_equally_likely_columns_neither_is_preferred() -> None:
    columns = {"certainty": SHARES, "likelihood": SHARES, "right": YES_NO, "remark": SHARES}
    assert suggested_mappings(suggest_columns(columns)) == [
        {"certainty": "confidence", "right": "correct"},
        {"likelihood": "confidence", "right": "correct"},
    ]


def test_a_column_of_the_known_name_comes_before_others() -> None:
    columns = {"confidence": SHARES, "certainty": SHARES, "right": YES_NO}
    assert suggested_mappings(suggest_columns(columns)) == [{"right": "correct"}]


def test_without_a_confidence_or_an_outcome_nothing_follows() -> None:
    assert suggested_mappings(suggest_columns({"conf": SHARES, "id": IDS})) == []
    assert suggested_mappings(suggest_columns({"right": YES_NO, "id": IDS})) == []


def test_supporting_columns_are_added_where_they_are_free() -> None:
    suggestions = suggest_columns({"sure": SHARES, "right": YES_NO})
    supporting = {"llm": "model", "sure": "dataset", "other": "correct"}
    assert suggested_mappings(suggestions, supporting) == [
        {"sure": "confidence", "right": "correct", "llm": "model"}
    ]


ALL = {
    "Conf (%)": PERCENTAGES,
    "sure": SHARES,
    "Model said": SAID,
    "Right answer": GOLD,
    "fine": YES_NO,
    "nr": IDS,
    "Fach": texts(*["Bio", "Mathe"] * 40),
    "remark": texts(*["x"] * 80),
}


@given(st.permutations(sorted(ALL)))
def test_the_order_of_the_columns_decides_nothing(order: list[str]) -> None:
    suggestions = suggest_columns({name: ALL[name] for name in order})
    assert suggestions == suggest_columns(ALL)
    assert suggested_mappings(suggestions) == suggested_mappings(suggest_columns(ALL))
    assert len(suggested_mappings(suggestions)) == 2


@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=3, max_size=3), max_size=6))
def test_any_text_is_looked_at(columns: list[list[str | None]]) -> None:
    values = {f"{number}": pl.Series(cells, dtype=pl.String) for number, cells in enumerate(columns)}
    for suggestion in suggest_columns(values):
        assert suggestion.names.keys() <= values.keys()
        assert suggestion.reason


def test_typed_columns_are_recognised_as_text_is() -> None:
    columns = {
        "sure": pl.Series([0.25, 0.5, 0.75], dtype=pl.Float32),
        "was_right": pl.Series([True, False, True]),
        "nr": pl.Series([1, 2, 3]),
        "tags": pl.Series([["a"], ["b"], ["c"]]),
    }
    assert suggested_mappings(suggest_columns(columns)) == [
        {"sure": "confidence", "was_right": "correct", "nr": "id"}
    ]


def test_the_words_of_a_name() -> None:
    assert name_words("isItRight_conf(%) Größe") == {"is", "it", "right", "conf", "größe"}


# --- In a reading -----------------------------------------------------------------------------------------


def test_nothing_is_suggested_where_all_is_read(read_text: ReadText) -> None:
    reading = read_text("confidence,correct,certainty\n0.5,1,0.4\n0.6,0,0.5\n")
    assert (reading.suggestions, dict(reading.preview)) == ((), {})


def test_the_preview_is_the_first_five_rows_as_text(read_text: ReadText) -> None:
    lines = ["how sure,note", *(f"0.{number},{'x' * 99 if number == 2 else ''}" for number in range(1, 9))]
    reading = read_text("\n".join(lines))
    assert reading.preview["how sure"] == ("0.1", "0.2", "0.3", "0.4", "0.5")
    assert reading.preview["note"][0] == ""
    assert len(reading.preview["note"][1]) <= 80
    assert reading.column_roles == {}


def test_headings_with_spaces_are_split_at_the_commas(read_text: ReadText) -> None:
    assert read_text("Question number,How sure\nq 1,0.5\nq 2,0.25\n").columns == (
        "Question number",
        "How sure",
    )
    assert read_text("Frage-Nr;Sicherheit, grob\n1;0.5\n2;0.25\n").columns == ("Frage-Nr", "Sicherheit, grob")


def test_a_logarithm_is_read_as_its_exponential(read_text: ReadText) -> None:
    reading = read_text("lp,correct\n0,1\n-inf,0\n-1,1\n0.5,0\n", columns={"lp": "confidence:log"})
    (run,) = reading.good_runs
    assert run.rows["confidence"].to_list() == [1.0, 0.0, 0.36787944117144233]  # type: ignore[union-attr]
    assert reading.n_bad_rows == 1
    assert "confidence is exp of 'lp', its natural logarithm." in reading.notes


def test_nothing_is_suggested_for_a_table_of_metrics() -> None:
    columns = {"model": IDS, "confidence level": SHARES, "format adherence": YES_NO}
    assert suggest_columns(columns)
    assert suggest_columns({**columns, "ece": SHARES}) == ()
    assert suggest_columns({**columns, "test AUROC": SHARES}) == ()


def test_a_number_about_the_gold_or_of_another_kind_is_neither_confidence_nor_answer() -> None:
    assert found(gt_ratio_agreement=SHARES) == {}
    assert found(gt_confidence=SHARES) == {"gt_confidence": ("confidence", NAMED)}
    flags = texts(*(number % 2 for number in range(80)))
    golds = texts(*(number * 7 % 4 for number in range(80)))
    assert "prediction" not in {name for name, _ in found(pred_entropy=flags, gold_answer=golds).values()}
    assert found(pred=flags, gold_answer=golds)["pred"] == ("prediction", NAMED)
