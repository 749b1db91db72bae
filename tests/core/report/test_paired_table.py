"""Does the table of ECE and Brier hold the cells of the result, and the paper's as printed?"""

from __future__ import annotations

from calib_core.analysis.evidence import AnswerEvidence, survey
from calib_core.analysis.methods_table import methods_table
from calib_core.report.paired_table import Entry, of_paper, of_runs
from core.made_runs import made_run


def seen(*confidence: float) -> list[AnswerEvidence]:
    rows = len(confidence)
    run = made_run({
        "confidence": list(confidence), "verbal_confidence": [0.5] * rows,
        "correct": [at % 2 == 0 for at in range(rows)],
    })
    return [each for each in survey(run).usable.values() if isinstance(each, AnswerEvidence)]


def test_cells_become_entries() -> None:
    result = methods_table({"a": seen(1.0, 0.0), "b": seen(0.5, 0.5)})
    table = of_runs(result, {"a": ("quiz", "red"), "b": ("quiz", "green")})
    assert table.entries["a", "given"] == Entry(
        "0.0000", "0.0000", best_ece=True, best_brier=True, flag=result.cells["a", "given"].warning,
        below="50.0 % right, n 2, greedy",
    )
    assert list(table.rows.values()) == ["confidence in the file", "stated confidence"]
    assert table.notes[0].startswith("quiz · red, ")
    assert len(table.notes) == 4


def test_runs_of_one_data_set_stand_side_by_side() -> None:
    result = methods_table({key: seen(1.0, 0.0) for key in "abc"})
    names = {"a": ("quiz", "red"), "b": ("sums", "red"), "c": ("quiz", "green")}
    assert list(of_runs(result, names).columns) == ["a", "c", "b"]


def test_a_run_without_a_cell_has_no_column() -> None:
    result = methods_table({"a": seen(1.0, 0.0), "b": []})
    assert list(of_runs(result, {"a": ("", "red"), "b": ("", "green")}).columns) == ["a"]


def test_the_papers_own() -> None:
    table = of_paper("GSM8K")
    assert list(table.rows.values()) == [
        "logit w/ Path", "logit w/ Answer", "p(True)", "self-consistency, F_CN", "self-consistency, F_CS",
        "self-consistency, F_PC",
    ]
    assert table.entries["Mistral-7B", "logit_path"] == Entry(".394", ".399")
    assert table.entries["Mixtral-8x7B", "p_true"] == Entry(".070", ".201")
    assert [names for _, names in table.columns.values()] == [
        "Mistral-7B", "Mistral-7B-Inst", "Mixtral-8x7B", "Mixtral-8x7B-Inst",
    ]
    assert len(table.entries) == len(of_paper("MathQA").entries) == 24
