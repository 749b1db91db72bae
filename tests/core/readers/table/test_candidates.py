"""What columns may be read as: by what their names say and their values allow, in any order."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.advice import Advice
from calib_core.readers.format import Candidate
from calib_core.readers.table.candidate_lists import (
    SERIES_PREFIXES,
    find_sampled_answers,
    find_scored_choices,
)
from calib_core.readers.table.candidates import find_candidates
from calib_core.readers.table.columns import COLUMN_JUDGES, LIST_COLUMNS, MappedName
from calib_core.readers.table.names import SPELLINGS, WORDS, meanings, name_words
from calib_core.readers.table.plans import plans, unique_within
from calib_core.readers.table.systems import find_systems
from calib_core.runs import schema_name
from core.readers.conftest import ReadText

LETTERS = "ABCD"
N = 80


def texts(*values: object) -> pl.Series:
    """A column as a CSV gives it."""
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


SHARES = texts(*(f"0.{number:02}" for number in range(10, 90)))
OTHER_SHARES = SHARES.reverse()
PERCENTAGES = texts(*(f"{number}.5" for number in range(10, 90)))
YES_NO = texts(*("yes" if number % 3 else "no" for number in range(N)))
FLAGS = texts(*(int(number % 3 > 0) for number in range(N)))
GOLD = texts(*(LETTERS[number * 7 % 4] for number in range(N)))
SAID = texts(*(LETTERS[(number * 7 + (number % 5 == 0)) % 4] for number in range(N)))
IDS = texts(*(f"q{number}" for number in range(N)))


def said(columns: Mapping[str, pl.Series], read_as: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """What names or values say of columns, in the order of the candidates."""
    return [dict(one.names) for one in find_candidates(columns, read_as or {}) if one.clarity == "said"]


def planned(
    columns: Mapping[str, pl.Series], read_as: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """The mappings that would be tried."""
    known = read_as or {}
    return [dict(plan.columns) for plan in plans(find_candidates(columns, known), known)]


# --- One column -------------------------------------------------------------------------------------------


def headers() -> list[tuple[str, str, str]]:
    """Headers from public files, the first values below them, and what they say."""
    with (Path(__file__).parent / "headers.csv").open(encoding="utf-8", newline="") as file:
        return [(row["header"], row["values"], row["expected"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("header", "values", "expected"), headers())
def test_what_a_header_and_its_first_values_say(header: str, values: str, expected: str) -> None:
    cells = [value.strip() or None for value in values.split("|")]
    found = find_candidates({header: texts(*cells)}, {})
    first = next((one.names[header] for one in found if one.clarity == "said"), None)
    match expected:
        case "ask":
            assert first is None
            assert found
        case "nothing":
            assert {one.clarity for one in found} <= {"possible"}
        case _:
            assert first == expected


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("How sure", SHARES, "confidence"),
        ("How sure", texts("12%", "80 %", "55%"), "confidence/100"),
        ("lp_answer", texts(-0.25, -3, -0.5), "confidence:log"),
        ("Is it correct?", texts(*YES_NO, "maybe", None), "correct"),
        ("Richtig", texts("ja", "nein", "Ja"), "correct:Ja|ja"),
        ("remark", texts("right", "wrong", "right"), "correct"),
        ("remark", texts("pass", "fail", "pass"), "correct:pass"),
        ("made an error", texts("yes", "no", None), None),
        ("correct", texts(1, 1, 1), "correct"),
        ("hit", texts("correct", "unparseable", "incorrect"), "correct"),
        ("conf", texts(*["0.5", "high"] * 9), None),
        ("conf", texts(*["50", "500"] * 9), None),
        ("lp_answer", texts(*[-0.5, 3, -1] * 4), None),
        ("accurate", texts(*["yes", "no"] * 9, "maybe", "perhaps"), None),
        ("Verdict", texts(*["pass", "fail"] * 40, "maybe"), None),
        ("tuned", texts(*["yes", "no"] * 9), "tuning"),
        ("user id", texts(*["u1", "u2"] * 9), None),
        ("Right answer", texts(None, None), None),
        ("gt_ratio_agreement", SHARES, None),
        ("gt_confidence", SHARES, None),
        ("pred_entropy", SHARES, None),
    ],
)
def test_what_values_make_of_a_name(name: str, values: pl.Series, expected: str | None) -> None:
    assert next((one[name] for one in said({name: values})), None) == expected


def test_every_name_that_is_said_can_be_read() -> None:
    judged = {schema_name(MappedName.parse(name).name) for name in (*SPELLINGS, *WORDS)}
    assert judged <= {*COLUMN_JUDGES}
    assert {*SERIES_PREFIXES} <= LIST_COLUMNS & {*SPELLINGS}


def test_a_usual_spelling_says_its_name_however_it_is_written() -> None:
    for name, spellings in SPELLINGS.items():
        for spelling in (name, *spellings):
            written = spelling.upper().replace("_", "-")
            assert name in {meaning.name for meaning in meanings(written)}, written


@pytest.mark.parametrize("name", ["output.text", "response.text", "choices.0.text", "model_output.text"])
def test_a_text_of_the_model_is_no_question(name: str) -> None:
    assert "question" not in {meaning.name for meaning in meanings(name)}
    assert meanings("item.text") == (("question", "said"),)


def test_the_words_of_a_name() -> None:
    assert name_words("isItRight_conf(%) Größe") == ("is", "it", "right", "conf", "größe")


def test_typed_columns_are_what_their_texts_are() -> None:
    typed = {
        "sure": pl.Series([0.25, 0.5, 0.75], dtype=pl.Float32),
        "was_right": pl.Series([True, False, True]),
        "nr": pl.Series([1, 2, 3]),
        "tags": pl.Series([["a"], ["b"], ["c"]]),
    }
    assert planned(typed) == [{"sure": "confidence", "was_right": "correct", "nr": "id"}]
    written = {name: raw.cast(pl.String) for name, raw in typed.items() if name != "tags"}
    assert planned(written) == planned(typed)


@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=3, max_size=3), max_size=6))
def test_any_text_is_looked_at(columns: list[list[str | None]]) -> None:
    values = {f"conf {number}": pl.Series(cells, dtype=pl.String) for number, cells in enumerate(columns)}
    for one in find_candidates(values, {}):
        assert one.names.keys() <= values.keys()
        assert one.why


def test_numbers_that_no_name_calls_a_confidence_are_possible_alone() -> None:
    for name in ("difficulty", "column 7", "similarity"):
        (one,) = find_candidates({name: SHARES}, {})
        assert (dict(one.names), one.clarity) == ({name: "confidence"}, "possible")
    assert find_candidates({"stars": texts(*[1, 2, 3, 4, 5] * 4), "steps": texts(*range(3, 80))}, {}) == ()


@pytest.mark.parametrize("name", ["conf_low", "ci_upper", "confidence_interval_lo", "cost", "price_per_call"])
def test_bounds_and_costs_are_no_confidence(name: str) -> None:
    assert find_candidates({name: SHARES}, {}) == ()


def test_a_number_that_is_always_the_same_is_not_told() -> None:
    assert find_candidates({"similarity": texts(*[0.5] * N)}, {}) == ()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (range(6), ["confidence/5"]),
        (range(1, 4), ["confidence/3", "confidence:1=0|2=0.5|3=1"]),
        (range(1, 11), ["confidence/10"]),
    ],
)
def test_ratings_from_1_may_be_read_from_0(values: range, expected: list[str]) -> None:
    found = find_candidates({"confidence": texts(*values)}, {})
    assert [(one.name, one.clarity) for one in found] == [(name, "hinted") for name in expected]


def test_both_directions_of_an_untold_outcome_are_possible() -> None:
    found = find_candidates({"reviewed": YES_NO}, {})
    assert [(one.names["reviewed"], one.clarity) for one in found] == [
        ("correct", "possible"),
        ("correct:not", "possible"),
    ]
    assert find_candidates({"reviewed": texts(*["yes"] * 9)}, {}) == ()


@pytest.mark.parametrize("name", ["ece", "test AUROC", "AUC"])
def test_a_table_of_metrics_says_nothing(name: str) -> None:
    columns = {"model": IDS, "confidence level": SHARES, "format adherence": YES_NO}
    assert find_candidates(columns, {})
    assert find_candidates({**columns, name: SHARES}, {}) == ()


def test_a_column_that_is_read_may_be_read_on_another_scale() -> None:
    assert said({"confidence": PERCENTAGES}, {"confidence": "confidence"}) == [
        {"confidence": "confidence/100"}
    ]
    assert said({"confidence": SHARES}, {"confidence": "confidence"}) == []


def test_decimal_commas_are_told_with_the_name_that_a_column_has() -> None:
    columns, read_as = {"confidence": SHARES}, {"confidence": "confidence"}
    (one,) = find_candidates(columns, read_as, with_commas=("confidence",))
    assert dict(one.names) == {"confidence": "confidence:comma"}
    (one,) = find_candidates({"sure": SHARES}, {}, with_commas=("sure",))
    assert dict(one.names) == {"sure": "confidence"}, "another name than its own implies the commas"


# --- Several columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"Model said": SAID, "Truth": GOLD}, {"Model said": "prediction", "Truth": "gold"}),
        ({"label": GOLD, "pred": SAID}, {"label": "gold", "pred": "prediction"}),
        ({"label": SAID, "gold": GOLD}, {"label": "prediction", "gold": "gold"}),
        ({"answer": GOLD}, {"answer": "gold"}),
        ({"answer": SAID, "is_correct": FLAGS}, {"is_correct": "correct"}),
        (
            {"Right answer": YES_NO, "Model said": YES_NO},
            {"Right answer": "gold", "Model said": "prediction"},
        ),
    ],
)
def test_an_answer_is_what_the_other_columns_leave_it(
    columns: dict[str, pl.Series], expected: dict[str, str]
) -> None:
    assert {column: name for one in said(columns) for column, name in one.items()} == expected


@pytest.mark.parametrize("read_as", [{}, {"truth": "gold"}])
def test_an_answer_that_agrees_with_the_right_one_is_hinted_at(read_as: dict[str, str]) -> None:
    found = find_candidates({"truth": GOLD, "solver": SAID}, read_as)
    assert [(dict(one.names), one.why) for one in found if one.clarity == "hinted"] == [
        ({"solver": "prediction"}, "the same as 'truth' in 80 % of the first rows")
    ]
    for other in (texts(*(GOLD[(number * 27 + 5) % N] for number in range(N))), GOLD):
        assert len(find_candidates({"truth": GOLD, "solver": other}, {})) == 1, "by chance, or the same"


def test_an_outcome_that_differs_from_the_one_that_is_read_says_how_often() -> None:
    other = texts(*(1 - int(flag) if at < 7 else flag for at, flag in enumerate(FLAGS)))
    found = find_candidates({"correct": FLAGS, "acc": other}, {"correct": "correct"})
    assert [(dict(one.names), one.n_compared, one.n_differing) for one in found] == [
        ({"acc": "correct"}, N, 7)
    ]


ALL = {
    "Conf (%)": PERCENTAGES,
    "sure": SHARES,
    "Model said": SAID,
    "Right answer": GOLD,
    "fine": YES_NO,
    "nr": IDS,
    "Fach": texts(*["Bio", "Mathe"] * 40),
    "p_A": SHARES,
    "p_B": OTHER_SHARES,
    "remark": texts(*["x"] * N),
}


@given(st.permutations(sorted(ALL)))
def test_the_order_of_the_columns_decides_nothing(order: list[str]) -> None:
    found = find_candidates({name: ALL[name] for name in order}, {})
    assert found == find_candidates(ALL, {})
    assert plans(found, {}) == plans(find_candidates(ALL, {}), {})


# --- Lists ------------------------------------------------------------------------------------------------

FIFTH = texts(*[0.2] * N)
LOGS = texts(*[-1.5] * N)


@pytest.mark.parametrize(
    ("columns", "value", "name"),
    [
        ("p_E p_C p_A p_B p_D", FIFTH, "choice_probs"),
        ("prob_0 prob_1 prob_2 prob_3 prob_4", FIFTH, "choice_probs"),
        ("proba_neutral proba_good proba_bad proba_odd proba_mad", FIFTH, "choice_probs"),
        ("logprob_B logprob_A", LOGS, "choice_logprobs"),
        ("logit_A logit_B", LOGS, "choice_logits"),
        ("sample_1 sample_2 sample_3", SAID, "samples"),
        ("answer_0 answer_1", SAID, "samples"),
        ("option_B option_A", IDS, "choices"),
        ("D B A C", IDS, "choices"),
    ],
)
def test_one_column_for_each_element_is_a_list(columns: str, value: pl.Series, name: str) -> None:
    names = columns.split()
    found = said(dict.fromkeys(names, value))
    assert dict.fromkeys(names, name) in found
    if name.startswith("choice"):
        assert list(found[0]) == sorted(names)


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ("p_A", FIFTH),
        ("p_A p_B", FIFTH),  # sums to 0.4: asked, as masses
        ("p_B p_C", FIFTH),
        ("sample_0 sample_2", SAID),
        ("logprob_A logprob_C", LOGS),
        ("sample_1 sample_2", SHARES),
    ],
)
def test_one_column_alone_or_a_gap_is_no_list(columns: str, value: pl.Series) -> None:
    found = said(dict.fromkeys(columns.split(), value))
    assert [one for one in found if {*one.values()} & LIST_COLUMNS] == []


def test_masses_of_letters_in_a_whole_vocabulary_are_asked() -> None:
    found = find_candidates({"p_B": texts(0.002, 0.001), "p_A": texts(0.001, 0.004)}, {})
    masses = [one for one in found if "choice_masses" in one.names.values()]
    assert [(list(one.names), one.clarity) for one in masses] == [(["p_A", "p_B"], "hinted")]


@pytest.mark.parametrize(
    "values", [pl.Series([[0.001, 0.004], [0.002, 0.001]]), texts("[0.001, 0.004]", "[0.002, 0.001]")]
)
def test_a_list_of_such_masses_is_asked_too(values: pl.Series) -> None:
    found = find_candidates({"option_probs": values}, {})
    assert [(one.names, one.clarity) for one in found] == [({"option_probs": "choice_masses"}, "hinted")]


def test_columns_of_lists_are_what_their_names_say() -> None:
    columns = {
        "responses": pl.Series([["6", "6"], ["1", "2"]]),
        "probs": pl.Series([[0.25, 0.75], [0.5, 0.5]]),
        "gold_answers": pl.Series([["6", "six"], ["1"]]),
        "logits": pl.Series([None, None], dtype=pl.List(pl.Float64)),
    }
    assert {column: name for one in said(columns) for column, name in one.items()} == {
        "responses": "samples",
        "probs": "choice_probs",
        "gold_answers": "gold",
    }


def test_lists_of_labels_with_scores_are_choices() -> None:
    lists = {
        "out.label": pl.Series([["a", "b"], ["b", "a"]]),
        "out.score": pl.Series([[0.9, 0.1], [0.6, 0.4]]),
        "other.score": pl.Series([[0.9, 0.1], [0.6, 0.4]]),
    }
    (one,) = find_scored_choices(lists)
    assert dict(one.names) == {"out.label": "choices", "out.score": "choice_probs"}
    lists["out.score"] = pl.Series([[0.9, 0.9], [0.6, 0.6]])
    assert list(find_scored_choices(lists)) == []


ANSWERS = pl.Series([["6", "6", "7"], ["1", "2", "2"], ["3", "3", "3"]])
JUDGED = pl.Series([[1, 1, 0], [0, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"ys": ANSWERS, "r": JUDGED}, ("ys", "r")),
        (
            {"ys": ANSWERS, "r": pl.Series([[1, 0, 0], [0, 1, 1], [0, 0, 0]])},
            None,
        ),  # one answer, two outcomes
        ({"ys": ANSWERS, "r": pl.Series([[1, 1], [0, 1], [0, 0]])}, None),
        ({"ys": ANSWERS, "r": pl.Series([[1, 1, 1]] * 3)}, None),
        ({"ys": pl.Series([["a", "b", "c"]] * 3), "r": JUDGED}, None),
        ({"ys": ANSWERS, "r": JUDGED, "q": JUDGED}, None),
        ({"options": ANSWERS, "r": JUDGED}, None),
    ],
)
def test_sampled_answers_are_found_by_their_outcomes(
    columns: dict[str, pl.Series], expected: tuple[str, str] | None
) -> None:
    assert find_sampled_answers(columns) == expected


# --- Systems side by side ---------------------------------------------------------------------------------


def test_several_patterns_of_one_name_are_alternatives() -> None:
    columns = {f"{system}_{what}": SHARES for system in ("tiny", "huge") for what in ("conf", "prob")}
    columns |= {f"{system}_failed": FLAGS for system in ("tiny", "huge")}
    found = find_systems([*columns], columns.__getitem__, has_gold=False)
    assert [dict(one.names) for one in found] == [
        {"*_conf": "confidence"},
        {"*_prob": "confidence"},
        {"*_failed": "correct:not"},
    ]


@pytest.mark.parametrize("systems", ["tiny", "1 2"])
def test_one_system_or_its_numbered_answers_are_no_systems(systems: str) -> None:
    columns = {f"{name}_conf": SHARES for name in systems.split()}
    columns |= {f"{name}_hit": FLAGS for name in systems.split()}
    assert find_systems([*columns], columns.__getitem__, has_gold=True) == ()


# --- Mappings ---------------------------------------------------------------------------------------------


def test_a_mapping_has_the_likeliest_column_of_each_name() -> None:
    columns = {"conf": SHARES, "hit": FLAGS, "nr": IDS, "llm": texts(*["m"] * N)}
    assert planned(columns) == [{"conf": "confidence", "hit": "correct", "nr": "id", "llm": "model"}]


def test_rivals_for_what_decides_on_numbers_are_mappings_of_their_own() -> None:
    columns = {"certainty": SHARES, "likelihood": OTHER_SHARES, "hit": FLAGS, "nr": IDS, "idx": IDS}
    assert planned(columns) == [
        {"certainty": "confidence", "hit": "correct", "idx": "id"},
        {"likelihood": "confidence", "hit": "correct", "idx": "id"},
    ]


def test_rivals_that_belong_together_come_together() -> None:
    columns = {"conf": SHARES, "hit": FLAGS, "conf 2": OTHER_SHARES, "hit 2": FLAGS}
    assert planned(columns) == [
        {"conf": "confidence", "hit": "correct"},
        {"conf 2": "confidence", "hit 2": "correct"},
    ]


def test_without_a_confidence_what_is_hinted_at_is_asked() -> None:
    columns = {"difficulty": OTHER_SHARES, "hallucination_score": SHARES, "acc": FLAGS, "hit": FLAGS}
    found = plans(find_candidates(columns, {}), {})
    assert [plan.columns["hallucination_score"] for plan in found] == ["confidence:inverted", "confidence"]
    assert all(plan.unsaid for plan in found)


def test_without_a_confidence_what_is_possible_is_not_asked() -> None:
    assert planned({"difficulty": SHARES, "hit": FLAGS}) == []


def test_without_an_outcome_each_direction_of_what_is_possible_is_asked() -> None:
    found = plans(find_candidates({"conf": SHARES, "cached": YES_NO}, {}), {})
    assert [(dict(plan.columns), len(plan.unsaid)) for plan in found] == [
        ({"conf": "confidence", "cached": "correct"}, 1),
        ({"conf": "confidence", "cached": "correct:not"}, 1),
    ]


def test_columns_that_are_read_stay_what_they_are() -> None:
    columns = {"confidence": SHARES, "certainty": OTHER_SHARES, "hit": FLAGS}
    assert planned(columns, {"confidence": "confidence"}) == [
        {"hit": "correct"},
        {"certainty": "confidence", "hit": "correct"},
    ]
    assert planned({"hit": FLAGS, "nr": IDS}) == [], "without a confidence"


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"part": ["a", "a", "b", "b"]}, ("part",)),
        ({"part": ["a", "a", "a", "b"]}, ()),
        ({"part": ["a", None, "b", "b"]}, ()),
        ({"part": ["a", "a", "b", "b"], "of": ["u", "v", "x", "w"]}, ("part", "of")),
        ({"part": ["a", "a", "b", "b"], "dataset": ["u", "v", "x", "w"]}, ("dataset", "part")),
    ],
)
def test_ids_are_unique_within_the_columns_that_tell_them_apart(
    groups: dict[str, Sequence[str | None]], expected: tuple[str, ...]
) -> None:
    assert unique_within(pl.Series(["1", "2", "1", "2"]), pl.DataFrame(groups)) == expected


# --- In a reading -----------------------------------------------------------------------------------------


def test_rivals_are_both_named(read_text: ReadText) -> None:
    reading = read_text("id,conf,prob,acc,hit\n1,.5,.4,1,0\n2,.6,.4,0,0\n")
    assert dict(reading.proposed_mapping) == {
        "conf": "confidence",
        "prob": "confidence",
        "acc": "correct",
        "hit": "correct",
    }


def test_a_broken_beginning_hides_no_candidate(read_text: ReadText) -> None:
    reading = read_text("id,conf\n1,0.5,x\n2,0.5\n")
    assert dict(reading.proposed_mapping) == {"conf": "confidence"}


def test_the_preview_is_the_first_five_rows_as_text(read_text: ReadText) -> None:
    lines = ["how sure,note", *(f"0.{number},{'x' * 99 if number == 2 else ''}" for number in range(1, 9))]
    reading = read_text("\n".join(lines))
    assert reading.preview["how sure"] == ("0.1", "0.2", "0.3", "0.4", "0.5")
    assert reading.preview["note"][0] == ""
    assert len(reading.preview["note"][1]) <= 80
    assert reading.column_roles == {}
    assert read_text("confidence,correct\n0.5,1\n").preview == {}


def test_headings_with_spaces_are_split_at_the_commas(read_text: ReadText) -> None:
    assert read_text("Question number,How sure\nq 1,0.5\nq 2,0.25\n").columns == (
        "Question number",
        "How sure",
    )
    assert read_text("Frage-Nr;Sicherheit, grob\n1;0.5\n2;0.25\n").columns == ("Frage-Nr", "Sicherheit, grob")


def test_a_candidate_as_text_for_the_command_line() -> None:
    one = Candidate({"conf": "confidence", "is ok": "correct"}, "said", "its name")
    assert str(Advice(columns=one.names)) == '--map conf=confidence --map "is ok=correct"'
