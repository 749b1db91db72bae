"""The page Abstention: the curves, and the threshold that reaches a target accuracy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.results.abstention import (
    AbstentionCurve,
    abstention_curve,
    guarantee_headline,
    guaranteed_threshold,
)
from calib_core.results.cascade import cascade
from calib_core.results.evidence import gather_evidence
from calib_core.results.threshold_cost import threshold_cost
from calib_core.wording import format_percent
from predictions import quiz, samples, write_csv, write_jsonl
from screens import Visit, choose, figure, page_text, tiles
from token_files import positions, write_npz


@pytest.fixture
def file(data: Path) -> Path:
    return write_csv(data / "quiz.csv", [*quiz(300, model="red"), *quiz(200, seed=6, model="green")])


def curve(path: Path, method: str, run: int = 0) -> AbstentionCurve:
    return abstention_curve(gather_evidence(load(path)[run], method))


def lines(at: AppTest) -> dict[str, dict[str, Any]]:
    drawn = [trace for trace in figure(at, "abstention")["data"] if "lines" in trace["mode"]]
    return {trace["name"]: trace for trace in drawn if trace.get("name")}


def row(at: AppTest, method: str) -> dict[str, Any]:
    """What is said of a method over all thresholds."""
    frame = screens.table(at, "Method", "AUROC", "AURC")
    is_method = frame["Method"].str.lower() == method  # a capital in tables, none in sentences
    return {str(name): value for name, value in frame[is_method].iloc[0].items()}


def threshold_row(at: AppTest, method: str, kind: str) -> dict[str, Any]:
    """What is said of one of its thresholds."""
    frame = screens.table(at, "Method", "Threshold")
    is_method = frame["Method"].str.lower() == method
    (found,) = frame[is_method & (frame["Threshold"] == kind)].to_dict("records")
    return {str(name): value for name, value in found.items()}


def test_lines_tiles_and_table_are_the_curves(file: Path, visit: Visit) -> None:
    at = visit("abstention", wanted="0.7")
    verbal, given = curve(file, "verbal"), curve(file, "given")
    assert lines(at)["Stated confidence"]["y"] == pytest.approx(verbal.accuracy.tolist(), abs=1e-6)
    assert lines(at)["Confidence in the file"]["x"] == pytest.approx(given.coverage.tolist(), abs=1e-6)
    assert screens.plain(at.header[0].value) == guarantee_headline(
        [guaranteed_threshold(one, 0.7) for one in (verbal, given)]
    )
    for method, own in (("stated confidence", verbal), ("confidence in the file", given)):
        found = own.for_accuracy(0.7)
        cells = row(at, method)
        assert (cells["AUROC"], cells["AURC"]) == (own.auroc, own.aurc)
        assert cells["Accuracy of all"] == pytest.approx(100 * (own.answering_all.accuracy or 0))
        empirical = threshold_row(at, method, "empirical")
        wanted = (found.threshold, 100 * found.coverage, found.n_answered) if found else 3 * (math.nan,)
        shown = tuple(empirical[name] for name in ("Confidence ≥", "Answered", "Rows answered"))
        assert shown == pytest.approx(wanted, nan_ok=True)
    assert "Rows used: 300 of 300." in page_text(at)
    assert "answered when confidence ≥ t" in at.text[0].value


def test_the_target_accuracy_is_typed_and_goes_into_the_address(file: Path, visit: Visit) -> None:
    at = choose(visit("abstention", methods="given"), "wanted", "60 %")
    found = curve(file, "given").for_accuracy(0.6)
    assert found is not None
    assert screens.address(at) == {"methods": "given", "wanted": "0.6"}
    cells = threshold_row(at, "confidence in the file", "empirical")
    assert cells["Answered"] == pytest.approx(100 * found.coverage)
    assert cells["Confidence ≥"] == found.threshold
    assert cells["Accuracy 95 %"] == f"{100 * (found.low or 0):.1f} to {100 * (found.high or 0):.1f} %"
    assert tiles(visit("abstention", methods="given", wanted="0.6")) == tiles(at)
    choose(at, "wanted", "0.9")
    assert screens.address(at) == {"methods": "given"}


def test_the_guarantee_has_tiles_and_its_own_confidence(data: Path, visit: Visit) -> None:
    blocks = ((0.9, 97), (0.4, 50))
    rows = [{"confidence": c, "correct": int(at % 100 < n)} for c, n in blocks for at in range(200)]
    found = guaranteed_threshold(curve(write_csv(data / "run.csv", rows), "given"), 0.9)
    assert found.point is not None
    at = visit("abstention")
    assert tiles(at) == {"Answer from": "0.9", "Answered": "50.0 %", "Accuracy": "97.0 %"}
    assert threshold_row(at, "confidence in the file", "guaranteed")["At least"] == pytest.approx(94.1)
    choose(at, "sure", "99.99999 %")
    assert screens.address(at) == {"sure": "0.9999999"}
    assert tiles(at) == {"Answer from": "none", "Answered": "–", "Accuracy": "–"}
    assert (
        "an accuracy of 90 %: of the 200 most confident answers, which come closest, 97.0 % are right"
        in page_text(at)
    )
    choose(at, "sure", "1")
    assert "Type a number between 0 and 1" in "".join(caption.value for caption in at.sidebar.caption)
    assert tiles(at)["Answer from"] == "0.9"


def test_an_accuracy_that_is_not_reached_is_reported(data: Path, visit: Visit) -> None:
    path = write_csv(data / "quiz.csv", [{**row, "correct": at % 2} for at, row in enumerate(quiz(100))])
    at = visit("abstention", wanted="1", methods="verbal")
    assert "No method reaches an accuracy of 100 %" in page_text(at)
    assert math.isnan(threshold_row(at, "stated confidence", "empirical")["Confidence ≥"])
    best = curve(path, "verbal").most_accurate.accuracy
    assert f"no threshold reaches 100 %: at best {format_percent(best)}." in page_text(at)


def test_a_threshold_gives_its_share_and_accuracy(file: Path, visit: Visit) -> None:
    at = choose(visit("abstention", methods="verbal"), "threshold", "0.8")
    found = curve(file, "verbal").at_threshold(0.8)
    cells = threshold_row(at, "stated confidence", "typed")
    assert cells["Answered"] == pytest.approx(100 * found.coverage)
    assert cells["Accuracy"] == pytest.approx(100 * (found.accuracy or 0))
    assert cells["Accuracy 95 %"] == f"{100 * (found.low or 0):.1f} to {100 * (found.high or 0):.1f} %"
    assert cells["Rows answered"] == found.n_answered
    assert screens.address(at) == {"methods": "verbal", "threshold": "0.8"}
    marks = [trace for trace in figure(at, "abstention")["data"] if trace.get("name") == "confidence ≥ 0.8"]
    assert marks[0]["x"] == pytest.approx([found.coverage])
    assert tiles(at)["Answer from"] == "0.8"
    assert tiles(at)["Answered"] == f"{100 * found.coverage:.1f} %"
    assert tiles(at)["Accuracy"] == f"{100 * (found.accuracy or 0):.1f} %"
    choose(at, "threshold", "")
    assert screens.address(at) == {"methods": "verbal"}


def test_the_slider_is_at_the_guaranteed_threshold_and_moves_the_field(data: Path, visit: Visit) -> None:
    blocks = ((0.9, 97), (0.4, 50))
    rows = [{"confidence": c, "correct": int(at % 100 < n)} for c, n in blocks for at in range(200)]
    write_csv(data / "run.csv", rows)
    at = visit("abstention")
    assert at.slider[0].value == 0.9
    at.slider[0].set_value(0.35).run()
    assert screens.address(at) == {"threshold": "0.35"}
    assert tiles(at) == {"Answer from": "0.35", "Answered": "100.0 %", "Accuracy": "73.5 %"}
    assert at.slider[0].value == 0.35
    choose(at, "threshold", "0.8")
    assert at.slider[0].value == 0.8
    choose(at, "threshold", "")
    assert at.slider[0].value == 0.9
    assert screens.address(at) == {}


def test_costs_are_those_of_the_result_and_typed(file: Path, visit: Visit) -> None:
    evidence = gather_evidence(load(file)[0], "verbal")
    at = visit("abstention", methods="verbal")
    usual = threshold_cost(evidence, ErrorCosts(10, 1))
    assert usual.headline in page_text(at)
    choose(choose(at, "wrong", "4"), "handed_on", "2")
    assert screens.address(at) == {"methods": "verbal", "wrong": "4", "handed_on": "2"}
    found = threshold_cost(evidence, ErrorCosts(4, 2))
    assert found.headline in page_text(at)
    assert found.headline in page_text(screens.run(at)), "what was typed stays"
    assert found.headline in page_text(visit("abstention", methods="verbal", wrong="4", handed_on="2"))
    table = screens.table(at, "Believed ≥", "Price")
    assert table["Believed ≥"].to_list() == [0.5]
    (line,) = [trace for trace in figure(at, "costs")["data"] if trace["mode"] == "lines"]
    assert line["y"][1:] == found.cost[::-1].round(6).tolist()
    choose(at, "wrong", "much")
    assert "Type a number of 0 or more: much" in "".join(caption.value for caption in at.sidebar.caption)
    assert usual.costs.wrong == float(screens.control(at, "wrong").value)


@pytest.mark.parametrize("typed", ["ninety", "1.5", "-0.1", "nan", "inf", "150 %", "%"])
def test_an_invalid_share_is_reported(typed: str, file: Path, visit: Visit) -> None:
    assert file.exists()
    at = choose(visit("abstention"), "wanted", typed)
    assert "Type a number from 0 to 1" in "".join(caption.value for caption in at.sidebar.caption)
    assert "Thresholds for an accuracy of 90 %" in page_text(at)
    at = choose(visit("abstention"), "threshold", typed)
    assert "typed" not in set(screens.table(at, "Threshold")["Threshold"])


def test_an_emptied_accuracy_is_the_one_that_is_used(file: Path, visit: Visit) -> None:
    assert file.exists()
    at = choose(visit("abstention", wanted="0.6"), "wanted", "")
    assert "Thresholds for an accuracy of 90 %" in page_text(at)
    assert screens.control(at, "wanted").value == "0.9"
    assert screens.address(at) == {}


def test_run_and_methods_are_chosen(file: Path, visit: Visit) -> None:
    at = choose(visit("abstention"), "run", "green")
    assert "Rows used: 200 of 200." in page_text(at)
    assert set(lines(choose(at, "methods_shown", ["verbal"]))) == {"Stated confidence"}
    assert lines(at)["Stated confidence"]["y"] == pytest.approx(
        curve(file, "verbal", run=1).accuracy.tolist(), abs=1e-6
    )
    assert screens.address(at) == {"run": "green", "methods": "verbal"}


def test_answers_judged_differently_are_reported(data: Path, visit: Visit) -> None:
    rows = [row | {"confidence": 0.5 + at % 5 / 10, "correct": at % 2} for at, row in enumerate(samples())]
    write_jsonl(data / "ten.jsonl", rows)
    at = visit("abstention", methods="given,cluster_size")
    assert "The lines judge different answers: majority answer, greedy answer." in page_text(at)
    notes = [note["text"] for note in figure(at, "abstention")["layout"]["annotations"]]
    assert any("greedy answer" in note for note in notes)
    assert any("majority answer" in note for note in notes)


def test_values_shared_by_all_methods_have_no_column(file: Path, data: Path, visit: Visit) -> None:
    assert file.exists()
    columns = set(screens.table(visit("abstention"), "Method", "AURC").columns)
    assert not columns & {"Rows used", "Rows", "Judged"}
    rows = [row | {"confidence": 0.5 + at % 5 / 10, "correct": at % 2} for at, row in enumerate(samples())]
    write_jsonl(data / "ten.jsonl", rows)
    told = screens.table(visit("abstention", run="ten", methods="given,cluster_size"), "Judged")
    assert set(told["Judged"]) == {"greedy answer", "majority answer"}


def test_it_warns_that_the_threshold_is_chosen_on_the_same_rows(file: Path, visit: Visit) -> None:
    assert file.exists()
    assert "chosen on the rows it is judged on" in page_text(visit("abstention"))


def test_a_second_run_answers_what_is_handed_on(data: Path, visit: Visit) -> None:
    rows = [*quiz(300, model="red", dataset="sums"), *quiz(300, model="green", dataset="sums")]
    path = write_csv(
        data / "quiz.csv", [{**row, "correct": row["correct"] or at % 5 == 0} for at, row in enumerate(rows)]
    )
    at = choose(visit("abstention", run="red-sums", methods="given", threshold="0.8"), "second", "green-sums")
    first, second = (gather_evidence(run, "given") for run in load(path))
    found = cascade(first, second)
    point = found.at_threshold(0.8)
    best, name = max(
        (found.first_alone.accuracy, "red · sums"), (found.second_alone.accuracy, "green · sums")
    )
    assert point.accuracy <= best
    assert (
        f"Handing questions with a confidence below 0.8 to green · sums gains nothing over {name} alone"
        in page_text(at)
    )
    (line,) = [trace for trace in figure(at, "cascade")["data"] if trace.get("name") == "cascade"]
    assert line["y"][-1] == pytest.approx(found.first_alone.accuracy)
    table = screens.table(at, "Answered by")
    assert "Cost per question" not in table.columns
    assert table["Accuracy"].iloc[2] == pytest.approx(100 * point.accuracy)
    at = choose(choose(at, "cost", "1"), "second_cost", "10")
    assert screens.address(at)["second_cost"] == "10"
    table = screens.table(at, "Answered by")
    assert float(table["Cost per question"].iloc[2]) == pytest.approx(1 + 10 * point.share_handed, abs=1e-4)
    at = choose(at, "cost", "much")
    assert "Type a number of 0 or more: much" in "".join(caption.value for caption in at.sidebar.caption)


def test_no_second_run_and_other_questions_are_reported(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60, dataset="sums"))
    at = visit("abstention")
    assert "No other run has the same data set." in "".join(caption.value for caption in at.sidebar.caption)
    other = [
        {**row, "id": f"x{row['id']}", "question": f"{row['id']}?"}
        for row in quiz(60, model="red", dataset="sums")
    ]
    write_csv(data / "other.csv", other)
    at = visit("abstention", run="sums", second="red-sums")
    assert "No cascade: " in page_text(at)
    assert "no question in common" in page_text(at)


def test_only_token_level_runs_give_a_reason(data: Path, visit: Visit) -> None:
    write_npz(data / "plays.npz", positions(), model="gpt")
    text = page_text(visit("abstention"))
    assert "Abstention needs the confidence of every question." in text


def test_an_empty_folder_has_the_usual_message(data: Path, visit: Visit) -> None:
    assert data.is_dir()
    assert "The data folder has no prediction files" in page_text(visit("abstention"))


def test_the_page_alone_shows_the_same(file: Path, visit: Visit) -> None:
    assert file.exists()
    params = {"wanted": "0.6", "threshold": "0.7"}
    assert tiles(screens.open_single_page("abstention", params)) == tiles(visit("abstention", **params))
