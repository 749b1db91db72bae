"""The page Judge: its numbers are those of the result, a cell opens its rows, and it says what it needs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import screens
from calib_core.api import load
from calib_core.inference.pass_rate import PASS_RATE_TITLES
from calib_core.results.judge import JudgeResult, judge_result
from calib_core.results.judge_comparison import compare_judges
from calib_core.runs import AnswerRun
from calib_core.views.judge import NO_JUDGE
from fixture_files import FIXTURES
from predictions import judged, quiz, write_csv
from screens import Visit, figure, page_text


@pytest.fixture
def judged_file(data: Path) -> Path:
    return write_csv(data / "judged.csv", judged())


def expected(path: Path, passing: tuple[str, ...] = ()) -> JudgeResult:
    (run,) = load(path)
    return judge_result(run, passing)


def test_the_page_shows_the_result(judged_file: Path, visit: Visit) -> None:
    at = visit("judge")
    result, text = expected(judged_file), page_text(at)
    assert result.agreement.headline in text
    assert result.pass_rates is not None
    assert result.pass_rates.headline in text
    assert result.pass_rates.shortest_text in text
    assert result.fairness.headline in text
    measures = screens.table(at, "Measure", "Value")
    assert measures["Value"].to_list() == [one.shown for one in result.agreement.measures]
    cells = figure(at, "confusion_figure")["data"][0]
    shown = [note["text"] for note in figure(at, "confusion_figure")["layout"]["annotations"]]
    assert [text.split("<")[0] for text in shown] == [f"{n}" for n in result.agreement.table.ravel()]
    assert [key for (key,) in cells["customdata"]] == ["0-0", "0-1", "1-0", "1-1"]
    drawn = figure(at, "pass_rate_figure")["data"]
    assert [trace["x"] for trace in drawn] == [
        [round(rate.value or 0, 6)] for rate in result.pass_rates.rates
    ]
    assert any(f"<b>{title}</b>" in str(drawn) for title in PASS_RATE_TITLES.values())


def test_an_inspect_log_with_a_models_grades_beside_a_persons_opens(data: Path, visit: Visit) -> None:
    path = Path(shutil.copy(FIXTURES / "inspect/v0.3.285/judged.eval", data))
    assert expected(path).agreement.headline in page_text(visit("judge"))


def test_a_cell_opens_its_rows(judged_file: Path, visit: Visit) -> None:
    result = expected(judged_file)
    differing = screens.table(visit("judge"), "Judge", "People")
    assert len(differing) == result.agreement.cell_rows().size
    chosen = screens.table(visit("judge", at="0-1"), "Judge", "People")
    assert set(chosen["Judge"]) == {"pass"}
    assert set(chosen["People"]) == {"fail"}
    scores = chosen["Judge's score"].to_list()
    assert scores == sorted(scores, reverse=True)
    assert len(chosen) == result.agreement.table[0, 1]
    assert screens.table(visit("judge", at="9-9"), "Judge", "People").shape == differing.shape


def test_which_label_passes_is_asked_where_it_is_not_known(data: Path, visit: Visit) -> None:
    path = write_csv(data / "judged.csv", judged(words=("good", "poor")))
    unknown = visit("judge")
    assert "Choose which labels pass" in page_text(unknown)
    assert "truly pass (" not in page_text(unknown)
    assert "pass_rate_figure" not in [chart.key for chart in unknown.get("plotly_chart")]
    known = visit("judge", passes="0")
    result = expected(path, ("good",))
    assert result.pass_rates is not None
    assert result.pass_rates.headline in page_text(known)


def test_two_judges_are_compared_on_the_same_rows(judged_file: Path, data: Path, visit: Visit) -> None:
    other = write_csv(data / "second.csv", judged(seed=2))
    at = visit("judge", run="judged", second="second")
    first, second = (load(path)[0] for path in (judged_file, other))
    assert isinstance(first, AnswerRun)
    assert isinstance(second, AnswerRun)
    assert compare_judges(first, second).headline in page_text(at)


def test_it_says_what_it_needs(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    assert NO_JUDGE in page_text(visit("judge"))


def test_pages_of_confidences_leave_a_judge_out_and_start_leads_to_it(
    judged_file: Path, visit: Visit
) -> None:
    assert judged_file.is_file()
    for page in ("reliability", "comparison", "methods"):
        assert "see Judge" in page_text(visit(page))
    links = [link.proto.label for link in visit("start").main if link.type == "page_link"]
    assert any("a judge's labels beside people's in 160 rows" in screens.plain(label) for label in links)


def test_files_says_what_the_file_is_and_misses_nothing_in_it(judged_file: Path, visit: Visit) -> None:
    assert judged_file.is_file()
    text = page_text(visit("files"))
    assert "400 rows read; a judge's labels beside people's in 160 rows." in text
    assert "the page Judge compares the two" in text
    assert "No confidence method" not in text
    assert "cannot use this file" not in text


def test_a_judge_beside_a_quiz_is_on_its_own_page_only(judged_file: Path, data: Path, visit: Visit) -> None:
    assert judged_file.is_file()
    write_csv(data / "quiz.csv", quiz(60))
    assert screens.control(visit("reliability"), "run").options == ["quiz"]
    assert screens.control(visit("judge"), "run").options == ["judged"]


def test_every_figure_has_a_sentence_with_its_numbers(judged_file: Path, visit: Visit) -> None:
    result = expected(judged_file)
    alts = {chart.key: chart.proto.alt for chart in visit("judge").get("plotly_chart")}
    assert alts.keys() == {"confusion_figure", "pass_rate_figure", "labels_needed", "fairness_figure"}
    assert f"judge pass, people fail: {result.agreement.table[0, 1]}" in alts["confusion_figure"]
    assert result.pass_rates is not None
    assert result.pass_rates.shortest_text in alts["pass_rate_figure"]
    half = result.pass_rates.half_widths(np.array([160.0]))["ppi"][0]
    assert f"With 160: ± {100 * half:.1f} points by PPI++" in alts["labels_needed"]
    assert result.fairness.groups_headline in alts["fairness_figure"]


def test_its_score_opens_as_a_probability_in_one_click(data: Path, visit: Visit) -> None:
    rows = [
        {**row, "event_prob": row["judge_score"], "event": {"pass": 1, "fail": 0, "": ""}[str(row["human"])]}
        for row in judged()
    ]
    write_csv(data / "other.csv", quiz(60))
    write_csv(data / "judged.csv", rows)
    (link,) = [link.proto for link in visit("judge").main if link.type == "page_link"]
    assert (link.label, link.query_string) == ("Reliability", "run=judged&method=event")
    assert "probability of yes" in page_text(visit("reliability", run="judged", method="event")).casefold()


def test_labels_are_shown_literally(data: Path, visit: Visit) -> None:
    words = ("<b>pass</b>", "![x](http://x.example/y.png)")
    write_csv(data / "judged.csv", judged(words=words))
    at = visit("judge", at="0-1", passes="0")
    drawn = figure(at, "confusion_figure")
    assert {tick.count("<") for tick in drawn["layout"]["xaxis"]["ticktext"]} == {0}
    hovers = " ".join(drawn["data"][0]["hovertext"])
    assert "<b>pass" not in hovers
    assert "&lt;b&gt;pass&lt;/b&gt;" in hovers
    markdown = [
        str(getattr(element, "value", ""))
        for kind in ("markdown", "caption", "header", "subheader")
        for element in at.get(kind)
    ]
    assert any("pass" in text for text in markdown)
    assert not any("![x](" in text or "<b>pass" in text for text in markdown)
