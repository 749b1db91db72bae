"""A person says what values mean: turned round, in words, of one class, part of a whole vocabulary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calib_core
from calib_core.advice import set_surface
from calib_core.errors import Refused
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.readers.format import Reading
from calib_core.readers.table.columns import FLAG_COLUMNS, PROBABILITY_COLUMNS, MappedName
from calib_core.runs import AnswerRun
from core.cli_calls import Call
from core.readers.conftest import ReadText


def column(reading: Reading, name: str) -> list[Any]:
    (run,) = reading.runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    return run.rows[name].to_list()


def first_faults(reading: Reading) -> list[tuple[int, str, str]]:
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    return [(cell.row, cell.found, cell.expected) for cell in cells]


# --- 1 − x ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PROBABILITY_COLUMNS))
def test_every_probability_can_be_inverted(read_text: ReadText, name: str) -> None:
    reading = read_text("risk,correct\n0.1,1\n,1\n0.75,0\n", columns={"risk": f"{name}:inverted"})
    assert column(reading, name) == [0.9, None, 0.25]
    assert f"{name} is 1 minus 'risk'." in reading.notes


@pytest.mark.parametrize(
    ("said", "written", "note"),
    [
        ("confidence/100:inverted", ["10", "75%"], "1 minus 'risk' divided by 100"),
        ("confidence:log:inverted", ["-inf", "0"], "1 minus exp of 'risk', its natural logarithm"),
        ("confidence:comma:inverted", ["0,1", "0,75"], "1 minus 'risk'"),
        ("confidence.risk:inverted", ["0.1", "0.75"], "1 minus 'risk'"),
    ],
)
def test_a_scale_and_a_direction_combine(
    read_text: ReadText, said: str, written: list[str], note: str
) -> None:
    content = "risk;correct\n" + "".join(f"{value};1\n" for value in written)
    reading = read_text(content, columns={"risk": said})
    name = said.partition(":")[0].partition("/")[0]
    assert column(reading, name) == ([1.0, 0.0] if "log" in said else [0.9, 0.25])
    assert f"{name} is {note}." in reading.notes


@given(st.lists(st.integers(0, 2**53), min_size=1))
def test_inverted_twice_is_itself(numerators: list[int]) -> None:
    """1 − x is exact for the float64 numbers on the grid of 2⁻⁵³, on which all from 0.5 on lie."""
    inverted = MappedName.parse("confidence:inverted")
    values = pl.Series([numerator / 2**53 for numerator in numerators])
    once = inverted.judge(values).values
    assert once.to_list() == [1 - value for value in values.to_list()]
    assert inverted.judge(once).values.to_list() == values.to_list()


def test_a_single_precision_number_is_inverted_in_double_precision(
    read_text: ReadText, tmp_path: Path
) -> None:
    pl.DataFrame({"risk": pl.Series([0.1], dtype=pl.Float32), "correct": [1]}).write_parquet(tmp_path / "f")
    reading = read_text((tmp_path / "f").read_bytes(), columns={"risk": "confidence:inverted"})
    assert column(reading, "confidence") == [1 - 0.10000000149011612]


def test_bad_values_are_shown_as_they_stand(read_text: ReadText) -> None:
    reading = read_text("risk,correct\n0.1,1\n1.5,1\nlow,0\n", columns={"risk": "confidence:inverted"})
    assert [(row, found) for row, found, _ in first_faults(reading)] == [(2, "1.5"), (3, "low")]


@pytest.mark.parametrize("direction", ["inverted", "class:1"])
def test_the_advice_on_a_scale_keeps_the_direction(read_text: ReadText, direction: str) -> None:
    text = "risk,prediction,gold\n85,1,1\n30,0,0\n"
    refusal = read_text(text, columns={"risk": f"confidence:{direction}"}).refusal or ""
    assert refusal.endswith(f"--map risk=confidence/100:{direction}")


def test_systems_side_by_side_can_be_inverted(read_text: ReadText) -> None:
    text = "a_risk,a_bad,b_risk,b_bad\n10,no,20,yes\n"
    reading = read_text(text, wide={"*_risk": "confidence/100:inverted", "*_bad": "correct:not"})
    runs = [run for run in reading.runs(skip_bad_rows=False) if isinstance(run, AnswerRun)]
    assert [run.rows["confidence"].to_list() for run in runs] == [[0.9], [0.8]]
    assert [run.rows["correct"].to_list() for run in runs] == [[True], [False]]


# --- Right where the column says wrong --------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FLAG_COLUMNS - {"sample_correct"}))
@pytest.mark.parametrize("spelling", [("yes", "no"), ("True", "false"), ("1", "0"), ("1.0", "0.0")])
def test_an_outcome_can_be_negated(read_text: ReadText, name: str, spelling: tuple[str, str]) -> None:
    wrong, right = spelling
    text = f"confidence,hallucination\n0.9,{wrong}\n0.8,{right}\n0.7,\n"
    reading = read_text(text, columns={"hallucination": f"{name}:not"})
    assert column(reading, name) == [False, True, None]
    assert f"{name} is 1 where 'hallucination' says no or 0, and 0 where it says yes or 1." in reading.notes


def test_what_is_neither_is_bad_and_a_value_called_not_can_be_named(read_text: ReadText) -> None:
    text = "confidence,judge\n0.9,yes\n0.8,partly\n"
    assert first_faults(read_text(text, columns={"judge": "correct:not"})) == [
        (2, "partly", "right or wrong: 1 or 0, true or false, yes or no")
    ]
    named = read_text("confidence,judge\n0.9,not\n0.8,so\n", columns={"judge": "correct:not|not"})
    assert column(named, "correct") == [True, False]


# --- Words with numbers -----------------------------------------------------------------------------------

WORDS = "confidence:high=0.9|Medium=.6|low=0.3"


@pytest.mark.parametrize("as_json", [False, True])
def test_words_have_the_numbers_that_were_given(read_text: ReadText, as_json: bool) -> None:  # noqa: FBT001
    said = [" high ", "MEDIUM", None, "low"]
    rows = [{"sure": word, "correct": 1} for word in said]
    content = json.dumps(rows) if as_json else pl.DataFrame(rows).write_csv()
    reading = read_text(content, columns={"sure": WORDS})
    assert column(reading, "confidence") == [0.9, 0.6, None, 0.3]
    assert (
        "confidence is read from the words of 'sure': 0.9 where it is 'high', 0.6 where it is 'Medium', 0.3 "
        "where it is 'low'." in reading.notes
    )


def test_numbers_can_be_words(read_text: ReadText) -> None:
    reading = read_text("sure,correct\n1,1\n2.0,0\n", columns={"sure": "confidence:1=0.2|2=0.8"})
    assert column(reading, "confidence") == [0.2, 0.8]


def test_a_word_without_a_number_is_a_bad_row(read_text: ReadText) -> None:
    reading = read_text("sure,correct\nhigh,1\nquite,1\n0.5,0\n", columns={"sure": WORDS})
    expected = "one of the words 'high', 'Medium', 'low'"
    assert first_faults(reading) == [(2, "quite", expected), (3, "0.5", expected)]


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ("confidence:high=1.5|low=0", r"'sure' needs a number from 0 to 1 for each word.*'high' has none"),
        ("confidence:high=…|low=0", r"needs a number from 0 to 1.*'high' has none"),
        ("confidence:high=nan", r"needs a number from 0 to 1"),
        ("confidence:high|low=0.1", r"'confidence' may be followed by"),
        ("confidence:high=.9|HIGH=.8", r"has two numbers for the word 'high'"),
        ("confidence:high", r"'confidence' may be followed by /NUMBER, :log, .*:inverted"),
        ("confidence:class:", r"'confidence' may be followed by"),
        ("confidence:inverted:high", r"'confidence' may be followed by"),
    ],
)
def test_numbers_that_are_none_are_refused(read_text: ReadText, said: str, match: str) -> None:
    with pytest.raises(Refused, match=match):
        read_text("sure,correct\nhigh,1\nlow,1\n", columns={"sure": said})


def test_words_without_numbers_are_listed_and_never_guessed(read_text: ReadText) -> None:
    text = "id,confidence,correct\n" + "".join(
        f"{row},{word},1\n" for row, word in enumerate(["low", "very high", "low", "n/a", ""])
    )
    assert read_text(text).refusal == (
        "quiz.csv: column 'confidence' holds words, but numbers from 0 to 1 are expected: 'low' (2 rows), "
        "'very high' (1 row). The file does not say which number each word means. If you know, write "
        'it for the “…”: --map "confidence=confidence:low=…|very high=…"'
    )


def test_values_that_are_no_words_of_a_scale_are_bad_rows(read_text: ReadText) -> None:
    for values in (["nan", "N/A"], ["high", "high", "0.5"], [f"word {row}x" for row in range(21)]):
        text = "confidence,correct\n" + "".join(f"{value},1\n" for value in values)
        assert "holds words" not in (read_text(text).refusal or "")


def test_what_the_refusal_says_can_be_typed_and_called(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "said=words.csv"
    path.write_text("a=b,correct\nhigh,1\nlow,0\nhigh,1\nlow,0\n")
    typed = call("score", path, "--map", "a=b=confidence:high=0.9|low=0.2", "--metric", "brier", "--json")
    assert typed.element["value"] == pytest.approx((0.01 + 0.04) / 2)
    (run,) = calib_core.load(path, columns={"a=b": "confidence:high=0.9|low=0.2"})
    assert calib_core.score(run, metric="brier").value == typed.element["value"]
    set_surface("Python")
    with pytest.raises(Refused, match=r'columns=\{"a=b": "confidence:high=…\|low=…"\}$'):
        calib_core.load(path, columns={"a=b": "confidence"})


# --- The probability of one class -------------------------------------------------------------------------

CLASSES = "y_true,y_pred,y_prob\nspam,ham,0.125\nham, ham ,0.25\nspam,spam,0.75\nham,,0.5\n"
ROLES = {"y_true": "gold", "y_pred": "prediction"}


@pytest.mark.parametrize(
    ("label", "expected"), [("spam", [0.875, 0.75, 0.75, None]), ("ham", [0.125, 0.25, 0.25, None])]
)
def test_the_probability_of_a_class_becomes_that_of_the_prediction(
    read_text: ReadText, label: str, expected: list[float | None]
) -> None:
    reading = read_text(CLASSES, columns={**ROLES, "y_prob": f"confidence:class:{label}"})
    assert column(reading, "confidence") == expected
    assert f"confidence is 'y_prob' where prediction is {label!r}, and 1 minus it elsewhere." in reading.notes


def test_classes_that_are_numbers_are_compared_as_numbers(read_text: ReadText) -> None:
    text = "y_true,y_pred,y_prob\n1,1.0,80\n0,0.0,30\n"
    reading = read_text(text, columns={**ROLES, "y_prob": "confidence/100:class:1"})
    assert column(reading, "confidence") == [0.8, 0.7]


def test_a_class_that_only_a_gold_names_counts(read_text: ReadText) -> None:
    text = "y_true,y_pred,y_prob\n1,0,0.25\n0,0,0.125\n"
    assert column(read_text(text, columns={**ROLES, "y_prob": "confidence:class:1"}), "confidence") == [
        0.75,
        0.875,
    ]


@pytest.mark.parametrize(
    ("text", "label", "match"),
    [
        ("y_true,y_prob\n1,0.5\n", "1", r"class '1', so each row needs the class .*--map COLUMN=prediction$"),
        (
            "y_true,y_pred,y_prob\n1,a,.5\n1,b,.5\n1,c,.5\n",
            "a",
            r"3 classes are predicted, such as 'a', 'b', 'c'.*choice_probs",
        ),
        (
            "y_true,y_pred,y_prob\npos,pos,.5\nneg,neg,.5\n",
            "positive",
            r"no row predicts: the predictions are 'pos', 'neg'",
        ),
    ],
)
def test_a_class_that_means_nothing_is_refused(
    read_text: ReadText, text: str, label: str, match: str
) -> None:
    roles = {name: role for name, role in ROLES.items() if name in text}
    with pytest.raises(Refused, match=match):
        read_text(text, columns={**roles, "y_prob": f"confidence:class:{label}"})


# --- Masses of the choices within a vocabulary ------------------------------------------------------------

MASSES = "p_A,p_B,gold\n0.001,0.003,B\n0.25,0.25,A\n,0.25,A\n"


def test_masses_are_divided_by_their_sum(read_text: ReadText) -> None:
    for columns, content in (
        ({"p_A": "choice_masses", "p_B": "choice_masses"}, MASSES),
        ({"p": "choice_masses"}, 'p,gold\n"[0.001, 0.003]",B\n"[0.25, 0.25]",A\n,A\n'),
    ):
        reading = read_text(content, columns=columns)
        assert column(reading, "choice_probs") == [[0.001 / 0.004, 0.003 / 0.004], [0.5, 0.5], None]
        assert column(reading, "choice_other_mass") == [1 - 0.004, 0.5, None]
        assert (
            "choice_probs are the masses of the choices divided by their sum, which is 0.2520 on average and "
            "0.0040 at least." in reading.notes
        )
        (run,) = reading.good_runs
        assert isinstance(run, AnswerRun)
        pairs = METHODS["choice_softmax"].confidences(run, MethodOptions()).pairs
        assert (pairs.confidence.tolist(), pairs.correct.tolist()) == ([0.75, 0.5], [True, True])


@given(st.lists(st.floats(1e-9, 1), min_size=2, max_size=5), st.floats(1e-6, 1))
def test_masses_of_any_size_have_the_same_shares(shares: list[float], size: float) -> None:
    total = sum(shares)
    masses = [share / total * size for share in shares]
    (run,) = calib_core.load([{"p": masses, "gold": "A"}], columns={"p": "choice_masses"})
    assert isinstance(run, AnswerRun)
    assert run.rows["choice_probs"].to_list()[0] == pytest.approx([share / total for share in shares])


@pytest.mark.parametrize("row", ["0,0,A", "0.6,0.5,A", "-0.1,0.2,A"])
def test_masses_that_are_none_are_bad_rows(read_text: ReadText, row: str) -> None:
    columns = {"p_A": "choice_masses", "p_B": "choice_masses"}
    reading = read_text(f"{MASSES}{row}\n", columns=columns)
    assert {row for row, _, _ in first_faults(reading)} == {4}


def test_masses_and_probabilities_are_not_mixed(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"read as choice_probs and as choice_masses"):
        read_text(MASSES, columns={"p_A": "choice_masses", "p_B": "choice_probs"})
