"""The table of ECE and Brier score contains the result's cells, and the paper's as printed."""

from __future__ import annotations

from dataclasses import replace

from calib_core.methods import METHODS
from calib_core.results.evidence import AnswerEvidence, survey_methods
from calib_core.results.methods_table import compare_methods
from calib_core.views.ece_brier_table import (
    ece_brier_frame,
    ece_brier_table,
    published_ece_brier_table,
    runs_as_rows,
)
from calib_core.views.methods import methods_tiles
from calib_core.views.view import EceBrierCell
from core.run_builders import make_answer_run


def evidences_of(*confidence: float) -> list[AnswerEvidence]:
    rows = len(confidence)
    run = make_answer_run(
        {
            "confidence": list(confidence),
            "verbal_confidence": [0.5] * rows,
            "correct": [at % 2 == 0 for at in range(rows)],
        }
    )
    return [each for each in survey_methods(run).usable.values() if isinstance(each, AnswerEvidence)]


def test_cells_become_entries() -> None:
    result = compare_methods({"a": evidences_of(*[1.0, 0.0] * 30), "b": evidences_of(*[0.5, 0.5] * 30)})
    table = ece_brier_table(result, {"a": ("quiz", "red"), "b": ("quiz", "green")})
    assert table.cells["a", "given"] == EceBrierCell(
        "0.0000",
        "0.0000",
        best_ece=True,
        best_brier=True,
        warning=result.cells["a", "given"].warning,
        small_print="accuracy 50.0 %",
    )
    assert table.column_notes == {"a": "n 60", "b": "n 60"}
    assert table.row_notes["given"] == "scored on the greedy answer"
    assert list(table.rows.values()) == ["confidence in the file", "stated confidence"]
    assert table.notes[0].startswith("quiz · red, ")
    assert len(table.notes) == 4


def test_runs_of_one_data_set_are_shown_side_by_side() -> None:
    result = compare_methods({key: evidences_of(1.0, 0.0) for key in "abc"})
    names = {"a": ("quiz", "red"), "b": ("sums", "red"), "c": ("quiz", "green")}
    assert list(ece_brier_table(result, names).columns) == ["a", "c", "b"]


def test_a_run_without_a_cell_has_no_column() -> None:
    result = compare_methods({"a": evidences_of(1.0, 0.0), "b": []})
    assert list(ece_brier_table(result, {"a": ("", "red"), "b": ("", "green")}).columns) == ["a"]


def test_the_papers_own() -> None:
    table = published_ece_brier_table("GSM8K")
    assert list(table.rows.values()) == [
        "logit w/ Path",
        "logit w/ Answer",
        "p(True)",
        "self-consistency, F_CN",
        "self-consistency, F_CS",
        "self-consistency, F_PC",
    ]
    assert table.cells["Mistral-7B", "logit_path"] == EceBrierCell("0.394", "0.399")
    assert table.cells["Mixtral-8x7B", "p_true"] == EceBrierCell("0.070", "0.201")
    assert [names for _, names in table.columns.values()] == [
        "Mistral-7B",
        "Mistral-7B-Inst",
        "Mixtral-8x7B",
        "Mixtral-8x7B-Inst",
    ]
    assert len(table.cells) == len(published_ece_brier_table("MathQA").cells) == 24


def test_many_runs_stand_below_one_another() -> None:
    names = "abcdefg"
    made = compare_methods({name: evidences_of(1.0, 0.0) for name in names})
    table = ece_brier_table(made, {name: ("quiz", name.upper()) for name in names})
    assert table.row_heading == "Run"
    assert list(table.rows.values()) == [name.upper() for name in names]
    assert {*table.columns.values()} == {("", "confidence in the file"), ("", "stated confidence")}
    assert table.cells["given", "c"].ece == "0.0000"
    assert (table.column_notes["given"], table.row_notes["c"]) == ("scored on the greedy answer", "n 2")
    assert ece_brier_frame(table).columns[0] == "Run"
    assert {"confidence in the file: ECE", "confidence in the file: Brier"} <= {
        *ece_brier_frame(table).columns
    }
    beside = ece_brier_table(
        compare_methods({name: evidences_of(1.0, 0.0) for name in names[:6]}),
        {name: ("quiz", name.upper()) for name in names[:6]},
    )
    assert beside.row_heading == "Method"
    assert runs_as_rows(replace(made, methods=tuple(METHODS)[:6]))
    assert not runs_as_rows(replace(made, methods=tuple(METHODS)[:7]))  # no more runs than methods
    few = compare_methods({name: evidences_of(1.0, 0.0) for name in names[:6]})
    called = {name: ("", name) for name in names}
    assert methods_tiles(made, called)[0].help == "Columns of the table; the rows are runs."
    assert methods_tiles(few, called)[0].help == "Rows of the table; the columns are runs."


def test_what_differs_between_the_numbers_of_a_run_stands_below_each() -> None:
    two, three = evidences_of(1.0, 0.0), evidences_of(0.5, 0.5, 0.5)
    table = ece_brier_table(
        compare_methods({"a": [two[0], three[1]], "b": two}, row_choice="own"),
        {"a": ("quiz", "red"), "b": ("quiz", "green")},
    )
    assert table.column_notes == {"b": "n 2"}
    assert table.cells["a", three[1].method.id].small_print == "accuracy 66.7 %, n 3"
    assert table.cells["b", three[1].method.id].small_print == "accuracy 50.0 %"
