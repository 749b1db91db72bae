"""Which groupings of runs and rows are offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from calib_core.results import groups
from calib_core.results.groups import (
    GroupBy,
    fact_level,
    group_by_choices,
    ordered_levels,
    parameter_count_text,
    row_groups,
)
from calib_core.runs import AnswerRun, RunInfo
from core.run_builders import make_answer_run


def run(
    subjects: list[str | None] | None = None, others: dict[str, list[str | None]] | None = None, **info: Any
) -> AnswerRun:
    rows = len(subjects) if subjects else 2
    columns: dict[str, list[Any]] = {"confidence": [0.5] * rows, "correct": [True] * rows}
    answer_run = make_answer_run(columns | ({"subject": subjects} if subjects else {}))
    return replace(answer_run, group_columns=pl.DataFrame(others or {}), info=RunInfo(**info))


def test_a_column_counts_where_a_run_has_two_values() -> None:
    one, two = run(["law", "law"]), run(["law", "sums"])
    assert group_by_choices({"a": one}) == {}
    assert list(group_by_choices({"a": one, "b": two})) == ["subject"]


def test_rows_are_not_grouped_to_see_that_they_have_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of 700 runs, asked for while they are read, looked at all rows of all runs each time."""
    runs = {"none": run(), "one": run(["law", "law"], {"level": ["hard", "hard"]})}

    def grouped(_run: AnswerRun, group_by: GroupBy) -> pl.Series:
        pytest.fail(f"rows grouped by {group_by.id}")

    monkeypatch.setattr(groups, "row_groups", grouped)
    assert group_by_choices(runs) == {}


def test_categories_are_those_of_the_subjects_that_are_known() -> None:
    answer_run = run(["mmlu_anatomy", "College Medicine", "my own", None])
    assert list(group_by_choices({"a": answer_run})) == ["subject", "category"]
    assert row_groups(answer_run, GroupBy("category", "category", "rows")).to_list() == [
        "STEM",
        "Other",
        None,
        None,
    ]
    assert row_groups(answer_run, GroupBy("subject", "subject", "rows")).to_list()[2:] == ["my own", None]


def test_other_columns_of_the_file_under_their_own_names() -> None:
    answer_run = run(["a", "a"], {"subject": ["x", "y"], "level": ["hard", None]})
    found = group_by_choices({"a": answer_run, "b": run(["a", "a"])})
    assert list(found) == ["column:subject"]
    assert row_groups(answer_run, found["column:subject"]).to_list() == ["x", "y"]
    assert row_groups(run(["a", "a"]), found["column:subject"]).to_list() == [None, None]


def test_facts_count_where_two_runs_differ() -> None:
    runs = {
        "a": run(shots=0, params_b=7, tuning="base", model="m", dataset="d"),
        "b": run(shots=5, params_b=7, tuning=None, model="m", dataset="d"),
    }
    assert {id_: (way.title, way.target) for id_, way in group_by_choices(runs).items()} == {
        "shots": ("shots", "runs")
    }
    runs["c"] = run(params_b=13, tuning="chat", model="n", dataset="e")
    assert list(group_by_choices(runs)) == ["shots", "params", "tuning", "model", "dataset"]


@pytest.mark.parametrize(
    ("billions", "text"),
    [
        (7.0, "7B"),
        (13, "13B"),
        (0.35, "350M"),
        (0.0002, "200k"),
        (3.5e-5, "35k"),
        (1.5, "1.5B"),
        (8e-7, "800"),
    ],
)
def test_sizes_in_words(billions: float, text: str) -> None:
    assert parameter_count_text(billions) == text


def test_levels_in_order() -> None:
    infos = {
        "a": RunInfo(shots=5, params_b=13, tuning="chat"),
        "b": RunInfo(shots=0, params_b=7, tuning="base"),
        "c": RunInfo(shots=25, params_b=0.07, tuning="aligned"),
        "d": RunInfo(),
    }
    assert ordered_levels(infos, "shots") == ["0-shot", "5-shot", "25-shot"]
    assert ordered_levels(infos, "params") == ["70M", "7B", "13B"]
    assert ordered_levels(infos, "tuning") == ["base", "aligned", "chat"]
    for first in ("Pretrained", "none"):
        tunings = {name: RunInfo(tuning=name) for name in ("chat", first, "aligned")}
        assert ordered_levels(tunings, "tuning") == [first, "aligned", "chat"]
    assert fact_level(infos["d"], "shots") is None
