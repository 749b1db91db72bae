"""A converted file keeps the tool's own numbers, so that they can be audited."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.results.reported_metrics import compare_reported_metrics, reported_metrics_frame
from calib_core.runs import AnswerRun, ReportedMetric, RunInfo
from core.reporting.round_trip import KINDS, write_and_read
from core.run_builders import make_answer_run


def run_of(info: RunInfo) -> AnswerRun:
    columns: dict[str, Any] = {"id": [*"abcd"], "confidence": [0.5, 0.6, 0.7, 0.9]}
    columns["subject"] = ["law", "law", "art", None]
    return replace(make_answer_run({**columns, "correct": [True, False, True, None]}), info=info)


NUMBERS = (
    ReportedMetric("acc", 0.5, 4, ""),
    ReportedMetric("acc", 0.25, 2, "", "half of them", "law"),
    ReportedMetric("f1", 0.1),
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tools_own_numbers_are_audited_as_before(kind: str) -> None:
    one, other = (run_of(RunInfo("m", shots=5)), run_of(RunInfo("m")))
    runs = [replace(one, reported_metrics=NUMBERS), replace(other, reported_metrics=NUMBERS[:1])]
    again = [run for run in write_and_read(runs, kind).good_runs if isinstance(run, AnswerRun)]
    assert [run.reported_metrics for run in again] == [NUMBERS, NUMBERS[:1]]
    for before, after in zip(runs, again, strict=True):
        assert reported_metrics_frame(compare_reported_metrics(after, {})).equals(
            reported_metrics_frame(compare_reported_metrics(before, {}))
        )


def test_a_file_may_say_no_more_than_metric_and_value(tmp_path: Path) -> None:
    def read_with(rows: str, **metadata: Any) -> list[tuple[ReportedMetric, ...] | tuple[str, ...]]:
        path = tmp_path / "said.jsonl"
        head = {"format": "calib-answers", "version": 1, **metadata}
        path.write_text(json.dumps({"calib": head}) + "\n" + rows)
        reading = readers.read(path)
        answers = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
        return [*(run.reported_metrics for run in answers), reading.notes]

    row = '{"id": "%s", "confidence": 0.5, "correct": true, "model": "%s"}\n'
    told, notes = read_with(row % ("a", "m"), reported={"acc": 0.5, "f1": 1})
    assert (told, notes) == ((ReportedMetric("acc", 0.5), ReportedMetric("f1", 1.0)), ())
    first, second, notes = read_with(
        row % ("a", "m") + row % ("a", "n"), reported={"n": {"acc": 0.5}, "x": {"acc": 1}}
    )
    assert (first, second, notes) == ((), (ReportedMetric("acc", 0.5),), ())
    wrong = [
        {"name": 1, "value": 1},
        {"name": "x", "value": "1"},
        {"name": "x", "value": True},
        5,
        {"name": "x", "value": 1, "rows": -1},
        {"name": "x", "value": 1, "why": []},
    ]
    told, notes = read_with(row % ("a", "m"), reported_in_full=[*wrong, {"name": "y", "value": 1}])
    assert told == (ReportedMetric("y", 1.0),)
    assert notes == ("6 of the tool's own numbers in its metadata cannot be read and are left out.",)
    for nonsense in (5, "x", [], None):
        assert read_with(row % ("a", "m"), reported=nonsense)[0] == ()
