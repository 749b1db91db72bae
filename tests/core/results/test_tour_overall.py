"""The tour's overall step and its step about bins."""

from __future__ import annotations

import re

import numpy as np
import pytest

from calib_core.errors import Unavailable
from calib_core.results import tour
from calib_core.results.reliability import Reliability
from calib_core.results.robustness import Sweep
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import (
    CALIBRATED,
    OVER,
    UNDER,
    Block,
    block_answers,
    calibrated_answers,
    make_step,
    step_text,
)

LARGEST = "The largest part of the gap is in"
WAVERING: tuple[Block, ...] = ((0.95, 200, 150), (0.35, 200, 110))


@pytest.mark.parametrize(
    ("blocks", "heading", "where"),
    [
        (
            OVER,
            "Over-confident, and where",
            (
                f"{LARGEST} 90–100 % (0.9, 1]: 200 answers state 95.0 % on average, and "
                "60.0 % of them are right."
            ),
        ),
        (
            UNDER,
            "Under-confident, and where",
            (
                f"{LARGEST} 60–70 % (0.6, 0.7]: 200 answers state 65.0 % on average, and "
                "90.0 % of them are right."
            ),
        ),
        (
            WAVERING,
            "Too extreme",
            (
                f"{LARGEST} 30–40 % (0.3, 0.4]: 200 answers state 35.0 % on average, and "
                "55.0 % of them are right."
            ),
        ),
        (
            CALIBRATED,
            "No evidence of miscalibration",
            (
                "No single gap is beyond chance, given how many bins there are. In the fullest bin, 100 "
                "answers state 35.0 % on average, and 35.0 % of them are right."
            ),
        ),
        (
            ((0.9, 1, 0),),
            "Too few rows",
            "1 answer states 90.0 % and is wrong; a verdict takes at least 30 answers.",
        ),
    ],
)
def test_what_the_data_shows(blocks: tuple[Block, ...], heading: str, where: str) -> None:
    step = make_step("whole", block_answers(*blocks))
    assert (step.heading, step.sentences[1]) == (heading, where)
    assert step.sentences[0].startswith("red states ")
    assert isinstance(step.picture, Reliability)


@pytest.mark.parametrize("seed", range(5))
def test_a_calibrated_run_is_not_called_over_confident(seed: int) -> None:
    steps = (
        make_step("bin", calibrated_answers(2000, seed)),
        make_step("whole", calibrated_answers(2000, seed)),
    )
    for said in map(step_text, steps):
        claimed = said.replace("No evidence of miscalibration", "")
        assert not re.search(r"over-|under-|more than chance", claimed, re.IGNORECASE), said
    assert make_step("whole", calibrated_answers(2000, seed)).heading == "No evidence of miscalibration"


def test_the_sentences_change_with_the_data() -> None:
    calibrated, over = (
        step_text(make_step("whole", block_answers(*blocks))) for blocks in (CALIBRATED, OVER)
    )
    assert "over-confident" in over.lower()
    assert "over-confident" not in calibrated.lower()


def test_ece_with_its_m_and_by_chance() -> None:
    step = make_step("bins", calibrated_answers(500, 1))
    assert isinstance(step.picture, Sweep)
    (curve,) = step.picture.curves
    assert curve.null is not None
    few, many = curve.values[0], curve.values[-1]
    assert few is not None
    assert many is not None
    assert step.sentences[0].endswith(
        f"quiz, the ECE is {few:.4f} with 5 bins and {many:.4f} with 500: "
        f"{100 * few:.1f} and {100 * many:.1f} percentage points on average."
    )
    numbers = [f"{curve.null.median[0]:.4f}", f"{curve.null.median[-1]:.4f}"]
    assert all(number in step.sentences[1] for number in numbers)
    assert step.sentences[1].startswith(
        "On 500 answers, a perfectly calibrated model would by chance score about "
    )
    assert step.sentences[1].endswith(": read an ECE together with its number of bins and rows.")


def test_without_a_curve_the_reason_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Sweep("run", "given", (), 0, (), {"ece": "there is no ECE"}, 9, 9, "")
    monkeypatch.setattr(tour, "sweep_bins", lambda *_: none)
    with pytest.raises(Unavailable, match="there is no ECE"):
        make_step("bins", block_answers(*OVER))


def test_one_number_at_every_m() -> None:
    step = make_step("bins", block_answers((0.9, 100, 40)))
    assert step.sentences[0].endswith(
        "the ECE is 0.5000 with 5 bins as with 500: 50.0 percentage points on average."
    )
    assert step.sentences[1].endswith(
        "here the ECE is far above that, and the number of bins hardly changes it."
    )


def test_of_a_text() -> None:
    run = token_run(dense_sums(*random_rows(600, 6, off=0.4), text=np.arange(600) // 5))
    whole, bins = make_step("whole", run, method="tokens"), make_step("bins", run, method="tokens")
    assert whole.heading == "Over-confident, and where"
    assert "positions state" in whole.sentences[1]
    assert bins.sentences[1].startswith(
        "On 600 independent positions, a perfectly calibrated model would by chance score"
    )


def test_the_largest_gap_may_be_on_the_other_side() -> None:
    over: tuple[Block, ...] = tuple((said, 100, good) for said, good in ((0.95, 83), (0.75, 62), (0.55, 42)))
    step = make_step("whole", block_answers(*over, (0.15, 100, 35)))
    assert step.heading == "Over-confident, and where"
    assert step.sentences[1].startswith("The largest part of the over-confidence is in 50–60 % (0.5, 0.6]: ")


def test_the_largest_part_need_not_be_the_widest_gap() -> None:
    step = make_step("whole", block_answers((0.95, 900, 765), (0.65, 100, 30)))
    assert step.sentences[1] == (
        f"{LARGEST} 90–100 % (0.9, 1], not where the gap is widest but where "
        "the answers are many: "
        "900 answers state 95.0 % on average, and 85.0 % of them are right."
    )


def test_the_largest_gap_may_be_within_chance() -> None:
    step = make_step("whole", block_answers((0.5, 1000, 475), (0.05, 100, 20)))
    assert step.heading == "Too extreme"
    assert step.sentences[1].startswith("The largest part of the gap beyond chance is in 0–10 % [0, 0.1]: ")


def test_rounding_errors_around_zero_count_as_zero() -> None:
    step = make_step("bins", block_answers((0.8, 30, 24)))
    assert step.sentences[0].endswith(
        "the ECE is 0.0000 with 5 bins as with 500: 0.0 percentage points on average."
    )
    assert step.sentences[1].endswith(": read an ECE together with its number of bins and rows.")
