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
from calib_core.views.view import EceBrierCell
from core.run_builders import make_answer_run


def evidences_of(*confidence: float, dataset: str | None = "quiz") -> list[AnswerEvidence]:
    rows = len(confidence)
    run = make_answer_run(
        {
            "confidence": list(confidence),
            "verbal_confidence": [0.5] * rows,
            "correct": [at % 2 == 0 for at in range(rows)],
        },
        dataset=dataset,
    )
    return [each for each in survey_methods(run).usable.values() if isinstance(each, AnswerEvidence)]


def test_cells_become_entries() -> None:
    result = compare_methods({"a": evidences_of(*[1.0, 0.0] * 30), "b": evidences_of(*[0.5, 0.5] * 30)})
    table = ece_brier_table(result, {"a": "red", "b": "green"})
    (block,) = table.blocks
    assert (block.title, block.columns) == ("quiz", {"a": "red", "b": "green"})
    assert block.cells["a", "given"] == EceBrierCell(
        "0.0000",
        "0.0000",
        best_ece=True,
        best_brier=True,
        warning=result.cells["a", "given"].warning,
    )
    assert block.column_notes == {"a": ("n 60", "50.0 % right"), "b": ("n 60", "50.0 % right")}
    assert list(block.rows.values()) == ["Confidence in the file", "Stated confidence"]
    assert table.notes[0].startswith("quiz · red, ")
    assert len(table.notes) == 4


def test_each_data_set_is_a_block_with_its_models_in_one_order() -> None:
    quiz, sums = evidences_of(1.0, 0.0), evidences_of(1.0, 0.0, dataset="sums")
    result = compare_methods({"a": quiz, "b": sums, "c": quiz, "d": sums})
    table = ece_brier_table(result, {"a": "red", "b": "green", "c": "green", "d": "red"})
    assert [(block.title, list(block.columns)) for block in table.blocks] == [
        ("quiz", ["a", "c"]),
        ("sums", ["d", "b"]),
    ]
    frame = ece_brier_frame(table)
    assert frame.columns[:3] == ["Data set", "Method", "red: ECE"]
    assert frame["Data set"].to_list() == ["quiz", "quiz", "sums", "sums"]


def test_methods_of_a_block_are_ordered_by_its_own_brier_scores() -> None:
    sure, stated = evidences_of(1.0, 0.0), evidences_of(0.0, 1.0, dataset="sums")
    result = compare_methods({"a": sure, "b": stated})
    table = ece_brier_table(result, {"a": "red", "b": "red"})
    assert [list(block.rows) for block in table.blocks] == [["given", "verbal"], ["verbal", "given"]]
    by_kind = ece_brier_table(result.ordered("method"), {"a": "red", "b": "red"})
    assert [list(block.rows) for block in by_kind.blocks] == [["verbal", "given"]] * 2


def test_a_run_without_a_cell_has_no_column() -> None:
    result = compare_methods({"a": evidences_of(1.0, 0.0), "b": []})
    (block,) = ece_brier_table(result, {"a": "red", "b": "green"}).blocks
    assert list(block.columns) == ["a"]


def test_the_papers_own() -> None:
    gsm, math = published_ece_brier_table().blocks
    assert (gsm.title, math.title) == ("GSM8K, 1,319 questions", "MathQA, 2,985 questions")
    assert list(gsm.rows.values()) == [
        "Logit w/ Path",
        "Logit w/ Answer",
        "p(True)",
        "Self-consistency, F_CN",
        "Self-consistency, F_CS",
        "Self-consistency, F_PC",
    ]
    assert gsm.cells["Mistral-7B", "logit_path"] == EceBrierCell("0.394", "0.399")
    assert gsm.cells["Mixtral-8x7B", "p_true"] == EceBrierCell("0.070", "0.201")
    assert (
        gsm.headings
        == math.headings
        == [
            "Mistral-7B",
            "Mistral-7B-Inst",
            "Mixtral-8x7B",
            "Mixtral-8x7B-Inst",
        ]
    )
    assert len(gsm.cells) == len(math.cells) == 24


def test_many_runs_stand_below_one_another() -> None:
    names = {name: name.upper() for name in "abcdefg"}
    made = compare_methods({name: evidences_of(1.0, 0.0) for name in names})
    table = ece_brier_table(made, names)
    (block,) = table.blocks
    assert table.row_heading == "Run"
    assert block.rows == names
    assert {*block.columns.values()} == {"Confidence in the file", "Stated confidence"}
    assert block.cells["given", "c"].ece == "0.0000"
    assert block.row_notes["c"] == ("n 2, 50.0 % right",)
    assert ece_brier_frame(table).columns[0] == "Run"
    assert {"Confidence in the file: ECE", "Confidence in the file: Brier"} <= {
        *ece_brier_frame(table).columns
    }
    few = compare_methods({name: evidences_of(1.0, 0.0) for name in "abcdef"})
    assert ece_brier_table(few, names).row_heading == "Method"
    two = compare_methods(
        {name: evidences_of(1.0, 0.0, dataset="quiz" if name < "e" else "sums") for name in names}
    )
    assert ece_brier_table(two, names).row_heading == "Method"  # no data set has too many
    assert runs_as_rows(replace(made, methods=tuple(METHODS)[:6]))
    assert not runs_as_rows(replace(made, methods=tuple(METHODS)[:7]))  # no more runs than methods


def test_rows_and_accuracies_that_differ_between_methods_are_a_range() -> None:
    two, three = evidences_of(1.0, 0.0), evidences_of(0.5, 0.5, 0.5)
    result = compare_methods({"a": [two[0], three[1]], "b": two}, row_choice="own")
    (block,) = ece_brier_table(result, {"a": "red", "b": "green"}).blocks
    assert block.column_notes == {"a": ("n 2–3", "50.0–66.7 % right"), "b": ("n 2", "50.0 % right")}
