"""Generated answers and their filters: one question each, samples, and no false outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.readers.format import Reading, ReadOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun
from core.readers.lm_eval_logs import text_record, write_log


def only_run(reading: Reading) -> AnswerRun:
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    return run


def write(tmp_path: Path, *records: dict[str, Any]) -> Reading:
    return readers.read(write_log(tmp_path, "quiz", records))


def test_several_samples_and_their_filters_are_one_question(tmp_path: Path) -> None:
    texts = ["The answer is 4.", "The answer is 5.", "The answer is 4.", "I cannot tell."]
    records = [
        text_record(0, texts, "4", filtered, name=name, exact_match=score)
        for name, filtered, score in (("first", "4", 1.0), ("maj@4", "4", 1.0))
    ]
    reading = write(tmp_path, *records)
    run = only_run(reading)
    assert (reading.n_rows, run.rows.height, run.n_total) == (2, 1, 1)
    assert run.rows["samples"].to_list() == [texts]
    assert "correct" not in run.rows.columns
    assert gather_evidence(run, "cluster_size").confidences.pairs.confidence.tolist() == [0.5]
    assert "2 records are 1 documents by 2 filters (first, maj@4)" in " ".join(run.row_counts.notes)


def without_filter_name(doc_id: int, score: float) -> dict[str, Any]:
    record = text_record(doc_id, ["The answer is 4.", "The answer is 5."], "4", "4", exact_match=score)
    return {key: value for key, value in record.items() if key not in ("filter", "metrics", "doc_hash")}


def test_unnamed_filters_are_recognised_by_scores_or_equal_counts(tmp_path: Path) -> None:
    records = [without_filter_name(at, float(again and at)) for at in range(2) for again in range(2)]
    reading = write(tmp_path, *records)
    assert (reading.n_rows, reading.n_bad_rows, only_run(reading).n_total) == (4, 0, 2)


def test_a_repeated_document_is_a_bad_row(tmp_path: Path) -> None:
    reading = write(
        tmp_path, without_filter_name(0, 1.0), without_filter_name(1, 1.0), without_filter_name(0, 1.0)
    )
    assert (reading.n_rows, reading.n_bad_rows) == (3, 1)
    (cell,) = reading.problems[0].first_cells
    assert (cell.row, cell.column) == (3, "doc_id")


def test_a_filter_that_keeps_every_sample_parses_them(tmp_path: Path) -> None:
    run = only_run(write(tmp_path, text_record(0, ["4 it is", "so 5", "?"], "4", ["4", "5", "[invalid]"])))
    assert run.rows["samples_parsed"].to_list() == [["4", "5", None]]


def test_the_filter_that_judges_is_named_and_a_person_may_choose_another(tmp_path: Path) -> None:
    records = [
        text_record(at, [f"It is {at}."], str(at), answer, name=name, exact_match=score)
        for at in range(2)
        for name, answer, score in (("strict", "[invalid]", 0.0), ("flexible", str(at), 1.0))
    ]
    told = "Outcomes are exact_match by the filter {}. Another filter: --map exact_match,{}=correct"
    path = write_log(tmp_path, "quiz", records)
    first = only_run(readers.read(path))
    assert (first.rows["correct"].to_list(), "prediction" in first.rows.columns) == ([False, False], False)
    assert told.format("strict", "flexible") in first.row_counts.notes
    chosen = only_run(readers.read(path, options=ReadOptions({"exact_match,flexible": "correct"})))
    assert chosen.rows["correct"].to_list() == [True, True]
    assert chosen.rows["prediction"].to_list() == ["0", "1"]
    assert told.format("flexible", "strict") in chosen.row_counts.notes


def test_one_filter_needs_no_name(tmp_path: Path) -> None:
    run = only_run(write(tmp_path, text_record(0, ["4"], "4", "4", exact_match=1.0)))
    assert not [note for note in run.row_counts.notes if "filter" in note]


def test_copies_of_a_greedy_answer_are_not_samples(tmp_path: Path) -> None:
    settings = {"gen_args_0": {"arg_0": "Q", "arg_1": {"do_sample": False}}}
    reading = write(tmp_path, text_record(0, ["The answer is 4."] * 3, "4", "4", arguments=settings))
    run = only_run(reading)
    assert "samples" not in run.rows.columns or run.rows["samples"].null_count() == 1
    assert "copies" in " ".join(run.row_counts.notes)


def test_one_sampled_answer_has_no_greedy_outcome(tmp_path: Path) -> None:
    settings = {"gen_args_0": {"arg_0": "Q", "arg_1": {"do_sample": True, "temperature": 0.7}}}
    run = only_run(write(tmp_path, text_record(0, ["4"], "4", "4", arguments=settings, exact_match=1.0)))
    assert "correct" not in run.rows.columns
    assert run.info.temperature == 0.7


def test_letters_as_targets_of_generated_answers_are_choices(tmp_path: Path) -> None:
    texts = ["The answer is (B).", "Answer: B", "The answer is C"]
    run = only_run(write(tmp_path, text_record(0, texts, "B", "B")))
    pairs = gather_evidence(run, "cluster_size").confidences.pairs
    assert pairs.confidence.tolist() == pytest.approx([2 / 3])
    assert pairs.correct.tolist() == [True]


def test_a_log_of_greedy_answers_alone_is_refused_with_its_accuracy(tmp_path: Path) -> None:
    records = [text_record(at, ["no"], "4", "no", exact_match=float(at == 0)) for at in range(10)]
    report = check_file(write(tmp_path, *records))
    assert report.status == "refused"
    assert "10 rows" in report.message
    assert "1 of 10" in report.message
