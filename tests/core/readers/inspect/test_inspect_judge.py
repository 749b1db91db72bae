"""A model's grades beside a person's in an Inspect log become a judge and people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from calib_core.results.files import check_file
from calib_core.results.judge import judge_result
from core.readers.inspect_logs import log_of, parse, read_json_log, run_of, sample
from fixture_files import FIXTURES, expected


def test_a_log_that_the_tool_wrote() -> None:
    path = FIXTURES / "inspect/v0.3.285/judged.eval"
    reading = parse(path)
    report = check_file(reading)
    assert report.status == "loads"
    run = run_of(reading)
    pairs = zip(run.rows["judge"].fill_null("-"), run.rows["human"].fill_null("-"), strict=True)
    assert Counter("".join(pair) for pair in pairs) == expected("inspect/v0.3.285/judged")["judge_and_human"]
    result = judge_result(run)
    assert result.agreement.n_labelled == 9
    assert result.labels.passing_names == ("C",)
    (note,) = (note for note in reading.notes if "judge" in note)
    assert note == "Grades of model_graded_qa are labels of a judge, those of human_grade labels of people."


def graded(id_: str, **grades: str) -> dict[str, object]:
    """A sample with the grades of several scorers."""
    return sample(id_, scores={name: {"value": value} for name, value in grades.items()})


def test_several_people_keep_the_names_of_their_scorers(tmp_path: Path) -> None:
    log = log_of([graded(str(at), model_graded_fact="C", rater_1="P", rater_2="I") for at in range(3)])
    run = run_of(read_json_log(tmp_path, log))
    assert run.rows.select("judge", "human.rater_1", "human.rater_2").unique().rows() == [("C", "P", "I")]


def test_grades_of_a_model_alone_are_an_outcome(tmp_path: Path) -> None:
    log = log_of([graded(str(at), model_graded_qa="C", match="I") for at in range(3)])
    run = run_of(read_json_log(tmp_path, log))
    assert "judge" not in run.rows.columns
    assert run.rows["correct"].to_list() == [True] * 3
