"""HELM runs: joint and separate choices, trials, perturbed copies, and 0.0 as "not recorded"."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import BadRowsFound, Refused
from calib_core.inference.clusters import repeated_question_keys
from calib_core.readers.folder import list_files
from calib_core.readers.format import Reading, ReadOptions
from calib_core.readers.helm import instances
from calib_core.results.files import check_file, usable_runs
from calib_core.runs import ReportedMetric
from core.readers.answer_run_checks import answer_runs
from core.readers.server_logs import confidences, only_run, outcomes

REFERENCES = ["red", "blue", "green"]
LETTERS = dict(zip("ABC", REFERENCES, strict=True))
RUN_SPEC = {
    "name": "mmlu:subject=law,method=multiple_choice_joint,model=a_b",
    "adapter_spec": {"method": "multiple_choice_joint", "model": "a/b", "max_train_instances": 5},
}


Json = dict[str, Any]


def instance(id_: str, right: int = 0, *, perturbation: str | None = None, split: str = "test") -> Json:
    references = [
        {"output": {"text": text}, "tags": ["correct"] if at == right else []}
        for at, text in enumerate(REFERENCES)
    ]
    more = {} if perturbation is None else {"perturbation": {"name": perturbation}}
    question = {"text": f"Question {id_}?"}
    return {"id": id_, "input": question, "references": references, "split": split, **more}


def completion(text: str, *logprobs: float) -> Json:
    tokens = [{"text": text, "logprob": value} for value in logprobs]
    return {"text": text, "logprob": math.fsum(logprobs), "tokens": tokens}


def request_state(id_: str, *completions: Json, trial: int = 0, right: int = 0, **more: Any) -> Json:
    return {
        "instance": instance(id_, right, **more),
        "train_trial_index": trial,
        "output_mapping": LETTERS,
        "result": {"success": True, "completions": list(completions)},
        "num_train_instances": 5,
    }


def stat(id_: str, trial: int = 0, split: str = "test", **means: float) -> dict[str, Any]:
    stats = [{"name": {"name": name, "split": split}, "mean": mean} for name, mean in means.items()]
    return {"instance_id": id_, "train_trial_index": trial, "stats": stats}


def write(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def read_states(folder: Path, *states: dict[str, Any], method: str = "multiple_choice_joint") -> Reading:
    adapter = {"method": method, "model": "a/b", "max_train_instances": 5, "temperature": 0.0}
    return readers.read(
        write(folder, "scenario_state.json", {"adapter_spec": adapter, "request_states": list(states)})
    )


def test_a_joint_answer_is_given_with_the_probability_of_what_was_generated(tmp_path: Path) -> None:
    write(tmp_path, "run_spec.json", RUN_SPEC)
    first = request_state("id0", completion(" A", math.log(0.8)))
    run = only_run(read_states(tmp_path, first, request_state("id1", completion(" C", math.log(0.4)))))
    assert (run.format, run.label) == ("helm", "a/b · mmlu · 5-shot")
    assert run.rows["prediction"].to_list() == ["red", "green"]
    assert run.rows["subject"].to_list() == ["law", "law"]
    assert run.rows["choices"].to_list()[0] == REFERENCES
    assert confidences(run, "given") == pytest.approx([0.8, 0.4])
    assert outcomes(run, "given") == [True, False]
    assert not run.has_columns("choice_logprobs")


def test_the_likeliest_of_several_completions_is_judged_and_all_are_samples(tmp_path: Path) -> None:
    given = [completion(text, math.log(prob)) for text, prob in ((" B", 0.2), (" A", 0.5), (" A", 0.3))]
    run = only_run(read_states(tmp_path, request_state("id0", *given)))
    assert run.rows["prediction"].to_list() == ["red"]
    assert run.rows["samples"].to_list() == [["blue", "red", "red"]]
    assert confidences(run, "given") == pytest.approx([0.5])
    assert confidences(run, "cluster_size") == pytest.approx([2 / 3])


def test_a_completion_without_a_log_probability_is_not_taken_for_the_likeliest(tmp_path: Path) -> None:
    unknown = {**completion(" B"), "logprob": None}
    run = only_run(read_states(tmp_path, request_state("id0", unknown, completion(" A", math.log(0.5)))))
    assert run.rows["prediction"].to_list() == ["red"]


def test_choices_asked_one_by_one_are_summed_over_their_own_tokens(tmp_path: Path) -> None:
    def asked(at: int, tokens: list[tuple[str, float]], **more: Any) -> dict[str, Any]:
        given = [{"text": text, "logprob": math.log(prob)} for text, prob in tokens]
        return {
            "instance": instance("id0", 1),
            "reference_index": at,
            "train_trial_index": 0,
            **more,
            "result": {"success": True, "completions": [{"text": "", "logprob": -9.0, "tokens": given}]},
        }

    states = [
        asked(0, [("?", 0.3), (" red", 0.2)]),
        asked(1, [("?", 0.3), (" bl", 0.5), ("ue", 0.8)]),
        asked(2, [("?", 0.3), (" green", 0.1)]),
    ]
    run = only_run(read_states(tmp_path, *states, method="multiple_choice_separate_original"))
    assert run.rows["choice_token_counts"].to_list() == [[1, 2, 1]]
    assert confidences(run, "choice_softmax") == pytest.approx([0.4 / 0.7])
    assert outcomes(run, "choice_softmax") == [True]
    assert confidences(run, "choice_length_normalised") == pytest.approx([0.4**0.5 / (0.3 + 0.4**0.5)])
    without = [
        asked(at, [(text, prob)], request_mode="calibration")
        for at, (text, prob) in enumerate([(" red", 0.1), (" blue", 0.8), (" green", 0.1)])
    ]
    run = only_run(read_states(tmp_path, *states, *without, method="multiple_choice_separate_calibrated"))
    assert run.rows["choice_probs"].to_list()[0] == pytest.approx([2 / 3.5, 0.5 / 3.5, 1 / 3.5])
    assert outcomes(run, "choice_softmax") == [False]


def test_references_that_are_all_right_are_no_choices() -> None:
    asked = instance("id0")
    for reference in asked["references"]:
        reference["tags"] = ["correct"]
    assert instances._question_fields(asked) == {"question": "Question id0?", "gold_all": REFERENCES}
    asked["references"][2]["tags"] = []
    assert instances._question_fields(asked)["choices"] == REFERENCES


def test_choices_that_the_question_makes_hardly_possible_are_still_weighed() -> None:
    shares = instances._calibrated_probs([-1000.0, math.log(3) - 1000.0, None], [0.0, 0.0, None])
    assert shares is None
    shares = instances._calibrated_probs([-1000.0, math.log(3) - 1000.0], [0.0, 0.0])
    assert shares == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("wrong", [math.nan, 0.5, "high"])
def test_an_invalid_log_probability_of_a_choice_is_a_bad_row(tmp_path: Path, wrong: object) -> None:
    def asked(id_: str, at: int, logprob: object) -> dict[str, Any]:
        tokens = [{"text": f" {REFERENCES[at]}", "logprob": logprob}]
        return {
            "instance": instance(id_, 1),
            "reference_index": at,
            "train_trial_index": 0,
            "result": {"success": True, "completions": [{"text": "", "logprob": -9.0, "tokens": tokens}]},
        }

    states = [asked("id0", at, -1.0 - at) for at in range(3)]
    states += [asked("id1", at, wrong if at == 1 else -1.0) for at in range(3)]
    reading = read_states(tmp_path, *states, method="multiple_choice_separate_original")
    assert [(cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells] == [
        (2, "logprob")
    ]


def test_perturbed_copies_and_other_splits_are_runs_of_their_own(tmp_path: Path) -> None:
    states = [
        request_state("id0", completion(" A", -0.5)),
        request_state("id0", completion(" B", -0.5), perturbation="typos"),
        request_state("id1", completion(" B", -0.5), split="valid"),
    ]
    reading = read_states(tmp_path, *states)
    runs = answer_runs(reading.good_runs)
    assert [run.rows.height for run in runs] == [1, 1, 1]
    named = [None, "questions (perturbed: typos)", "questions (split valid)"]
    assert [run.info.dataset for run in runs] == named
    assert sum("a separate run" in note for note in reading.notes) == 2


def test_trials_repeat_questions_and_are_counted_apart(tmp_path: Path) -> None:
    reading = read_states(
        tmp_path, *(request_state("id0", completion(" A", -0.5 - trial), trial=trial) for trial in range(2))
    )
    run = only_run(reading)
    assert run.rows["id"].to_list() == ["id0", "id0 (trial 1)"]
    assert run.rows["trial_of"].to_list() == ["id0", "id0"]
    named = repeated_question_keys(run)
    assert named is not None
    assert named.n_unique() == 1
    assert any("Questions occur 2 times" in note for note in reading.notes)
    assert any("an interval takes all rows of a question together" in note for note in reading.notes)


def test_a_single_trial_is_not_a_trial(tmp_path: Path) -> None:
    states = [request_state(f"id{at}", completion(" A", -0.5)) for at in range(2)]
    reading = read_states(tmp_path, *states)
    assert not only_run(reading).has_columns("trial_of")
    assert not any("train_trial_index" in note for note in reading.notes)


def test_only_zeros_count_as_not_recorded_and_are_refused_with_rows_and_accuracy(tmp_path: Path) -> None:
    states = [request_state(f"id{at}", completion(" A", 0.0), right=at % 2) for at in range(4)]
    report = check_file(read_states(tmp_path, *states))
    assert report.status == "refused"
    said = ("scenario_state.json: read as helm, 4 rows", "0.5000", "logprob is exactly 0.0 in every row")
    assert [part for part in said if part not in report.message] == []


def test_a_single_zero_is_a_bad_row(tmp_path: Path) -> None:
    reading = read_states(
        tmp_path, request_state("id0", completion(" A", -1.0)), request_state("id1", completion(" A", 0.0))
    )
    with pytest.raises(BadRowsFound, match=r"row 2, column 'logprob'.*found '0.0'"):
        usable_runs(reading)
    assert confidences(only_run(reading), "given") == pytest.approx([math.exp(-1)])


def test_samples_without_log_probabilities_are_still_samples(tmp_path: Path) -> None:
    reading = read_states(
        tmp_path, request_state("id0", completion(" A", 0.0), completion(" B", 0.0), right=0)
    )
    assert check_file(reading).status == "loads"
    assert "not recorded" in " ".join(reading.notes)


def test_a_request_that_failed_is_missing(tmp_path: Path) -> None:
    failed = {**request_state("id1"), "result": {"success": False, "completions": []}}
    run = only_run(read_states(tmp_path, request_state("id0", completion(" A", -1.0)), failed))
    assert run.rows["status"].to_list() == [None, "error"]
    assert len(confidences(run, "given")) == 1


def test_statistics_give_only_the_metric_and_a_tie_is_not_an_outcome(tmp_path: Path) -> None:
    stats = [
        stat("id0", exact_match=1.0, quasi_exact_match=1.0, logprob=-0.5, max_prob=math.exp(-0.5)),
        stat("id1", exact_match=0.5, quasi_exact_match=1.0, logprob=-0.5, max_prob=math.exp(-0.5)),
        stat("id2", exact_match=0.0, quasi_exact_match=1.0, logprob=-0.5, max_prob=math.exp(-0.5)),
    ]
    path = write(tmp_path, "per_instance_stats.json", stats)
    reading = readers.read(path)
    assert only_run(reading).rows["correct"].to_list() == [True, None, False]
    assert any("lies between 0 and 1" in note for note in reading.notes)
    other = readers.read(path, options=ReadOptions({"quasi_exact_match": "correct"}))
    assert only_run(other).rows["correct"].to_list() == [True, True, True]


def test_the_states_take_outcomes_and_the_figure_from_the_files_beside(tmp_path: Path) -> None:
    write(tmp_path, "run_spec.json", RUN_SPEC)
    write(tmp_path, "per_instance_stats.json", [stat("id0", exact_match=1.0), stat("id1", exact_match=0.0)])
    whole = {"name": {"name": "exact_match", "split": "test"}, "mean": 0.5, "count": 1}
    write(tmp_path, "stats.json", [whole])
    states = [request_state("id0", completion(" B", -0.5)), request_state("id1", completion(" A", -0.5))]
    run = only_run(read_states(tmp_path, *states))
    assert run.rows["correct"].to_list() == [True, False]  # by the statistics, against the references
    assert run.reported_metrics == (ReportedMetric("exact_match", 0.5, 2, ""),)


def test_a_run_is_listed_once_and_each_of_its_files_can_be_read(tmp_path: Path) -> None:
    write(tmp_path, "run_spec.json", RUN_SPEC)
    told = stat("id0", exact_match=1.0, logprob=-1.0, max_prob=0.4)
    stats = write(tmp_path, "per_instance_stats.json", [told])
    write(tmp_path, "stats.json", [])
    assert [path.name for path in list_files(tmp_path)] == ["per_instance_stats.json"]
    read_states(tmp_path, request_state("id0", completion(" A", -1.0)))
    assert [path.name for path in list_files(tmp_path)] == ["scenario_state.json"]
    assert confidences(only_run(readers.read(stats)), "given") == [0.4]


def test_damaged_files_beside_are_passed_over(tmp_path: Path) -> None:
    for name in ("run_spec.json", "per_instance_stats.json", "stats.json"):
        (tmp_path / name).write_text("{half")
    assert only_run(read_states(tmp_path, request_state("id0", completion(" A", -1.0)))).rows.height == 1


def test_a_file_that_is_none_of_helm_says_what_was_expected_and_found(tmp_path: Path) -> None:
    table = tmp_path / "quiz.csv"
    table.write_text("id,confidence,correct\na,0.5,1\n")
    with pytest.raises(Refused) as refused:
        readers.read(table, format="helm")
    assert str(refused.value) == (
        "quiz.csv cannot be read as HELM run (scenario_state.json, per_instance_stats.json): expected "
        "JSON lines, a JSON list or a JSON object with request_states, or instance_id with stats, found "
        "text such as CSV. Leave --format out."
    )
    lines = tmp_path / "quiz.jsonl"
    lines.write_text('{"id": "a", "confidence": 0.5, "correct": 1}\n')
    with pytest.raises(Refused, match="found records with 'id', 'confidence', 'correct'"):
        readers.read(lines, format="helm")
