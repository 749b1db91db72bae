"""What a file is and can give: usable rows, reasons, spikes, refusals and what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from calib_core.errors import MAX_MESSAGE_CHARS, BadCell, BadRowsFound, Problem, Refused
from calib_core.methods import METHODS
from calib_core.readers.format import Reading
from calib_core.results.files import SPIKE_ROWS, ConfidenceSpike, check_file, run_report, usable_runs
from calib_core.runs import AnswerRun
from core.made_runs import Columns, made_run
from core.made_tokens import dense_evidence, some_rows

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
        proposed_mapping=proposals,
    )


GOOD: Columns = {"confidence": [0.9, None, 0.7], "correct": [True, False, None]}
NOTHING: Columns = {"prediction": ["4", "5", "6", "7"], "gold": ["4", "5", "6", "8"]}


def test_a_file_that_loads() -> None:
    report = check_file(reading(made_run(GOOD)))
    assert (report.status, report.rows, report.bad_rows) == ("loads", 3, 0)
    assert report.message == "quiz.csv: 3 rows, 1 run, read as table."
    (run,) = report.runs
    assert run.usable == {"given": 1}
    assert sum(run.missing["given"].values()) == 2
    assert set(run.survey.unavailable) == set(METHODS) - {"given"}
    assert run.accuracy == 0.5
    assert run.judged == "greedy answer"


def test_a_run_of_tokens_has_the_accuracy_of_its_top_label() -> None:
    report = run_report(dense_evidence(*some_rows(40, 3)).run)
    assert report.accuracy is not None
    assert report.judged == "top label"


def test_a_file_with_bad_rows_asks() -> None:
    asked = reading(made_run(GOOD, left_out=2), bad=(BAD,))
    report = check_file(asked)
    assert (report.status, report.bad_rows, report.problems) == ("asks", 2, (BAD,))
    assert report.message == "quiz.csv: 5 rows, 2 bad rows, 1 run, read as table."
    with pytest.raises(BadRowsFound, match="2 of 5 rows are bad"):
        usable_runs(asked)
    assert usable_runs(asked, skip_bad_rows=True) == asked.good_runs


@pytest.mark.parametrize("bad", [(), (BAD,)])
def test_a_file_that_gives_nothing_is_refused_but_told_apart(bad: tuple[Problem, ...]) -> None:
    told = reading(made_run(NOTHING), bad=bad, proposals={"conf_level": "confidence"})
    report = check_file(told)
    assert report.status == "refused"
    for part in (
        "quiz.csv: read as table",
        "rows, but no confidence method has a usable row",
        "Accuracy where outcomes are known: 0.7500 (3 of 4).",
        "--map conf_level=confidence",
        "no column confidence",
        "no column samples",
    ):
        assert part in report.message
    for skip_bad_rows in (False, True):
        with pytest.raises(Refused) as refusal:
            usable_runs(told, skip_bad_rows=skip_bad_rows)
        assert str(refusal.value) == report.message


def test_a_file_that_could_be_read_and_not_used_keeps_what_was_read() -> None:
    refused = replace(reading(bad=(BAD,), proposals={"conf": "confidence"}), refusal="quiz.csv: all are bad.")
    report = check_file(refused)
    assert (report.status, report.message, report.runs) == ("refused", "quiz.csv: all are bad.", ())
    assert (report.format, report.rows, report.problems) == ("table", 2, (BAD,))
    assert dict(report.proposals) == {"conf": "confidence"}
    with pytest.raises(Refused, match=r"^quiz.csv: all are bad.$"):
        usable_runs(refused, skip_bad_rows=True)


def test_no_message_is_longer_than_it_may_be() -> None:
    assert len(check_file(replace(reading(), refusal="x" * 5000)).message) == MAX_MESSAGE_CHARS


def test_what_else_is_known_of_the_file_is_said() -> None:
    noted = replace(reading(made_run(GOOD)), notes=("All 2 rows of b are bad: the run is left out.",))
    assert check_file(noted).message.endswith("read as table. All 2 rows of b are bad: the run is left out.")


def test_what_was_read_and_noted_is_in_the_report() -> None:
    report = check_file(replace(reading(), column_roles={"conf": "confidence"}, notes=("Something.",)))
    assert report.read_as == {"conf": "confidence"}
    assert report.notes == ("Something.",)


def test_every_reason_is_told_once() -> None:
    message = check_file(reading(made_run(NOTHING), made_run(NOTHING))).message
    reasons = [line for line in message.splitlines() if line.startswith("- ")]
    assert len(reasons) == len(set(reasons)) >= 6


def test_no_outcome_anywhere_speaks_of_no_accuracy() -> None:
    report = check_file(reading(made_run({"confidence": [0.5, 0.6]})))
    assert report.status == "refused"
    assert "Accuracy" not in report.message


def test_one_usable_run_is_enough() -> None:
    runs = (made_run(NOTHING, label="a"), made_run(GOOD, label="b"))
    report = check_file(reading(*runs))
    assert report.status == "loads"
    assert [run.usable for run in report.runs] == [{}, {"given": 1}]
    assert report.message == "quiz.csv: 7 rows, 2 runs, read as table."
    assert usable_runs(reading(*runs)) == runs


def test_spikes_are_many_rows_at_one_value() -> None:
    values = [1.0] * 40 + [0.0] * SPIKE_ROWS + [k / 1000 for k in range(1, 61)]
    (run,) = check_file(reading(made_run({"confidence": values, "correct": [True] * len(values)}))).runs
    assert run.spikes == {"given": (ConfidenceSpike(1.0, 40), ConfidenceSpike(0.0, SPIKE_ROWS))}


@pytest.mark.parametrize("rows", [SPIKE_ROWS - 1, 11 * SPIKE_ROWS])
def test_few_rows_or_a_small_share_are_no_spike(rows: int) -> None:
    values = [0.5] * min(SPIKE_ROWS, rows) + [k / 1000 for k in range(1, rows - SPIKE_ROWS + 1)]
    (run,) = check_file(reading(made_run({"confidence": values, "correct": [True] * len(values)}))).runs
    assert run.spikes == {}


def test_self_consistency_has_few_values_by_construction() -> None:
    run = made_run({"samples": [["4", "4"]] * 50, "gold": ["4"] * 50})
    (report,) = check_file(reading(run)).runs
    assert set(report.usable) == {"cluster_number", "cluster_size", "pairwise"}
    assert report.spikes == {}


def test_frame_has_one_row_a_run_and_method() -> None:
    frame = check_file(
        reading(made_run(GOOD, left_out=2, label="a"), made_run(NOTHING, label="b"), bad=(BAD,))
    ).to_frame()
    assert frame.height == 2 * len(METHODS)
    given = frame.filter((frame["run"] == "a") & (frame["method"] == "given")).row(0, named=True)
    assert (given["used"], given["missing"], given["left_out"], given["reason"]) == (1, 2, 2, None)
    refused = frame.filter((frame["run"] == "b") & (frame["method"] == "given")).row(0, named=True)
    assert refused["used"] == 0
    assert refused["reason"]
    assert check_file(reading()).to_frame().schema == frame.schema
