"""The page Robustness: how far each number depends on M, beside what chance alone would give."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load
from calib_core.readers.token.sums import write_sums
from calib_core.results.audit import audit_conventions
from calib_core.results.evidence import gather_evidence
from calib_core.results.published import compare_rsd
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, sweep_bins
from calib_core.runs import RunInfo, TokenRun
from calib_core.tokens.bounds import largest_exact_bins
from core.token_run_builders import dense_sums, token_run
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, choose, control, figure, page_text, tiles
from token_files import CLASSES, positions, write_npz, write_topk


@pytest.fixture
def token_file(data: Path) -> Path:
    return write_npz(data / "plays.npz", positions(), model="gpt", dataset="plays")


def curves(at: AppTest, key: str = "sweep_figure") -> dict[tuple[str, int], dict[str, Any]]:
    """(metric, place of the run) → the line drawn."""
    drawn = [trace for trace in figure(at, key)["data"] if "run" in trace.get("meta", [{}])[0]]
    return {(trace["meta"][0]["metric"], trace["meta"][0]["run"]): trace for trace in drawn}


def row(at: AppTest, metric: str) -> dict[str, Any]:
    """The table's row of a metric."""
    frame = screens.table(at, "Metric", "RSD by chance")
    return {str(name): value for name, value in frame[frame["Metric"] == metric].iloc[0].items()}


def test_figure_and_table_are_the_sweep(token_file: Path, visit: Visit) -> None:
    at = visit("robustness")
    (run,) = load(token_file)
    result = sweep_bins(gather_evidence(run, "tokens"))
    assert set(curves(at)) == {(metric, 0) for metric in SWEPT_METRICS}
    for curve in result.curves:
        drawn = curves(at)[curve.metric, 0]
        assert drawn["x"] == list(PAPER_BINS)
        assert drawn["y"] == pytest.approx(curve.values, abs=1e-6)
    full = next(curve for curve in result.curves if curve.metric == "full_ece")
    assert full.rsd is not None
    assert full.null is not None
    assert tiles(at) == {}
    cells = row(at, "Full-ECE")
    assert cells["RSD"] == 100 * full.rsd
    assert full.null.rsd_low is not None
    assert full.null.rsd_high is not None
    assert cells["RSD by chance"] == f"{100 * full.null.rsd_low:.1f} to {100 * full.null.rsd_high:.1f} %"
    assert cells["M = 500"] == full.values[-1]
    assert screens.plain(at.header[0].value) == result.headline
    assert f"Noise and verdict: {result.chance_note}" in page_text(at)
    assert at.text[0].value == result.curves[0].recipe
    bands = [trace for trace in figure(at, "sweep_figure")["data"] if trace.get("fill")]
    assert len(bands) == len(SWEPT_METRICS)


def test_what_is_cw_ece_times_k_has_no_relative_curve_of_its_own(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = choose(visit("robustness"), "_relative", value=True)
    assert screens.address(at)["relative"] == "1"
    assert set(curves(at)) == {(metric, 0) for metric in SWEPT_METRICS if metric != "cw_ece_sum"}
    assert "K·cw-ECE is K times cw-ECE: it has the same RSD" in page_text(at)
    assert row(at, "K·cw-ECE")["RSD"] == row(at, "cw-ECE")["RSD"]
    at = choose(at, "metrics_shown", ["cw_ece_sum"])
    assert set(curves(at)) == {("cw_ece_sum", 0)}


def test_a_number_that_is_the_same_at_every_m_has_no_spread(data: Path, visit: Visit) -> None:
    said_right = zip((0.95, 0.75, 0.55, 0.35, 0.15), (1, 0, 1, 0, 0), strict=True)
    write_csv(data / "five.csv", [{"confidence": said, "correct": right} for said, right in said_right])
    at = visit("robustness")
    cells = row(at, "ECE")
    assert cells["RSD"] == pytest.approx(0.0)
    assert screens.plain(at.header[0].value) == "ECE is 0.3500 at every M."


def test_the_set_of_m_is_edited_and_goes_into_the_address(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = choose(visit("robustness"), "ms", "20; 5 ,10,5")
    assert curves(at)["ece", 0]["x"] == [5, 10, 20]
    assert screens.address(at) == {"ms": "5,10,20"}
    assert screens.control(at, "ms").value == "5, 10, 20"
    assert curves(visit("robustness", ms="5,10,20"))["ece", 0]["x"] == [5, 10, 20]
    assert "RSD over M in {5, 10, 20}, ddof 0" in page_text(at)
    choose(at, "ms", ", ".join(map(str, PAPER_BINS)))
    assert screens.address(at) == {}


@pytest.mark.parametrize("typed", ["ten, 10", "0, 10, 1001", "10, -5, 5.5", "9" * 5000 + ", 10"])
def test_an_invalid_m_is_reported_and_left_out(typed: str, token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("robustness", ms=typed)
    assert curves(at)["ece", 0]["x"] == [10]
    assert "Not a number of bins" in "".join(caption.value for caption in at.sidebar.caption)


def test_an_m_that_the_grid_does_not_serve_is_refused_with_the_nearest(
    token_file: Path, visit: Visit
) -> None:
    assert token_file.exists()
    at = visit("robustness", ms="5,7")
    assert curves(at)["ece", 0]["y"] == [pytest.approx(curves(at)["ece", 0]["y"][0]), None]
    assert "M=7 cannot be read off" in page_text(at)
    assert "the nearest is 6" in page_text(at)


def test_metrics_and_spread_are_chosen(token_file: Path, visit: Visit) -> None:
    (run,) = load(token_file)
    at = choose(visit("robustness", ddof="1"), "metrics_shown", ["full_ece", "mce"])
    assert {metric for metric, _ in curves(at)} == {"full_ece", "mce"}
    assert screens.address(at) == {"ddof": "1", "metrics": "full_ece,mce"}
    wanted = sweep_bins(gather_evidence(run, "tokens"), ("full_ece",), ddof=1).curves[0].rsd
    assert wanted is not None
    assert row(at, "Full-ECE")["RSD"] == 100 * wanted
    choose(at, "metrics_shown", [])
    assert [screens.plain(info.value) for info in at.info] == ["Choose a metric."]


def test_runs_are_shown_side_by_side(data: Path, token_file: Path, visit: Visit) -> None:
    other = write_npz(data / "sharp.npz", positions(sharp=2.0), model="sharp", dataset="plays")
    write_csv(data / "quiz.csv", quiz(100))
    at = visit("robustness", run="gpt-plays")
    assert screens.control(at, "beside_runs_shown").options == ["sharp · plays"]
    choose(at, "beside_runs_shown", ["sharp-plays"])
    assert screens.address(at) == {"run": "gpt-plays", "beside_runs": "sharp-plays"}
    for place, path in enumerate((token_file, other)):
        (run,) = load(path)
        wanted = sweep_bins(gather_evidence(run, "tokens"), ("ece",)).curves[0].values
        assert curves(at)["ece", place]["y"] == pytest.approx(wanted, abs=1e-6)
    table = screens.table(at, "Metric", "Run", "RSD")
    assert table["Metric"].to_list()[:4] == ["ECE", "ECE", "cw-ECE", "cw-ECE"]
    assert len(table) == 2 * len(SWEPT_METRICS)
    by_run = screens.table(at, "Metric", "gpt · plays", "sharp · plays").set_index("Metric")
    of_full = table[table["Metric"] == "Full-ECE"]["RSD"].to_list()
    assert [by_run[name]["Full-ECE"] for name in by_run.columns] == of_full
    assert "sharp · plays: ECE rises from" in page_text(at)


def test_runs_beside_this_one_are_not_those_of_comparison(data: Path, visit: Visit) -> None:
    for model in ("blue", "green", "red"):
        write_csv(data / f"{model}.csv", quiz(60, model=model, dataset="quiz"))
    at = choose(visit("robustness", run="blue-quiz"), "beside_runs_shown", ["green-quiz"])
    at = screens.go(at, "comparison")
    assert screens.control(at, "runs_shown").value == ["blue-quiz", "green-quiz", "red-quiz"]
    choose(at, "runs_shown", ["blue-quiz", "red-quiz"])
    at = screens.go(at, "robustness")
    assert screens.control(at, "beside_runs_shown").value == ["green-quiz"]
    assert screens.address(at)["beside_runs"] == "green-quiz"


def test_choices_of_questions_have_curves_too(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices())
    at = visit("robustness", method="choice_softmax")
    assert {metric for metric, _ in curves(at)} == set(SWEPT_METRICS)
    assert "240 rows" in page_text(at)
    bands = [
        trace["name"] for trace in figure(at, "sweep_figure")["data"] if "5–95 %" in str(trace.get("name"))
    ]
    assert bands == ["calibrated model: 5–95 %", "ECE, fitted model: 5–95 %"]
    assert screens.tables(at, "As the right class") == []
    assert figure(at, "pools")["layout"]["yaxis"]["ticktext"]


def test_one_confidence_per_question_has_ece_and_says_why_no_more(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(200))
    at = visit("robustness", method="given")
    assert {metric for metric, _ in curves(at)} == {"ece"}
    assert control(at, "metrics_shown").value == ["ece"]
    assert "Not shown" not in page_text(at)
    unavailable = [screens.plain(caption.value) for caption in at.sidebar.caption]
    (why,) = [reason for reason in unavailable if reason.startswith("Full-ECE: ")]
    assert "not a whole distribution" in why
    asked = visit("robustness", method="given", metrics="ece,cw_ece,full_ece")
    assert {metric for metric, _ in curves(asked)} == {"ece"}
    assert "cw-ECE, Full-ECE: " in page_text(asked)
    assert "not a whole distribution" in page_text(asked)


def test_the_largest_entries_alone_give_bounds(data: Path, visit: Visit) -> None:
    write_topk(data / "top.jsonl", model="api")
    at = visit("robustness")
    (run,) = load(data / "top.jsonl")
    full = next(
        curve for curve in sweep_bins(gather_evidence(run, "tokens")).curves if curve.metric == "full_ece"
    )
    assert full.bounds
    bars = [trace for trace in figure(at, "sweep_figure")["data"] if trace.get("meta", [{}])[0].get("bounds")]
    assert [trace["x"] for trace in bars] == [sorted(full.bounds)]
    low, high = full.bounds[500]
    assert row(at, "Full-ECE")["M = 500"] == f"{low:.4f} to {high:.4f}"
    assert math.isnan(row(at, "Full-ECE")["RSD"])
    caveat = next(element.value for element in at.caption if "largest probabilities only" in element.value)
    assert isinstance(run, TokenRun)
    assert f"exact up to M = {largest_exact_bins(run.sums)}" in screens.plain(caveat)
    assert "cw-ECE, K·cw-ECE: " in page_text(at)


def test_one_position_after_another(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    probs, target = positions()
    at = visit("robustness", place="3")
    names = figure(at, "pools")["layout"]["yaxis"]["ticktext"]
    assert [name for name in names if "✓" in name] == [
        f"<b>token {target[2]} ✓ {probs[2, target[2]]:.2g}</b>",
    ]
    assert names[0].removeprefix("<b>").startswith(f"token {probs[2].argmax()} ")
    assert f"Full-ECE puts the same {CLASSES}" in page_text(at)
    choose(at, "_place", 1)
    assert screens.address(at)["place"] == "1"
    assert f"token {target[0]} ✓" in str(figure(at, "pools")["layout"]["yaxis"]["ticktext"])


def test_the_classes_that_occur_are_counted(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    _, target = positions()
    often = [(target == class_).sum() for class_ in range(CLASSES)]
    frame = screens.table(visit("robustness"), "As the right class", "Classes")
    assert frame["Classes"].to_list() == [
        sum(n == 0 for n in often),
        sum(0 < n <= 10 for n in often),
        sum(n > 10 for n in often),
    ]


def test_the_paper_s_numbers_stand_beside_the_run_s(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("robustness")
    result = sweep_bins(gather_evidence(load(token_file)[0], "tokens"))
    rsd = {curve.metric: curve.rsd for curve in result.curves}
    shown = screens.table(at, "Number", "2B (paper)").set_index("Number")
    assert shown["7B (paper)"].to_list()[:2] == [44.9, 8.36]
    assert math.isnan(shown["7B (paper)"].iloc[2])
    (own,) = (name for name in shown.columns if name.startswith("gpt"))
    full = rsd["full_ece"]
    assert full is not None
    assert not [name for name in shown.columns if "difference" in name]
    assert shown[own]["RSD of Full-ECE"] == 100 * full
    (finding,) = compare_rsd({own: result}).findings
    text = page_text(at)
    assert f"Published: {finding.published}. Here: {finding.details}." in text
    assert "Published numbers come from other models and questions" in text
    assert "RSD never compares models" in text


def test_few_positions_say_why_nothing_is_judged(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(20))
    assert "Not judged: 20 rows, fewer than 30." in page_text(visit("robustness"))


def test_an_unknown_choice_is_reported(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("robustness", beside_runs="nobody", metrics="brier,ece", ddof="7", place="99999")
    assert (
        len(screens.unmet_link_warnings(at, "beside_runs", "nobody"))
        == len(screens.unmet_link_warnings(at, "metrics", "brier"))
        == 1
    )
    assert len(screens.unmet_link_warnings(at, "ddof", "7")) == 1
    assert {metric for metric, _ in curves(at)} == {"ece"}


def test_the_page_alone_shows_the_same(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    alone, whole = screens.open_single_page("robustness", {"ms": "5,10"}), visit("robustness", ms="5,10")
    assert figure(alone, "sweep_figure") == figure(whole, "sweep_figure")


def test_the_conventions_and_a_published_figure(data: Path, visit: Visit) -> None:
    stated = {0.9: (30, 1), 0.95: (20, 0), 1.0: (50, 1)}
    rows = [{"confidence": c, "correct": y} for c, (n, y) in stated.items() for _ in range(n)]
    path = write_csv(data / "stated.csv", rows)
    (run,) = load(path)
    audit = audit_conventions(gather_evidence(run, "given"))
    at = visit("robustness", published="15.4 %")
    assert audit.headline in page_text(at)
    assert "No convention gives 15.4 %." in page_text(at)
    shown = screens.table(at, "Convention", "Value")
    assert len(shown) == len(audit.values)
    at = visit("robustness", published=f"{audit.default.value:.4f}")
    assert f"give {audit.default.value:.4f}: " in page_text(at)
    assert "equal width, M = 10, right-closed, mean gap" in page_text(at)
    assert len(figure(at, "conventions")["layout"]["shapes"]) == 1
    at = visit("robustness", published="<b>*one*</b>")
    assert "Type the ECE as it was published" in page_text(at)


def test_what_is_rarely_changed_is_folded(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("robustness", ddof="1")
    (folded,) = [fold for fold in at.sidebar.expander if fold.label == "How the RSD is computed"]
    assert not folded.proto.expanded
    assert [choice.key for choice in folded.get("button_group")] == ["ddof"]


def test_the_page_opens_on_whole_distributions(data: Path, token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    write_csv(data / "a-quiz.csv", quiz(100, model="red"))
    assert control(visit("robustness"), "run").value == "gpt-plays"
    assert control(visit("robustness", run="red"), "run").value == "red"
    assert control(visit("concentration"), "run").value == "red"


def test_sums_by_class_come_before_more_positions_without(data: Path, visit: Visit) -> None:
    probs, target = positions()
    runs = [
        replace(token_run(dense_sums(probs[:n], target[:n], by_class=by_class)), label=name)
        for name, n, by_class in (("many", 300, False), ("few", 60, True), ("more", 120, True))
    ]
    for run in runs:
        write_sums([replace(run, info=RunInfo(model=run.label))], data / f"{run.label}.sums.parquet")
    assert control(visit("robustness"), "run").value == "more"
