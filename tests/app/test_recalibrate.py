"""The page Recalibrate: its numbers are those of the result, and its map can be taken away."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import screens
from calib_core.api import load
from calib_core.results.evidence import gather_evidence
from calib_core.results.recalibration import SUMS_ONLY, Recalibration, recalibrate
from calib_core.views.glossary import GLOSSARY
from calib_core.wording import format_interval, format_signed
from predictions import write_csv
from screens import Visit, figure, page_text, tiles
from token_files import positions, write_npz


@pytest.fixture
def quiz_file(data: Path) -> Path:
    """120 questions, over-confident, each asked twice."""
    random = np.random.default_rng(0)
    rows = [
        {
            "id": f"{question}-{trial}",
            "trial_of": str(question),
            "confidence": round(float(c), 2),
            "correct": int(random.random() < c - 0.3),
        }
        for question, c in enumerate(random.uniform(0.5, 1, 120))
        for trial in range(2)
    ]
    return write_csv(data / "quiz.csv", rows)


def expected(path: Path, by: str, folds: int, seed: int) -> Recalibration:
    (run,) = load(path)
    return recalibrate(gather_evidence(run, "given"), by, folds, seed)


def test_the_page_shows_the_result_of_its_choice(quiz_file: Path, visit: Visit) -> None:
    at = visit("recalibrate", map="isotonic", folds="4", seed="7")
    result = expected(quiz_file, "isotonic", 4, 7)
    assert result.n_questions == 120
    assert result.headline in page_text(at)
    assert f"Brier score: {GLOSSARY['Brier score'].meaning}" in screens.plain(at.header[0].proto.help)
    shown = tiles(at)
    assert shown["Brier score"] == f"{result.before['brier']:.4f} → {result.after['brier']:.4f}"
    assert "240 of 240 rows" in page_text(at)
    table = screens.table(at, "Metric", "After")
    ece, brier = result.differences["ece"], result.differences["brier"]
    assert set(result.no_difference) == {"nll"}
    assert table["Difference"].to_list() == pytest.approx([ece.value, brier.value, np.nan], nan_ok=True)
    assert table["Before"].to_list()[2] == "∞"
    intervals = [format_interval(one.low, one.high, "+.4f") for one in (ece, brier)]
    assert table["Interval"].to_list() == [*intervals, "–"]
    below = [screens.plain(metric.delta) for metric in at.metric]
    assert below == [format_signed(ece.value), format_signed(brier.value)]
    assert all(each in screens.plain(metric.help) for each, metric in zip(intervals, at.metric, strict=True))
    assert f"Difference in Log loss: {result.no_difference['nll']}" in page_text(at)
    assert "120 questions in 4 folds" in page_text(at)
    assert figure(at, "before")["data"] != figure(at, "after")["data"]


def test_the_map_can_be_taken_away(quiz_file: Path, visit: Visit) -> None:
    at = visit("recalibrate")
    result = expected(quiz_file, "platt", 5, 0)
    labels = [button.proto.label for button in at.get("download_button")]
    assert labels[-2:] == ["Map (JSON)", "Python"]
    assert result.map.to_python().strip() in [code.value.strip() for code in at.text]
    assert f"slope {result.map.parameters['slope']:.4g}" in page_text(at)
    assert json.loads(result.map.to_json())["method"] == "given"


def test_what_cannot_be_recalibrated_says_why(data: Path, visit: Visit) -> None:
    write_csv(data / "few.csv", [{"confidence": 0.8, "correct": at % 2} for at in range(4)])
    at = visit("recalibrate")
    assert [screens.plain(info.value) for info in at.info] == [
        "5 folds need at least 5 questions with a confidence and an outcome; there are 4."
    ]
    assert not at.get("plotly_chart")


def test_token_level_runs_say_what_to_do(data: Path, visit: Visit) -> None:
    write_npz(data / "text.npz", positions(), model="text")
    assert [screens.plain(info.value) for info in visit("recalibrate").info] == [SUMS_ONLY]


@pytest.mark.parametrize("params", [{"map": "<b>"}, {"folds": "1"}, {"folds": "99"}, {"seed": "-1"}])
def test_an_unknown_choice_in_a_link_falls_back(
    quiz_file: Path, visit: Visit, params: dict[str, str]
) -> None:
    at = visit("recalibrate", **params)
    assert expected(quiz_file, "platt", 5, 0).headline in page_text(at)
    assert at.warning
