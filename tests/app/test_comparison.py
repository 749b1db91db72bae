"""The page Comparison: accuracy and Brier score of every run, and the chosen point's diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load, score
from calib_core.figures.layout import legend_names
from calib_core.results import comparison
from calib_core.views.comparison import GREY_AREA
from comparison_files import SIZES, compare_file
from pages.state import progress
from predictions import quiz, samples, write_csv, write_jsonl
from screens import Visit, choose, figure, page_text, tiles
from token_files import positions, write_npz


def points(at: AppTest, name: str = "comparison") -> dict[str, tuple[float, float]]:
    """Key → where the point is drawn."""
    drawn = [trace for trace in figure(at, name)["data"] if trace.get("customdata")]
    return {
        own[0]: (x, y)
        for trace in drawn
        for own, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }


def table(at: AppTest) -> Any:
    return screens.table(at, "Brier", "Skill", "Rows used")


def test_every_run_and_method_is_a_point_at_its_scores(models: Path, visit: Visit) -> None:
    at = visit("comparison")
    drawn = points(at)
    assert len(drawn) == 6
    for run in load(models):
        for method in ("given", "verbal"):
            x, y = drawn[f"{run.info.model}-quiz:{method}"]
            assert x == pytest.approx(score(run, method=method, metric="accuracy").value, abs=1e-6)
            assert y == pytest.approx(score(run, method=method, metric="brier").value, abs=1e-6)
    wanted = compare_file(models)
    assert screens.plain(at.header[0].value) == wanted.headline
    assert at.text[0].value == wanted.recipe
    assert tiles(at) == {}
    n_below = sum((point.brier_skill or 0) > 0 for point in wanted.points)
    assert f"{GREY_AREA}: {n_below} of 6 points" in page_text(at)
    shown, rows = table(at), wanted.points_by_number
    assert shown["No."].to_list() == [1, 1, 2, 2, 3, 3]
    assert shown["Accuracy"].to_list() == pytest.approx([100 * point.accuracy.value for point in rows])
    assert shown["Brier"].to_list() == pytest.approx([point.brier.value for point in rows])
    assert [part or "" for part in shown["Best by"].to_list()] == [
        wanted.best_by_text(point.key) for point in rows
    ]
    assert shown["Skill"].to_list() == pytest.approx([point.brier_skill for point in rows])
    assert shown["Rows used"].to_list() == [point.n_used for point in rows]
    assert shown["Rows"].to_list() == [point.n_total for point in rows]


@pytest.mark.usefixtures("nothing_computed")
def test_the_picture_is_drawn_before_any_two_points_are_compared(
    models: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models.exists()
    monkeypatch.setattr(comparison, "compare_pairs", lambda *_of, **_options: st.stop())
    at = visit("comparison")
    assert len(points(at)) == 6
    assert f"{GREY_AREA}: " in page_text(at)
    assert (len(at.header), len(at.dataframe)) == (0, 0)


@pytest.mark.usefixtures("nothing_computed")
def test_the_picture_is_drawn_before_intervals_that_take_long(
    models: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models.exists()
    monkeypatch.setattr(progress, "DELAY_SECONDS", -1.0)
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "metric_interval", lambda *_of: st.stop())
        first = visit("comparison", y="ece")
    at = visit("comparison", y="ece")
    assert len(points(first, "places")) == 6
    assert points(first, "places") == points(at)
    (drawn,) = (node for node in screens.walk(at.main) if getattr(node, "type", "") == "plotly_chart")
    assert "places" not in drawn.proto.id


@pytest.mark.usefixtures("nothing_computed")
def test_pairs_are_compared_once_for_all_axes(
    models: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models.exists()
    compared: list[list[str]] = []
    real = comparison.compare_pairs

    def compare_pairs(evidences: Any, *of: Any, **options: Any) -> Any:
        compared.append(list(evidences))
        return real(evidences, *of, **options)

    monkeypatch.setattr(comparison, "compare_pairs", compare_pairs)
    headlines = {visit("comparison", y=y).header[0].value for y in ("brier", "ece", "bias")}
    assert (len(compared), len(headlines)) == (1, 1)
    visit("comparison", methods="given")
    assert [len(keys) for keys in compared] == [6, 3]


def test_points_have_numbers_the_legend_has_names_and_sizes_are_joined(models: Path, visit: Visit) -> None:
    assert models.exists()
    at = visit("comparison", methods="given")
    data = figure(at, "comparison")["data"]
    numbers = [int(number) for trace in data for number in trace.get("text", [])]
    assert sorted(numbers) == list(range(1, len(SIZES) + 1))
    assert {name[2:] for name in legend_names(data) if name[:1].isdigit() and name[1] == " "} == {*SIZES}
    assert "a(1−a): always stating a" in legend_names(data)
    (line,) = [trace for trace in data if "family" in trace.get("meta", [{}])[0]]
    assert line["meta"][0]["family"] == ["small-1b-quiz:given", "small-7b-quiz:given"]


@pytest.mark.parametrize(("judged", "method"), [("greedy", "cluster_size"), ("majority", "given")])
def test_methods_that_are_not_judged_as_chosen_are_no_error(
    judged: str, method: str, data: Path, visit: Visit
) -> None:
    rows = [{"id": n, "prediction": "a", "correct": n % 2, "confidence": n / 30} for n in range(30)]
    rows += [{"id": 30 + n, "samples": ["a", "b", "a"], "correct_majority": n % 2} for n in range(30)]
    write_jsonl(data / "two.jsonl", rows)
    at = visit("comparison", judged=judged, methods=method)
    assert not at.exception
    assert points(visit("comparison"))


def test_one_model_says_why_there_is_no_correlation(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(150, model="red", dataset="quiz"))
    at = visit("comparison", methods="given")
    assert "No rank correlation: 1 model; at least 3 are needed." in page_text(at)
    assert len(points(at)) == 1
    assert "Between" not in page_text(at)


@pytest.fixture
def training_folder(data: Path) -> Path:
    """course.csv: five checkpoints of one model."""
    return write_csv(
        data / "course.csv",
        [
            {**row, "subject": "law" if at % 2 else "art"}
            for step in range(5)
            for at, row in enumerate(
                quiz(40, seed=step, model="other", dataset="course", checkpoint=f"step{step}")
            )
        ],
    )


def test_it_opens_on_the_data_set_of_the_most_models(
    models: Path, training_folder: Path, visit: Visit
) -> None:
    assert models.exists()
    assert training_folder.exists()
    at = visit("comparison", methods="given")
    assert screens.control(at, "dataset").value == "quiz"
    assert len(points(at)) == 3


def test_the_chosen_data_set_stays_where_a_page_opens_on_it(
    models: Path, training_folder: Path, visit: Visit
) -> None:
    assert models.exists()
    assert training_folder.exists()
    assert screens.control(visit("groups", method="given"), "dataset").value == "course"
    at = choose(visit("comparison", methods="given"), "dataset", "course")
    at = screens.go(at, "groups")
    assert screens.address(at)["dataset"] == "course"
    at = screens.go(at, "comparison")
    assert screens.control(at, "dataset").value == "course"
    assert screens.address(choose(at, "dataset", "quiz"))["dataset"] == "quiz"


def test_the_chosen_point_shows_its_diagram(models: Path, visit: Visit) -> None:
    assert models.exists()
    at = visit("comparison", at="small-7b-quiz:verbal")
    assert "small-7b · quiz, stated confidence" in [screens.plain(element.value) for element in at.header]
    assert sum(count for _, count in screens.targets(at)) == 160
    rings = [
        trace
        for trace in figure(at, "comparison")["data"]
        if trace.get("marker", {}).get("symbol") == "circle-open"
    ]
    assert len(rings) == 1
    links = [node.proto for node in screens.walk(at.main) if isinstance(node, screens.PageLink)]
    (link,) = [link for link in links if link.label == "Open this run on the page Reliability"]
    assert "run=small-7b-quiz" in link.query_string
    assert "method=verbal" in link.query_string


def test_a_missing_point_shows_no_diagram(models: Path, visit: Visit) -> None:
    assert models.exists()
    assert [chart.key for chart in visit("comparison", at="nobody").get("plotly_chart")] == ["comparison"]


def test_any_metric_can_be_on_either_axis(models: Path, visit: Visit) -> None:
    at = choose(choose(visit("comparison", methods="given"), "x", "ece"), "y", "auroc")
    assert screens.address(at) == {"methods": "given", "x": "ece", "y": "auroc"}
    run = load(models)[0]
    x, y = points(at)["small-1b-quiz:given"]
    assert x == pytest.approx(score(run, method="given", metric="ece").value, abs=1e-6)
    assert y == pytest.approx(score(run, method="given", metric="auroc").value, abs=1e-6)
    assert "always stating" not in page_text(at)
    assert "ECE-L1, equal width, M=10" in at.text[0].value
    choose(at, "m_typed", 20)
    assert points(at)["small-1b-quiz:given"][0] == pytest.approx(
        score(run, method="given", metric="ece", bins=20).value, abs=1e-6
    )
    assert {"ECE", "ECE 95 %", "AUROC", "AUROC 95 %"} <= set(table(at).columns)


def test_differing_rows_and_judged_answers_are_reported(models: Path, data: Path, visit: Visit) -> None:
    assert models.exists()
    rows = [row | {"model": "ten", "dataset": "quiz", "confidence": 0.5, "correct": 1} for row in samples()]
    write_jsonl(data / "ten.jsonl", rows)
    text = page_text(visit("comparison", methods="given,cluster_size"))
    assert "The points have different numbers of rows: 60 to 170." in text
    assert "The points judge different answers" in text
    (reason,) = [line for line in text.splitlines() if "no column samples" in line]
    assert [reason.count(f"{size} · quiz by “self-consistency, F_CS”") for size in SIZES] == [1, 1, 1]
    assert "Not shown (1)" in text


def test_every_method_can_be_judged_by_one_answer(models: Path, data: Path, visit: Visit) -> None:
    """The greedy answer is wrong in every second row, the majority of the samples right in most."""
    assert models.exists()
    with pytest.raises(AssertionError, match="no control 'judged'"):
        screens.control(visit("comparison"), "judged")
    made = [
        {
            "id": f"q{at}",
            "dataset": "both",
            "gold": "7",
            "prediction": "78"[at % 2],
            "samples": ["7", "7", "9"] if at % 4 else ["9", "9", "7"],
            "confidence": 0.8,
        }
        for at in range(40)
    ]
    write_jsonl(data / "ten.jsonl", made)
    at = visit("comparison", dataset="both", methods="given,cluster_size", at="both:cluster_size")
    assert {key: x for key, (x, _) in points(at).items()} == {"both:given": 0.5, "both:cluster_size": 0.75}
    assert "The points judge different answers" in page_text(at)
    at = choose(at, "judged", "greedy")
    assert screens.address(at)["judged"] == "greedy"
    assert {x for x, _ in points(at).values()} == {0.5}
    shown = page_text(at)
    assert "The points judge different answers" not in shown
    recipe_of_diagram, recipe_of_figure = (code.value for code in at.main.text)
    assert "judged by the greedy answer" in recipe_of_diagram
    assert "all judged by the greedy answer" in recipe_of_figure
    assert points(visit("comparison", **screens.address(at))) == points(at)
    assert "judged" not in screens.address(choose(at, "judged", "own"))


def test_a_run_with_an_infinite_value_is_left_out_by_name(data: Path, visit: Visit) -> None:
    made = [
        {
            "model": model,
            "dataset": "pair",
            "choices": ["a", "b"],
            "choice_probs": probs,
            "gold": "AB"[at % 2],
        }
        for model, probs in (("certain", [1.0, 0.0]), ("careful", [0.9, 0.1]))
        for at in range(40)
    ]
    write_jsonl(data / "pair.jsonl", made)
    at = visit("comparison", y="nll")
    assert [key.split(":")[0] for key in points(at)] == ["careful-pair"]
    left_out = "certain · pair by “logit, softmax over the choices”"
    assert f"{left_out}: Negative log-likelihood is ∞: a right answer was given" in page_text(at)


def test_data_sets_are_mixed_only_on_request(models: Path, data: Path, visit: Visit) -> None:
    assert models.exists()
    write_csv(data / "other.csv", quiz(90, model="small-1b", dataset="other"))
    at = visit("comparison", methods="given")
    assert len(points(at)) == 3
    at = visit("comparison", methods="given", dataset="*")
    assert len(points(at)) == 4
    assert "The points come from 2 data sets: compare within one." in page_text(at)
    assert "small-1b · other" in str(figure(at, "comparison"))
    why = "No rank correlation: 1 model; at least 3 are needed."
    assert f"Confidence in the file, other: {why}" in page_text(at)


def test_runs_without_both_metrics_are_listed(data: Path, visit: Visit) -> None:
    sure = [{**row, "correct": 1} for row in quiz(40, model="sure", dataset="quiz")]
    write_csv(data / "quiz.csv", [*quiz(80, model="red", dataset="quiz"), *sure])
    at = visit("comparison", methods="given", y="auroc")
    assert list(points(at)) == ["red-quiz:given"]
    assert "sure · quiz" in page_text(at)
    assert "AUROC is not defined for these rows." in page_text(at)


def test_token_level_runs_are_compared_too(data: Path, visit: Visit) -> None:
    for name, sharp in (("plain", 1.0), ("sharp", 2.0)):
        write_npz(data / f"{name}.npz", positions(sharp=sharp), model=name, dataset="plays")
    at = visit("comparison")
    assert set(points(at)) == {"plain-plays:tokens", "sharp-plays:tokens"}
    assert "no interval" in at.text[0].value


def test_an_empty_folder_has_the_usual_message(data: Path, visit: Visit) -> None:
    assert data.is_dir()
    assert "The data folder has no prediction files" in page_text(visit("comparison"))


def test_names_from_files_are_shown_as_they_are(data: Path, visit: Visit) -> None:
    hostile = "![x](http://calib.invalid/a.png) <b>x</b>"
    write_csv(data / "quiz.csv", [*quiz(60, model=hostile), *quiz(70, model="b")])
    at = visit("comparison", methods="given")
    drawn = str([{**trace, "customdata": None} for trace in figure(at, "comparison")["data"]])
    assert "<b>x</b>" not in drawn
    assert all("![x](http" not in element.value for element in (*at.caption, *at.header, *at.markdown))
    assert all(hostile not in str(metric.delta) for metric in at.metric)


def test_the_page_alone_shows_the_same(models: Path, visit: Visit) -> None:
    assert models.exists()
    params = {"methods": "given", "at": "small-1b-quiz:given"}
    alone, whole = screens.open_single_page("comparison", params), visit("comparison", **params)
    assert points(alone) == points(whole)
    assert screens.targets(alone) == screens.targets(whole)
