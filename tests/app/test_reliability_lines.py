"""Several runs and methods as lines of one diagram, at most six, with the choice in the link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import calib_core
import screens
from calib_core.figures.palette import LIGHT, run_style
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, address, choose, control, figure, page_text, table
from token_files import positions, write_npz

MODELS = ("blue", "gold", "green", "lime", "pink", "red", "teal")


@pytest.fixture
def seven_runs(data: Path) -> Path:
    """Seven runs of one quiz, each with a confidence and a stated one."""
    write_csv(
        data / "quiz.csv", [row for seed, model in enumerate(MODELS) for row in quiz(90, seed, model=model)]
    )
    return data


def legend_entries(at: AppTest) -> dict[str, dict[str, Any]]:
    """Line's name → its entry in the legend."""
    traces = [trace for trace in figure(at, "lines_figure")["data"] if trace["mode"] == "lines+markers"]
    return {trace["name"].partition(" · ECE")[0]: trace for trace in traces}


def test_without_lines_the_page_is_unchanged(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability")
    assert [chart.key for chart in at.get("plotly_chart")] == ["reliability"]
    assert address(at) == {}


def test_each_line_has_the_number_of_its_run_and_the_look_of_its_place(
    seven_runs: Path, visit: Visit
) -> None:
    at = visit("reliability", lines="red~given,blue~given", m="7")
    loaded = {run.label.partition(" ")[0]: run for run in calib_core.load(seven_runs / "quiz.csv")}
    rows = table(at, "Line", "ECE")
    assert rows["Line"].to_list() == ["red", "blue"]
    for name, value in zip(rows["Line"], rows["ECE"], strict=True):
        assert value == calib_core.score(loaded[name], method="given", metric="ece", bins=7).value
    for name, trace in legend_entries(at).items():
        look = run_style(MODELS.index(name), LIGHT)
        assert (trace["line"]["color"], trace["line"]["dash"]) == (look.colour, look.dash)
        assert trace["marker"]["symbol"] == look.symbol
    assert "Lowest ECE: " in screens.plain(at.header[0].value)
    assert "Reliability lines of red" in page_text(at)
    assert "Lower panel: share of each line's pairs." in page_text(at)


def test_choosing_a_seventh_line_is_refused_with_the_reason(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", lines="blue,gold,green,lime,pink,red")
    choose(at, "lines_shown", [*control(at, "lines_shown").value, "teal~verbal"])
    assert len(control(at, "lines_shown").value) == len(legend_entries(at)) == 6
    captions = "\n".join(screens.plain(caption.value) for caption in at.sidebar.caption)
    assert "teal · " in captions
    assert "not added: one diagram shows 6 lines at most" in captions
    assert address(at) == {"lines": "blue,gold,green,lime,pink,red"}


def test_a_seventh_line_in_a_link_is_refused_too(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", lines=",".join(MODELS))
    assert "teal" not in legend_entries(at)
    assert "not added" in "".join(caption.value for caption in at.sidebar.caption)


def test_one_click_adds_all_methods_of_a_run_or_all_runs_of_a_method(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", run="green", method="verbal")
    folded, *_ = [block for block in at.sidebar.expander if block.label == "Lines on one diagram"]
    assert not folded.proto.expanded
    assert [button.label for button in folded.button] == ["Draw 6 runs", "Draw 2 methods"]
    at.button(key="lines_methods").click()
    screens.run(at)
    assert len(legend_entries(at)) == 2
    assert "green" in page_text(at)
    at.button(key="lines_runs").click()
    screens.run(at)
    assert len(legend_entries(at)) == 6
    assert "green" in legend_entries(at)
    assert "stated confidence" in page_text(at)
    assert address(at)["run"] == "green"
    again = visit("reliability", **address(at))
    assert figure(again, "lines_figure") == figure(at, "lines_figure")


def test_lines_follow_metric_and_bins_and_unavailable_ones_are_named(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(90))
    write_jsonl(data / "four.jsonl", choices(90))
    at = visit("reliability", run="four", method="choice_softmax", lines="four,quiz", metric="cw_ece")
    assert len(legend_texts(at)) == 1
    assert "Not shown (1)" in page_text(at)
    assert "not a whole distribution" in page_text(at)
    choose(at, "metric", "ece")
    assert len(legend_texts(at)) == 2
    assert "The lines are judged by different outcomes" in page_text(at)


def legend_texts(at: AppTest) -> list[str]:
    traces = figure(at, "lines_figure")["data"]
    return [trace["name"] for trace in traces if trace["mode"] == "lines+markers"]


def test_tokens_and_answers_stand_on_one_diagram_with_a_remark(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(90))
    write_npz(data / "text.npz", positions(), model="gpt")
    at = visit("reliability", lines="quiz,gpt")
    assert len(legend_texts(at)) == 2
    assert "The lines pool different pairs: " in page_text(at)


def test_switches_go_to_the_lines_that_have_them(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(90))
    write_jsonl(data / "four.jsonl", choices(90))
    at = visit("reliability", run="four", labels="all", lines="four,quiz")
    recipes = table(at, "Line", "Recipe")["Recipe"].to_list()
    assert "all labels, K=4" in recipes[0]
    assert "all labels" not in recipes[1]
    assert "a pair for every class of a question" in page_text(at)


def test_a_missing_line_is_reported_and_the_rest_is_drawn(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", lines="red,nobody,green~magic")
    assert legend_texts(at)[0].startswith("red")
    (told,) = screens.unmet_link_warnings(at, "lines", "nobody, green~magic")
    assert "which is not available here" in told
    assert address(at) == {"lines": "red"}


def test_names_from_files_are_shown_letter_by_letter(data: Path, visit: Visit) -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](https://x.test/y)"
    rows = [*quiz(60, model=hostile), *quiz(60, seed=2, model="red")]
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability")
    at.button(key="lines_runs").click()
    screens.run(at)
    assert "![x]" not in at.header[0].value.replace("\\", "\0")
    assert "<img" not in str(figure(at, "lines_figure"))


def test_one_choice_puts_another_run_beside_this_one_with_their_difference(
    seven_runs: Path, visit: Visit
) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", run="red", method="given")
    assert screens.control(at, "_compare_with").options[:2] == ["Stated confidence", "blue"]
    choose(at, "_compare_with", "red~given,blue~given")
    assert address(at)["lines"] == "red~given,blue~given"
    assert table(at, "Line", "ECE")["Line"].to_list() == ["red", "blue"]
    assert "ECE of blue minus that of red: " in page_text(at)
    assert screens.control(at, "_compare_with").value is None


def test_lines_can_be_bars(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red", method="given", lines="red~given,red~verbal")
    assert {trace["type"] for trace in figure(at, "lines_figure")["data"]} == {"scatter"}
    choose(at, "_form", "bars")
    assert screens.address(at)["form"] == "bars"
    assert [trace["type"] for trace in figure(at, "lines_figure")["data"] if "meta" in trace].count(
        "bar"
    ) == 2
    equal_mass = visit("reliability", run="red", lines="red~given,red~verbal", form="bars", binning="mass")
    assert "bar" not in {trace["type"] for trace in figure(equal_mass, "lines_figure")["data"]}
