"""The report on a file: usable rows, reasons, spikes, refusals and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from calib_core.errors import MAX_MESSAGE_CHARS, BadCell, BadRowsFound, Problem, Refused
from calib_core.methods import METHODS
from calib_core.readers.format import Candidate, Reading
from calib_core.results.files import SPIKE_ROWS, ConfidenceSpike, check_file, run_report, usable_runs
from calib_core.runs import AnswerRun
from core.run_builders import Columns, make_answer_run
from core.token_run_builders import dense_evidence, random_rows

pytestmark = pytest.mark.usefixtures("for_command_line")

BAD = Problem(
    "out of range", 2, (BadCell("quiz.csv", 3, 4, "confidence", "a number from 0 to 1", "1.2", "Mend it."),)
)


def reading(
    *runs: AnswerRun, bad: tuple[Problem, ...] = (), proposals: Mapping[str, str] = MappingProxyType({})
) -> Reading:
    bad_rows = sum(problem.count for problem in bad)
    return Reading(
        file="quiz.csv",
        format="table",
        n_rows=sum(run.rows.height for run in runs) + bad_rows,
        n_bad_rows=bad_rows,
        problems=bad,
        good_runs=runs,
        columns=("confidence", "note"),
        unused_columns=("note",),
        candidates=tuple(Candidate({column: name}, "said", "its name") for column, name in proposals.items()),
    )


GOOD: Columns = {"confidence": [0.9, None, 0.7], "correct": [True, False, None]}
NOTHING: Columns = {"prediction": ["4", "5", "6", "7"], "gold": ["4", "5", "6", "8"]}


def test_a_file_that_loads() -> None:
    report = check_file(reading(make_answer_run(GOOD)))
    assert (report.status, report.n_rows, report.n_bad_rows) == ("loads", 3, 0)
    assert report.message == "quiz.csv: 3 rows, 1 run, read as table."
    (run,) = report.runs
    assert run.usable == {"given": 1}
    assert sum(run.missing["given"].values()) == 2
    assert set(run.survey.unavailable) == set(METHODS) - {"given"}
    assert run.accuracy == 0.5
    assert run.judged == "greedy answer"


def test_a_run_of_tokens_has_the_accuracy_of_its_top_label() -> None:
    report = run_report(dense_evidence(*random_rows(40, 3)).run)
    assert report.accuracy is not None
    assert report.judged == "top label"


def test_a_file_with_bad_rows_needs_a_decision() -> None:
    asked = reading(make_answer_run(GOOD, left_out=2), bad=(BAD,))
    report = check_file(asked)
    assert (report.status, report.n_bad_rows, report.problems) == ("asks", 2, (BAD,))
    assert report.message == "quiz.csv: 5 rows, 2 bad rows, 1 run, read as table."
    with pytest.raises(BadRowsFound, match="2 of 5 rows are bad"):
        usable_runs(asked)
    assert usable_runs(asked, skip_bad_rows=True) == asked.good_runs


@pytest.mark.parametrize("bad", [(), (BAD,)])
def test_an_unusable_file_is_refused_with_its_own_message(bad: tuple[Problem, ...]) -> None:
    told = reading(make_answer_run(NOTHING), bad=bad, proposals={"conf_level": "confidence"})
    report = check_file(told)
    assert report.status == "refused"
    for part in (
        "quiz.csv: read as table",
        "rows, but no row has both a confidence and an outcome, so Calib cannot use this file.",
        "Accuracy where outcomes are known: 0.7500 (3 of 4).",
        "no column confidence",
        "\n- nor a column that another method needs: choice_logprobs, choice_logits, choice_probs, ",
        "samples, samples_parsed, sample_cluster, verbal_confidence or event_prob",
    ):
        assert part in report.message
    for skip_bad_rows in (False, True):
        with pytest.raises(Refused) as refusal:
            usable_runs(told, skip_bad_rows=skip_bad_rows)
        assert str(refusal.value) == f"{report.message}\n{report.advice}"
        assert "--map conf_level=confidence" in report.advice


def test_a_file_that_could_be_read_and_not_used_keeps_what_was_read() -> None:
    refused = replace(reading(bad=(BAD,), proposals={"conf": "confidence"}), refusal="quiz.csv: all are bad.")
    report = check_file(refused)
    assert (report.status, report.message, report.runs) == ("refused", "quiz.csv: all are bad.", ())
    assert (report.format, report.n_rows, report.problems) == ("table", 2, (BAD,))
    assert dict(report.proposed_mapping) == {"conf": "confidence"}
    message = r"^quiz.csv: all are bad.\n'conf' is not used: by its name, it is the confidence, but"
    with pytest.raises(Refused, match=message):
        usable_runs(refused, skip_bad_rows=True)


def test_no_message_is_longer_than_it_may_be() -> None:
    assert len(check_file(replace(reading(), refusal="x" * 5000)).message) == MAX_MESSAGE_CHARS


def test_the_notes_of_a_reading_are_in_the_message() -> None:
    noted = replace(reading(make_answer_run(GOOD)), notes=("All 2 rows of b are bad: the run is left out.",))
    assert check_file(noted).message.endswith("read as table. All 2 rows of b are bad: the run is left out.")


def test_what_was_read_and_noted_is_in_the_report() -> None:
    report = check_file(replace(reading(), column_roles={"conf": "confidence"}, notes=("Something.",)))
    assert report.column_roles == {"conf": "confidence"}
    assert report.notes == ("Something.",)


def test_every_reason_is_reported_once() -> None:
    message = check_file(reading(make_answer_run(NOTHING), make_answer_run(NOTHING))).message
    reasons = [line for line in message.splitlines() if line.startswith("- ")]
    assert len(reasons) == len(set(reasons)) == 2
    assert message.count("no column") == 1


def test_columns_that_no_method_finds_are_listed_once() -> None:
    """A method whose column is there keeps its own reason."""
    message = check_file(reading(make_answer_run({"confidence": [0.5, 0.6]}))).message
    outcome, first, *others = [line for line in message.splitlines() if line.startswith("- ")]
    assert "no gold and no outcome" in outcome
    assert first.startswith("- no column choice_logprobs, choice_logits or choice_probs: a number")
    assert len(others) == 1
    assert others[0].startswith("- nor a column that another method needs: path_logprobs, path_mean_prob, ")


def test_without_outcomes_no_accuracy_is_mentioned() -> None:
    report = check_file(reading(make_answer_run({"confidence": [0.5, 0.6]})))
    assert report.status == "refused"
    assert "Accuracy" not in report.message


def test_one_usable_run_is_enough() -> None:
    runs = (make_answer_run(NOTHING, label="a"), make_answer_run(GOOD, label="b"))
    report = check_file(reading(*runs))
    assert report.status == "loads"
    assert [run.usable for run in report.runs] == [{}, {"given": 1}]
    assert report.message == "quiz.csv: 7 rows, 2 runs, read as table."
    assert usable_runs(reading(*runs)) == runs


def test_spikes_are_many_rows_at_one_value() -> None:
    values = [1.0] * 40 + [0.0] * SPIKE_ROWS + [k / 1000 for k in range(1, 61)]
    (run,) = check_file(
        reading(make_answer_run({"confidence": values, "correct": [True] * len(values)}))
    ).runs
    assert run.spikes == {"given": (ConfidenceSpike(1.0, 40), ConfidenceSpike(0.0, SPIKE_ROWS))}


@pytest.mark.parametrize("rows", [SPIKE_ROWS - 1, 11 * SPIKE_ROWS])
def test_few_rows_or_a_small_share_are_not_a_spike(rows: int) -> None:
    values = [0.5] * min(SPIKE_ROWS, rows) + [k / 1000 for k in range(1, rows - SPIKE_ROWS + 1)]
    (run,) = check_file(
        reading(make_answer_run({"confidence": values, "correct": [True] * len(values)}))
    ).runs
    assert run.spikes == {}


def test_self_consistency_has_few_values_by_construction() -> None:
    run = make_answer_run({"samples": [["4", "4"]] * 50, "gold": ["4"] * 50})
    (report,) = check_file(reading(run)).runs
    assert set(report.usable) == {"cluster_number", "cluster_size", "pairwise"}
    assert report.spikes == {}


def test_frame_has_one_row_per_run_and_method() -> None:
    frame = check_file(
        reading(make_answer_run(GOOD, left_out=2, label="a"), make_answer_run(NOTHING, label="b"), bad=(BAD,))
    ).to_frame()
    assert frame.height == 2 * len(METHODS)
    given = frame.filter((frame["run"] == "a") & (frame["method"] == "given")).row(0, named=True)
    assert (given["used"], given["missing"], given["left_out"], given["reason"]) == (1, 2, 2, None)
    refused = frame.filter((frame["run"] == "b") & (frame["method"] == "given")).row(0, named=True)
    assert refused["used"] == 0
    assert refused["reason"]
    assert check_file(reading()).to_frame().schema == frame.schema
