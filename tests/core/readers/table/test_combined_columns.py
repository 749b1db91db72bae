"""Several columns become one list, each element in its place."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.readers.table import json_reader
from calib_core.readers.table.list_cells import as_lists
from calib_core.readers.table.reader import combine_columns
from calib_core.results.evidence import gather_evidence
from core.readers.answer_run_checks import answer_runs

ReadText = Callable[..., Reading]


def test_columns_of_one_element_each_become_a_list(read_text: ReadText) -> None:
    content = "id,p_A,p_B,gold,first,second\n1,0.7,0.3,A,x,x\n2,0.5,,b,,y\n3,,,0,,\n"
    probs = dict.fromkeys(("p_B", "p_A"), "choice_probs")
    samples = dict.fromkeys(("second", "first"), "samples")
    (run,) = answer_runs(read_text(content, columns=probs | samples).runs(skip_bad_rows=False))
    assert run.rows["choice_probs"].to_list() == [[0.3, 0.7], None, None]
    assert run.rows["samples"].to_list() == [["x", "x"], ["y", None], None]
    assert run.rows["gold_index"].to_list() == [1, None, None]


LETTERS = "ABCD"
QUIZ = [("A", (0.7, 0.1, 0.1, 0.1)), ("C", (0.6, 0.1, 0.2, 0.1)), ("D", (0.1, 0.2, 0.1, 0.6))]


@pytest.mark.parametrize("order", ["ABCD", "DCBA", "BDAC"])
@pytest.mark.parametrize("file_order", ["ABCD", "DCBA", "CADB"])
def test_a_gold_letter_names_the_column_of_its_letter(
    read_text: ReadText, order: str, file_order: str
) -> None:
    """Two of three answers are right, however the columns lie in the file and however they are mapped."""
    lines = [
        ",".join([*(str(probs[LETTERS.index(letter)]) for letter in file_order), gold])
        for gold, probs in QUIZ
    ]
    header = ",".join([*(f"prob_{letter}" for letter in file_order), "gold"])
    columns = {f"prob_{letter}": "choice_probs" for letter in order}
    reading = read_text("\n".join([header, *lines]), columns=columns)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    evidence = gather_evidence(run, "choice_softmax")
    assert evidence.accuracy == 2 / 3
    assert f"choices in the order {', '.join(order)}" in evidence.recipe_parts
    listed = ", ".join(f"'prob_{letter}'" for letter in order)
    assert f"choice_probs is the list of {listed}, in this order." in reading.notes


@pytest.mark.parametrize("name", ["gold", "gold_index"])
@pytest.mark.parametrize("order", ["ABCD", "DCBA", "BDAC"])
def test_a_position_counts_in_the_order_of_the_mapping(read_text: ReadText, order: str, name: str) -> None:
    lines = [f"{','.join(map(str, probs))},{order.index(gold)}\n" for gold, probs in QUIZ]
    columns = {f"p_{letter}": "choice_probs" for letter in order}
    reading = read_text(f"p_A,p_B,p_C,p_D,{name}\n{''.join(lines)}", columns=columns)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert gather_evidence(run, "choice_softmax").accuracy == 2 / 3


def test_letters_in_another_order_than_a_list_are_refused(read_text: ReadText) -> None:
    text = 'p_A,p_B,choices,gold\n0.7,0.3,"[""x"", ""y""]",x\n'
    with pytest.raises(Refused, match=r"the order B, A, but choices, which lists them too"):
        read_text(text, columns={"p_B": "choice_probs", "p_A": "choice_probs"})


# --- Labels that are words or numbers ---------------------------------------------------------------------

TEXTS = [("pos", (0.2, 0.1, 0.7)), ("neg", (0.6, 0.3, 0.1)), ("NEUTRAL ", (0.5, 0.2, 0.3))]
"""Gold, and the probabilities of neg, neutral and pos: two of three are right."""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("name", ["choice_probs", "choice_masses", "choice_logits"])
def test_what_follows_one_beginning_is_the_label(
    read_text: ReadText, order: tuple[int, ...], name: str
) -> None:
    labels = ["neg", "neutral", "pos"]
    lines = [f"{','.join(map(str, probs))},{gold},{gold}\n" for gold, probs in TEXTS]
    columns = {f"prob_{labels[at]}": name for at in order} | {"label": "gold", "pred": "prediction"}
    reading = read_text(f"prob_neg,prob_neutral,prob_pos,label,pred\n{''.join(lines)}", columns=columns)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["choices"].to_list() == [[labels[at] for at in order]] * 3
    assert run.rows["gold"].to_list() == run.rows["prediction"].to_list() == ["pos", "neg", "neutral"]
    evidence = gather_evidence(run, "choice_softmax")
    assert evidence.accuracy == 2 / 3
    assert f"choices in the order {', '.join(labels[at] for at in order)}" in evidence.recipe_parts


def test_a_gold_that_is_no_label_is_a_bad_row(read_text: ReadText) -> None:
    columns = {"prob_neg": "choice_probs", "prob_pos": "choice_probs"}
    reading = read_text("prob_neg,prob_pos,gold\n0.7,0.3,neg\n0.7,0.3,positive\n", columns=columns)
    (cell,) = [cell for problem in reading.problems for cell in problem.first_cells]
    assert (cell.row, cell.column, cell.found) == (2, "gold", "positive")


def test_labels_that_are_alike_name_no_choice(read_text: ReadText) -> None:
    columns = {"prob_yes": "choice_probs", "prob_Yes": "choice_probs"}
    (run,) = answer_runs(read_text("prob_yes,prob_Yes,gold\n0.7,0.3,0\n", columns=columns).good_runs)
    assert "choices" not in run.rows.columns


def numbered(numbers: str, golds: str, **roles: str) -> tuple[str, dict[str, str]]:
    """A table with a column a number, mapped in this order; the first choice is always the most probable."""
    header = ",".join(f"p{number}" for number in numbers)
    lines = [",".join(["0.6", *["0.2"] * (len(numbers) - 1), gold]) for gold in golds.split(",")]
    columns = {f"p{number}": "choice_probs" for number in numbers}
    return "\n".join([f"{header},gold", *lines]), columns | roles


@pytest.mark.parametrize(
    ("numbers", "golds", "positions"),
    [
        ("012", "0,2,1,0", [0, 2, 1, 0]),
        ("012", "0.0,2.0,,1", [0, 2, None, 1]),
        ("123", "1,3,2,1", [0, 2, 1, 0]),
        ("123", "1.0,3.0,2.0,1", [0, 2, 1, 0]),
        ("123", "0,2,1,0", [0, 2, 1, 0]),
        ("321", "3,1,2,3", [0, 2, 1, 0]),
        ("210", "A,C,B,A", [0, 2, 1, 0]),
    ],
)
def test_a_number_is_looked_up_among_numbers_of_columns(
    read_text: ReadText, numbers: str, golds: str, positions: list[int | None]
) -> None:
    text, columns = numbered(numbers, golds)
    (run,) = answer_runs(read_text(text, columns=columns).runs(skip_bad_rows=False))
    assert run.rows["gold_index"].to_list() == positions


@pytest.mark.parametrize(("numbers", "golds"), [("210", "0,2,1,0"), ("123", "1,2,2,1")])
def test_a_number_that_is_a_label_and_another_position_is_refused(
    read_text: ReadText, numbers: str, golds: str
) -> None:
    text, columns = numbered(numbers, golds)
    with pytest.raises(Refused, match=rf"\({', '.join(numbers)}\), counted from 0, and the two differ"):
        read_text(text, columns=columns)
    (run,) = answer_runs(read_text(text, columns=columns | {"gold": "gold_index"}).good_runs)
    assert run.rows["gold_index"].to_list() == list(map(int, golds.split(",")))


def test_a_number_that_is_no_label_among_labels_is_a_bad_row(read_text: ReadText) -> None:
    text, columns = numbered("123", "1,0,3")
    reading = read_text(text, columns=columns)
    assert [cell.row for problem in reading.problems for cell in problem.first_cells] == [2]


def test_a_wrong_element_is_reported_with_its_columns(read_text: ReadText) -> None:
    columns = dict.fromkeys(("p_A", "p_B"), "choice_probs")
    reading = read_text("p_A,p_B,gold\n0.5,0.5,A\n1.5,-0.5,A\n", columns=columns)
    (cell,) = [cell for problem in reading.problems for cell in problem.first_cells]
    assert (cell.row, cell.column, cell.found) == (2, "p_A, p_B", "1.5, -0.5")


def test_elements_stay_in_place_when_keys_come_and_go(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_reader, "ROWS_PER_SLICE", 1)
    lines = [{"a": "x"}, {"b": "y"}, {"b": "y", "a": "x"}]
    columns = dict.fromkeys(("b", "a"), "samples")
    reading = read_text("\n".join(map(json.dumps, lines)), columns=columns)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["samples"].to_list() == [[None, "x"], ["y", None], ["y", "x"]]


def test_numbers_stay_numbers_and_other_mixtures_become_text() -> None:
    whole, narrow = pl.Series([1, 0]), pl.Series([0.5, None], dtype=pl.Float32)
    assert combine_columns([narrow, narrow]).dtype == pl.List(pl.Float32)
    assert combine_columns([whole, narrow]).to_list() == [[1.0, 0.5], [0.0, None]]
    assert combine_columns([whole, pl.Series(["x", " "])]).to_list() == [["1", "x"], ["0", None]]
    assert combine_columns([pl.Series([None]), pl.Series([None])]).to_list() == [None]


@pytest.mark.parametrize("odd", [pl.Series([["x"]]), pl.Series([b"\xff"])])
def test_a_list_needs_plain_elements(odd: pl.Series) -> None:
    _, wrong = as_lists(combine_columns([pl.Series(["x"]), odd]))
    assert wrong.to_list() == [True]
