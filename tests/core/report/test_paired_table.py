"""Does the table of ECE and Brier hold the cells of the result, and the paper's as printed?"""

from __future__ import annotations

from calib_core.report.ece_brier_table import (
    EceBrierCell,
    ece_brier_frame,
    ece_brier_table,
    published_ece_brier_table,
)
from calib_core.report.sections.methods import methods_tiles
from calib_core.results.evidence import AnswerEvidence, survey_methods
from calib_core.results.methods_table import compare_methods
from core.made_runs import made_run


def seen(*confidence: float) -> list[AnswerEvidence]:
    rows = len(confidence)
    run = made_run(
        {
            "confidence": list(confidence),
            "verbal_confidence": [0.5] * rows,
            "correct": [at % 2 == 0 for at in range(rows)],
        }
    )
    return [each for each in survey_methods(run).usable.values() if isinstance(each, AnswerEvidence)]


def test_cells_become_entries() -> None:
    result = compare_methods({"a": seen(1.0, 0.0), "b": seen(0.5, 0.5)})
    table = ece_brier_table(result, {"a": ("quiz", "red"), "b": ("quiz", "green")})
    assert table.entries["a", "given"] == EceBrierCell(
        "0.0000",
        "0.0000",
        best_ece=True,
        best_brier=True,
        warning=result.cells["a", "given"].warning,
        small_print="accuracy 50.0 %",
    )
    assert table.column_notes == {"a": "n 2", "b": "n 2"}
    assert table.row_notes["given"] == "greedy judged"
    assert list(table.rows.values()) == ["confidence in the file", "stated confidence"]
    assert table.notes[0].startswith("quiz · red, ")
    assert len(table.notes) == 4


def test_runs_of_one_data_set_stand_side_by_side() -> None:
    result = compare_methods({key: seen(1.0, 0.0) for key in "abc"})
    names = {"a": ("quiz", "red"), "b": ("sums", "red"), "c": ("quiz", "green")}
    assert list(ece_brier_table(result, names).columns) == ["a", "c", "b"]


def test_a_run_without_a_cell_has_no_column() -> None:
    result = compare_methods({"a": seen(1.0, 0.0), "b": []})
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
    assert table.entries["Mistral-7B", "logit_path"] == EceBrierCell("0.394", "0.399")
    assert table.entries["Mixtral-8x7B", "p_true"] == EceBrierCell("0.070", "0.201")
    assert [names for _, names in table.columns.values()] == [
        "Mistral-7B",
        "Mistral-7B-Inst",
        "Mixtral-8x7B",
        "Mixtral-8x7B-Inst",
    ]
    assert len(table.entries) == len(published_ece_brier_table("MathQA").entries) == 24


def test_many_runs_stand_below_one_another() -> None:
    names = "abcdefg"
    made = compare_methods({name: seen(1.0, 0.0) for name in names})
    table = ece_brier_table(made, {name: ("quiz", name.upper()) for name in names})
    assert table.row_heading == "Run"
    assert list(table.rows.values()) == [name.upper() for name in names]
    assert {*table.columns.values()} == {("", "confidence in the file"), ("", "stated confidence")}
    assert table.entries["given", "c"].ece == "0.0000"
    assert (table.column_notes["given"], table.row_notes["c"]) == ("greedy judged", "n 2")
    assert ece_brier_frame(table).columns[0] == "Run"
    assert {"confidence in the file: ECE", "confidence in the file: Brier"} <= {
        *ece_brier_frame(table).columns
    }
    beside = ece_brier_table(
        compare_methods({name: seen(1.0, 0.0) for name in names[:6]}),
        {name: ("quiz", name.upper()) for name in names[:6]},
    )
    assert beside.row_heading == "Method"
    few = compare_methods({name: seen(1.0, 0.0) for name in names[:6]})
    called = {name: name for name in names}
    assert methods_tiles(made, called)[0].help == "Columns of the table; its rows are runs."
    assert methods_tiles(few, called)[0].help == "Rows of the table; its columns are runs."


def test_what_differs_between_the_numbers_of_a_run_stands_below_each() -> None:
    two, three = seen(1.0, 0.0), seen(0.5, 0.5, 0.5)
    table = ece_brier_table(
        compare_methods({"a": [two[0], three[1]], "b": two}, rows="own"),
        {"a": ("quiz", "red"), "b": ("quiz", "green")},
    )
    assert table.column_notes == {"b": "n 2"}
    assert table.entries["a", three[1].method.id].small_print == "accuracy 66.7 %, n 3"
    assert table.entries["b", three[1].method.id].small_print == "accuracy 50.0 %"
