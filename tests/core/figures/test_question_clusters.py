"""Each cluster is a bar of its size; chosen, tied and unparsed ones differ without colour."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.question_clusters import (
    MAX_CLUSTERS,
    describe_question_clusters,
    question_clusters_figure,
)
from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.method import MethodOptions
from calib_core.results.question_clusters import QuestionClusters, question_clusters
from core.sampled_runs import make_run


def worked_question(samples: list[str], kind: str = "number") -> QuestionClusters:
    beside = {"id": "b", "answer_kind": kind, "gold": "5", "samples": ["5"] * 3}
    run = make_run([{"id": "a", "answer_kind": kind, "gold": "1", "samples": samples}, beside])
    return question_clusters(run, sample_matrix(run, MethodOptions()), 0)


def trace_and_labels(result: QuestionClusters, theme: Any = LIGHT) -> tuple[dict[str, Any], list[str]]:
    figure = question_clusters_figure(result, theme)
    (trace,) = figure["data"]
    return trace, figure["layout"]["yaxis"]["ticktext"]


def test_bars_have_sizes_names_and_marks() -> None:
    trace, names = trace_and_labels(worked_question(["2", "1", "1", "2", "3", "?", "?"]))
    assert (trace["x"], trace["text"]) == ([2, 2, 1, 2], ["2", "2", "1", "2"])
    assert names == ["<b>2 ✗, chosen</b>", "1 ✓, tied", "3 ✗", "2 not parsed"]
    assert trace["meta"]["kinds"] == ["chosen", "tied", "other", "unparsed"]
    shapes = trace["marker"]["pattern"]["shape"]
    assert shapes == ["", "/", "", "x"]
    assert "each a separate cluster" in trace["hovertext"][3]


def test_the_first_is_on_top() -> None:
    low, high = question_clusters_figure(worked_question(["1", "1", "2"]), LIGHT)["layout"]["yaxis"]["range"]
    assert low > high


def test_few_samples_are_counted_one_by_one() -> None:
    few, many = (
        question_clusters_figure(worked_question(["1"] * size), LIGHT)["layout"]["xaxis"] for size in (2, 64)
    )
    assert few["dtick"] == 1
    assert "dtick" not in many


def test_many_small_clusters_share_a_bar() -> None:
    trace, names = trace_and_labels(worked_question([str(number) for number in range(1, MAX_CLUSTERS + 4)]))
    assert len(names) == MAX_CLUSTERS + 1
    assert (names[-1], trace["x"][-1]) == ("3 smaller clusters", 3)
    assert "of 1, 1, 1 samples" in trace["hovertext"][-1]
    _, names = trace_and_labels(worked_question([str(number) for number in range(1, MAX_CLUSTERS + 2)]))
    assert names[-1] == "1 smaller cluster"


def test_unparsed_and_missing_samples_are_not_a_fault() -> None:
    trace, names = trace_and_labels(worked_question(["?", "?"]))
    assert (trace["x"], names) == ([2], ["2 not parsed"])


def test_answers_are_drawn_as_text() -> None:
    hostile = worked_question(['<a href="https://x.test">x</a>'] * 2, "text")
    assert "<a" not in json.dumps(question_clusters_figure(hostile, DARK))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_plotly_knows_every_key(theme: Any) -> None:
    for samples in (["1", "2", "?"], ["?"] * 3, ["1"] * 64):
        go.Figure(question_clusters_figure(worked_question(samples), theme))


def test_the_sentence_has_the_sizes() -> None:
    description = describe_question_clusters(worked_question(["2", "1", "1", "3"]))
    assert "1: 2 samples; 2: 1 sample; 3: 1 sample" in description
    assert "Chosen: “1” with 2 of 4 samples, which is right." in description
