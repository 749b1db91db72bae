"""The page Training draws the checkpoints of each model, and opens the selected one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load, score
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.metrics import METRICS
from calib_core.results.changes import NO_ROWS_TO_PAIR
from calib_core.results.evidence import gather_evidence
from calib_core.wording import as_clause, format_p_value
from predictions import quiz, write_csv
from screens import Visit, choose, figure, page_text
from token_files import STEPS, positions, write_checkpoints, write_npz


@pytest.fixture
def checkpoints(data: Path) -> list[Path]:
    return write_checkpoints(data)


def lines(at: AppTest) -> dict[str, dict[str, Any]]:
    """Name in the legend → the line drawn."""
    return {trace["name"]: trace for trace in figure(at, "training")["data"] if trace.get("customdata")}


def test_the_points_are_the_scores(checkpoints: list[Path], visit: Visit) -> None:
    at = visit("training", metric="full_ece", m="20")
    wanted = [score(load(path)[0], method="tokens", metric="full_ece", bins=20) for path in checkpoints]
    drawn = lines(at)["gpt"]
    assert drawn["y"] == pytest.approx([number.value for number in wanted], abs=1e-6)
    assert [own[0] for own in drawn["customdata"]] == [f"gpt-plays-step{step}" for step in STEPS]
    assert figure(at, "training")["layout"]["xaxis"]["title"]["text"] == "Training step (log)"
    table = screens.table(at, "Checkpoint", "If calibrated")
    assert table["Checkpoint"].to_list() == [f"step{step}" for step in STEPS]
    assert table[METRICS["full_ece"].title].to_list() == [number.value for number in wanted]
    assert "M=20" in at.text[0].value
    first, last = f"{wanted[0].value:.4f}", f"{wanted[-1].value:.4f}"
    headline = screens.plain(at.header[0].value)
    assert f" from {first} at step 100 to {last} at step 6,400, in " in headline
    assert headline.endswith(" of 3 steps; not tested.")
    verdicts = [gather_evidence(load(path)[0], "tokens").verdict for path in checkpoints]
    q_values = benjamini_hochberg([verdict.p for verdict in verdicts])
    assert table["Verdict"].to_list() == [verdict.words for verdict in verdicts]
    assert table["q"].to_list() == [format_p_value(q, None) for q in q_values]
    n_miscalibrated = sum(q is not None and q <= 0.05 for q in q_values)
    assert f"{n_miscalibrated} of 4 checkpoints miscalibrated." in page_text(at)
    assert f"The change is not tested: {as_clause(NO_ROWS_TO_PAIR)}." in page_text(at)


def test_every_model_has_its_line_and_other_runs_a_reason(
    data: Path, checkpoints: list[Path], visit: Visit
) -> None:
    assert checkpoints
    write_checkpoints(data, (100, 1600), model="bigram")
    write_npz(data / "plain.npz", positions(), model="plain")
    write_csv(data / "quiz.csv", quiz(50))
    at = visit("training")
    assert {name: len(line["x"]) for name, line in lines(at).items()} == {"bigram": 2, "gpt": 4}
    text = page_text(at)
    assert "Not shown (2)" in text
    assert "plain: The file names no checkpoint and no tokens seen." in text
    assert "quiz: " in text


def test_a_model_with_one_checkpoint_is_shown_on_request(
    data: Path, checkpoints: list[Path], visit: Visit
) -> None:
    assert checkpoints
    write_checkpoints(data, (100,), model="alone")
    at = visit("training")
    assert list(lines(at)) == ["gpt"]
    assert "alone · plays · step100: The run is the only checkpoint of its model" in page_text(at)
    (switch,) = at.toggle
    assert switch.label == "1 model with one checkpoint"
    switch.set_value(True)
    screens.run(at)
    assert sorted(lines(at)) == ["alone", "gpt"]
    assert screens.address(at) == {"alone": "1"}
    assert sorted(lines(visit("training", alone="1"))) == ["alone", "gpt"]


def test_no_checkpoint_says_what_to_put_there(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    at = visit("training")
    assert "No run here is a checkpoint of a training." in page_text(at)
    assert "tokens_seen" in page_text(at)
    assert at.get("plotly_chart") == []


def test_an_empty_folder_has_the_usual_message(data: Path, visit: Visit) -> None:
    assert data.is_dir()
    assert "The data folder has no prediction files" in page_text(visit("training"))


def test_the_chosen_checkpoint_shows_its_diagram(checkpoints: list[Path], visit: Visit) -> None:
    at = visit("training", metric="full_ece", at="gpt-plays-step1600")
    assert "gpt · plays · step1600" in [screens.plain(element.value) for element in at.header]
    assert sum(part for _, part in screens.targets(at)) == pytest.approx(1.0), "parts of the sum"
    drawn = figure(at, "reliability")
    counts = [re.search(r"<br>([\d,]+) ", text) for text in drawn["data"][-1]["hovertext"]]
    (run,) = load(checkpoints[2])
    assert sum(int(count[1].replace(",", "")) for count in counts if count) == run.n_total * 60
    assert drawn["layout"]["xaxis"]["type"] == "log"
    rings = [
        trace
        for trace in figure(at, "training")["data"]
        if trace.get("marker", {}).get("symbol") == "circle-open"
    ]
    assert len(rings) == 1
    assert "Open this checkpoint on the page Reliability" in str(
        [node.proto.label for node in screens.walk(at.main) if isinstance(node, screens.PageLink)]
    )


def test_a_missing_checkpoint_shows_no_diagram(checkpoints: list[Path], visit: Visit) -> None:
    assert checkpoints
    at = visit("training", at="nobody")
    assert [chart.key for chart in at.get("plotly_chart")] == [
        "training",
        "training_nll",
        "training_accuracy",
    ]


def test_metric_and_m_are_chosen(checkpoints: list[Path], visit: Visit) -> None:
    at = choose(choose(visit("training", metric="ece"), "metric", "brier"), "m_typed", 50)
    wanted = score(load(checkpoints[0])[0], method="tokens", metric="brier")
    assert lines(at)["gpt"]["y"][0] == pytest.approx(wanted.value, abs=1e-6)
    assert screens.address(at) == {"metric": "brier", "m": "50"}
    choose(at, "metric", "ece")
    wanted = score(load(checkpoints[0])[0], method="tokens", metric="ece", bins=50)
    assert lines(at)["gpt"]["y"][0] == pytest.approx(wanted.value, abs=1e-6)


def test_an_m_that_the_grid_does_not_serve_offers_the_nearest(checkpoints: list[Path], visit: Visit) -> None:
    assert checkpoints
    at = visit("training", m="7")
    assert "M=7 cannot be read off" in page_text(at)
    (offer,) = [button for button in at.button if button.label == "Use M = 6"]
    offer.click()
    screens.run(at)
    assert screens.address(at) == {"m": "6"}
    assert "M=6" in at.text[0].value


def test_checkpoints_of_answers_are_drawn_too(data: Path, visit: Visit) -> None:
    for step in (10, 20):
        write_csv(data / f"quiz-{step}.csv", quiz(200, seed=step, model="red", checkpoint=f"step{step}"))
    at = visit("training", method="verbal")
    wanted = [
        score(load(data / f"quiz-{step}.csv")[0], method="verbal", metric="ece").value for step in (10, 20)
    ]
    assert lines(at)["red"]["x"] == [10, 20]
    assert lines(at)["red"]["y"] == pytest.approx(wanted, abs=1e-6)


def test_the_page_alone_shows_the_same(checkpoints: list[Path], visit: Visit) -> None:
    assert checkpoints
    params = {"m": "20", "at": "gpt-plays-step100"}
    alone, whole = screens.open_single_page("training", params), visit("training", **params)
    assert lines(alone)["gpt"]["y"] == lines(whole)["gpt"]["y"]
    assert screens.targets(alone) == screens.targets(whole)


def test_checkpoints_of_answers_are_compared_on_the_same_questions(data: Path, visit: Visit) -> None:
    for step, accuracy in ((10, 0.5), (2000, 0.9)):
        rows = [
            {
                "id": f"q{at}",
                "model": "gpt",
                "checkpoint": f"step{step}",
                "confidence": 0.9,
                "correct": int(at < 200 * accuracy),
            }
            for at in range(200)
        ]
        write_csv(data / f"step{step}.csv", rows)
    headline = screens.plain(visit("training").header[0].value)
    assert headline.startswith("ECE falls from 0.4000 at step 10 to 0.0000 at step 2,000: −0.4000 (95 % −0.")
    assert headline.endswith("on 200 questions.")


def test_full_ece_leads_and_loss_and_accuracy_stand_beside_it(checkpoints: list[Path], visit: Visit) -> None:
    at = visit("training")
    assert [chart.key for chart in at.get("plotly_chart")] == [
        "training",
        "training_nll",
        "training_accuracy",
    ]
    assert screens.address(at) == {}
    for key, metric in (("training", "full_ece"), ("training_nll", "nll"), ("training_accuracy", "accuracy")):
        (line,) = (trace for trace in figure(at, key)["data"] if trace.get("customdata"))
        wanted = [score(load(path)[0], method="tokens", metric=metric).value for path in checkpoints]
        assert line["y"] == pytest.approx(wanted, abs=1e-6)
    table = screens.table(at, "Checkpoint", "Accuracy")
    assert table["Step"].to_list() == list(STEPS)  # numbers, so that 100 is sorted before 1600
    text = page_text(at)
    assert "Does Full-ECE fall throughout? As observed, the values fall in " in text
    assert "Does accuracy rise throughout? As observed, " in text
    assert "Published: Full-ECE falls as training goes on. Here: gpt (a token-level run keeps sums" in text
    choose(at, "also_shown", ["brier"])
    assert [chart.key for chart in at.get("plotly_chart")] == ["training", "training_brier"]
    assert screens.address(at) == {"also": "brier"}
    assert [chart.key for chart in visit("training", also="brier").get("plotly_chart")] == [
        "training",
        "training_brier",
    ]


def test_tokens_are_numbers_with_a_unit(data: Path, visit: Visit) -> None:
    for seen in (300_000_000_000, 12_800_000_000_000):
        write_csv(data / f"{seen}.csv", quiz(60, model="red", tokens_seen=str(seen)))
    at = visit("training")
    assert screens.table(at, "Checkpoint", "Tokens seen")["Tokens seen"].to_list() == [0.3, 12.8]
    assert "at 300B tokens" in page_text(at)
    assert "at 12.8T tokens" in page_text(at)
    assert figure(at, "training")["layout"]["xaxis"]["ticktext"] == ["300B", "12.8T"]
