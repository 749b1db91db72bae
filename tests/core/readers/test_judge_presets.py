"""Exports of tools with a model's verdict beside people's are a judge beside people."""

from __future__ import annotations

from calib_core.results.files import check_file
from calib_core.results.judge_labels import judge_labels
from calib_core.runs import AnswerRun
from core.readers.test_presets import read


def run_of(name: str) -> AnswerRun:
    reading = read(name)
    assert check_file(reading).status == "loads"
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    return run


def test_a_rating_in_the_viewer_of_promptfoo_stands_beside_the_grade_of_a_model() -> None:
    run = run_of("promptfoo/rated.jsonl")
    assert run.rows.select("judge", "human").rows() == [("pass", "pass"), ("pass", "fail"), ("fail", None)]
    assert judge_labels(run).passing_names == ("pass",)


def test_what_no_model_graded_and_nobody_rated_has_no_judge() -> None:
    for run in read("promptfoo/capitals.jsonl").good_runs:
        assert isinstance(run, AnswerRun)
        assert not {"judge", "human"} & {*run.rows.columns}


def test_the_annotators_of_label_studio_are_people_and_its_first_prediction_the_judge() -> None:
    run = run_of("label_studio/tasks.json")
    assert run.rows["judge"].to_list() == ["good"] * 3
    assert run.rows["judge_score"].to_list() == [0.9, 0.4, 0.8]
    assert run.rows["human.3"].to_list() == ["good", "bad", None]
    assert run.rows["human.4"].to_list() == ["bad", None, None]
    assert judge_labels(run, ("good",)).people == ("3", "4")
