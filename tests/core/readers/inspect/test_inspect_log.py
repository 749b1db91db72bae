"""Inspect logs become runs, whether the evaluation finished or not."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calib_core.errors import Refused
from calib_core.readers.inspect import reader
from calib_core.results.files import check_file
from core.readers.inspect_logs import (
    SURE,
    confidences,
    eval_log,
    letter_sample,
    log_of,
    members_of,
    output,
    parse,
    read_json_log,
    results,
    run_of,
    sample,
    token,
)


@pytest.mark.parametrize("method", [0, 8, 93])
def test_an_archive_and_one_object_give_the_same(tmp_path: Path, method: int) -> None:
    log = log_of(
        [letter_sample("a/1", SURE), letter_sample("b", {"B": 0.5, "A": 0.3, "C": 0.2})],
        task="t",
        model="org/m",
    )
    stored = run_of(parse(eval_log(tmp_path / "quiz.eval", log, method)))
    single = run_of(read_json_log(tmp_path, log))
    assert stored.format == single.format == "inspect"
    assert stored.rows.equals(single.rows)
    assert (stored.info.model, stored.info.dataset) == ("org/m", "t")
    assert stored.rows["id"].to_list() == ["a/1", "b"]
    assert confidences(stored, "choice_softmax") == [(0.842105, True), (0.5, False)]


def test_letters_are_merged_and_what_is_not_a_letter_is_left_aside(tmp_path: Path) -> None:
    run = run_of(read_json_log(tmp_path, log_of([letter_sample(1, SURE)])))
    logprobs = run.rows["choice_logprobs"][0].to_list()
    assert [round(math.exp(value), 6) for value in logprobs] == [0.8, 0.1, 0.05]
    assert round(run.rows["choice_other_mass"][0], 6) == 0.05
    assert run.rows["gold_index"].to_list() == [0]
    assert run.rows["gold"].to_list() == ["Rome"]


def test_a_letter_that_is_not_listed_is_not_known(tmp_path: Path) -> None:
    reading = read_json_log(
        tmp_path, log_of([letter_sample(1, {"A": 0.7, "B": 0.2, "C": -9999, "The": 0.04})])
    )
    run = run_of(reading)
    assert run.rows["choice_logprobs"][0].to_list()[2] is None
    assert round(math.exp(run.rows["choice_logprob_floor"][0]), 6) == 0.04
    assert "1 question (of 1) with a letter that is not among the listed tokens" in reading.notes[0]


def test_letters_have_no_length(tmp_path: Path) -> None:
    report = check_file(read_json_log(tmp_path, log_of([letter_sample(1, SURE)])))
    assert "choice_length_normalised" not in report.runs[0].usable


def test_the_path_is_all_tokens_and_the_answer_its_own(tmp_path: Path) -> None:
    run = run_of(read_json_log(tmp_path, log_of([letter_sample(1, SURE)])))
    assert confidences(run, "logit_path") == [(round((2 * math.exp(-0.1) + 0.7) / 3, 6), True)]
    assert confidences(run, "logit_answer") == [(0.7, True)]


def test_the_answers_of_all_epochs_are_samples_of_one_question(tmp_path: Path) -> None:
    answers = [("q", 1, "The answer is 4", "C"), ("r", 1, "5", "I"), ("q", 2, "The answer is 4", "C")]
    answers += [("r", 3, "5", "I"), ("q", 3, "The answer is 3", "I"), ("r", 2, "4", "C")]
    samples = [sample(id_, text, value, epoch=epoch) for id_, epoch, text, value in answers]
    run = {"config": {"epochs": 3}, "model_generate_config": {"temperature": 0.5}, "results": results(0.5)}
    log = log_of(samples, **run)
    for reading in (read_json_log(tmp_path, log), parse(eval_log(tmp_path / "quiz.eval", log))):
        assert reading.n_rows == 2
        assert reading.notes == ("6 samples of 2 questions, in 3 epochs.",)
        one = run_of(reading)
        assert one.info.path_of == "sample_0"
        assert one.rows["samples"].to_list()[1] == ["5", "4", "5"]
        assert confidences(one, "cluster_size") == [(0.666667, True), (0.666667, False)]
        assert one.reported_metrics[0].method is None
        assert "mean over all 3 answers" in one.reported_metrics[0].difference_reason


def test_at_temperature_0_epochs_are_copies_and_no_samples(tmp_path: Path) -> None:
    samples = [sample("q", epoch=epoch) for epoch in (1, 2)]
    reading = read_json_log(tmp_path, log_of(samples, model_generate_config={"temperature": 0.0}))
    assert "copies of one another" in " ".join(reading.notes)
    assert "samples" not in run_of(reading).rows.columns
    assert run_of(reading).rows["correct"].to_list() == [True]


def test_several_completions_are_samples_of_which_the_first_is_scored(tmp_path: Path) -> None:
    several = sample("q", output=output("3", "4", "4", "4"), value="I")
    log = log_of([several], model_generate_config={"temperature": 1.0}, results=results(0.0))
    run = run_of(read_json_log(tmp_path, log))
    assert run.rows["samples"][0].to_list() == ["3", "4", "4", "4"]
    assert run.rows["sample_correct"][0].to_list() == [False, None, None, None]
    assert confidences(run, "cluster_size") == [(0.75, True)]
    assert "first of several answers" in run.reported_metrics[0].difference_reason


def test_a_failed_epoch_is_not_a_sample_and_a_failed_question_is_missing(tmp_path: Path) -> None:
    failed = {"error": {"message": "timeout"}, "scores": {}, "output": output()}
    samples = [sample("q", epoch=1) | failed, sample("q", epoch=2), sample("r") | failed]
    reading = read_json_log(tmp_path, log_of(samples))
    run = run_of(reading)
    assert run.rows["status"].to_list() == [None, "error"]
    assert run.rows["samples"][0].to_list() == ["4"]
    assert "2 samples ended with an error: missing, neither right nor wrong." in reading.notes


def test_categories_sort_the_rows(tmp_path: Path) -> None:
    samples = [sample(i, metadata={"subject": "law", "level": "abc"[i % 3]}) for i in range(9)]
    run = run_of(read_json_log(tmp_path, log_of(samples)))
    assert run.rows["subject"].to_list() == ["law"] * 9
    assert run.group_columns["metadata.level"].to_list() == list("abc") * 3


def test_a_repeated_id_within_one_epoch_is_a_bad_row(tmp_path: Path) -> None:
    reading = read_json_log(tmp_path, log_of([sample("q"), sample("q", "5")]))
    assert (reading.n_rows, reading.n_bad_rows, reading.problems[0].kind) == (2, 1, "repeated id")


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ("started", "The run was not finished when this log was written: 1 of 3 questions are in it."),
        ("cancelled", "The run was cancelled: 1 of 3 questions are in it."),
        ("error", "The run ended with an error: 1 of 3 questions are in it."),
        ("success", "1 of 3 questions of the data set are in this log."),
    ],
)
def test_a_part_of_a_run_says_so(tmp_path: Path, status: str, note: str) -> None:
    reading = read_json_log(tmp_path, log_of([sample(1)], status, dataset={"samples": 3}))
    assert reading.notes == (note,)
    assert note in check_file(reading).message


def test_an_unfinished_run_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    members = members_of(log_of([letter_sample(1, SURE)], dataset={"samples": 2}))
    start = json.loads(members.pop("header.json"))
    del start["status"]
    path = eval_log(tmp_path / "quiz.eval", {"_journal/start.json": json.dumps(start).encode(), **members})
    reading = parse(path)
    assert confidences(run_of(reading), "choice_softmax") == [(0.842105, True)]
    assert reading.notes[0].startswith("The run was not finished when this log was written: 1 of 2")


def test_remarks_on_marked_samples(tmp_path: Path) -> None:
    marked = [sample(1, limit={"type": "token"}), sample(2, invalidation={"reason": "x"}), sample(3)]
    marked[2]["output"]["choices"][0]["stop_reason"] = "content_filter"
    log = log_of(marked, invalidated=True, results=results(2 / 3), model_generate_config={"temperature": 0.7})
    reading = read_json_log(tmp_path, log)
    text = " ".join(reading.notes)
    for part in (
        "marked as invalidated: somebody",
        "1 sample hit a limit",
        "temperature 0.7, and is taken",
        "1 sample marked as invalidated",
        "1 question stopped by a content filter",
    ):
        assert part in text
    assert run_of(reading).rows["status"].to_list() == [None, None, "refused"]
    assert "counted there, missing here" in run_of(reading).reported_metrics[0].difference_reason


def test_shots_are_those_a_task_or_a_step_was_given(tmp_path: Path) -> None:
    assert run_of(read_json_log(tmp_path, log_of([sample(1)], task_args={"fewshot": 5}))).info.shots == 5
    plan = {"steps": [{"solver": "generate", "params": {"num_fewshot": 2}}], "config": {"temperature": 0.25}}
    info = run_of(read_json_log(tmp_path, log_of([sample(1)], plan=plan))).info
    assert (info.shots, info.temperature) == (2, 0.25)


@pytest.mark.parametrize("samples", [None, []])
def test_a_log_without_samples_is_refused_with_its_status(tmp_path: Path, samples: list[Any] | None) -> None:
    with pytest.raises(Refused, match=r"^quiz.json is an Inspect log without samples.*: accuracy 0.4310"):
        read_json_log(tmp_path, log_of(samples, results=results(0.431)))


def test_tables_and_other_objects_are_not_logs(tmp_path: Path) -> None:
    path = tmp_path / "quiz.jsonl"
    path.write_text('{"eval": "x", "status": "ok", "samples": ["4", "5"], "gold": "4"}\n')
    assert parse(path).format == "table"
    with pytest.raises(Refused, match="is not an Inspect log"):
        parse(path, format="inspect")


def test_progress_is_reported_sample_by_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LOG_PROGRESS_SECONDS", 0)
    told: list[tuple[float, str]] = []
    log = log_of([letter_sample(number, SURE) for number in range(5)])
    parse(eval_log(tmp_path / "quiz.eval", log), progress=lambda share, text: told.append((share, text)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert [text for _, text in told if "samples" in text] == [f"{n} samples read" for n in range(1, 6)]


def test_tokens_of_a_reasoned_answer_are_remarked_on(tmp_path: Path) -> None:
    thought = letter_sample(1, SURE)
    content = thought["output"]["choices"][0]["logprobs"]["content"]
    content[:0] = [token("It"), token(" is"), token(" the"), token(" capital.\n")]
    thought["output"]["completion"] = "It is the capital.\nANSWER:A"
    assert "1 question with text before the answer" in read_json_log(tmp_path, log_of([thought])).notes[0]
