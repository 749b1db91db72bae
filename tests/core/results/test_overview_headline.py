"""The headline of the overview, for every kind of runs."""

from __future__ import annotations

import re

from calib_core.results.overview import summarise_runs
from core.run_builders import block_evidence
from core.token_run_builders import dense_evidence, random_rows
from core.tour_runs import CALIBRATED, OVER, UNDER


def test_several_runs_of_every_kind() -> None:
    result = summarise_runs(
        {
            "bad": [block_evidence(*OVER)],
            "worse": [block_evidence((0.95, 200, 20))],
            "shy": [block_evidence(*UNDER)],
            "good": [block_evidence(*CALIBRATED)],
            "tiny": [block_evidence((0.9, 3, 1))],
            "wavering": [block_evidence((0.95, 200, 150), (0.35, 200, 110))],
        }
    )
    assert result.headline == (
        "Of 6 runs, 2 are over-confident, 1 is under-confident, 1 is too extreme, 1 shows no "
        "evidence of miscalibration and 1 has too few rows."
    )
    assert result.subheadline == (
        "The lowest ECE, 0.0000, is that of good, which says 65.0 % on average and is right 65.0 % of the "
        "time. Right most often is shy, which says 55.0 % on average and is right 80.0 % of the time."
    )


def test_calibrated_runs_alone() -> None:
    result = summarise_runs({"a": [block_evidence(*CALIBRATED)], "b": [block_evidence((0.8, 100, 80))]})
    assert result.headline == "Both runs show no evidence of miscalibration."


def test_the_best_calibrated_may_be_the_most_accurate() -> None:
    result = summarise_runs({"a": [block_evidence((0.9, 100, 90))], "b": [block_evidence(*OVER)]})
    assert result.subheadline.endswith(
        "is that of a, which says 90.0 % on average and is right 90.0 % of the time, the most of all."
    )


def test_one_run() -> None:
    told = [summarise_runs({"red": [block_evidence(*kind)]}).headline for kind in (OVER, UNDER, CALIBRATED)]
    assert told == [
        "red says 81.7 % on average and is right 56.7 % of the time: over-confident.",
        "red says 55.0 % on average and is right 80.0 % of the time: under-confident.",
        (
            "red says 65.0 % on average and is right 65.0 % of the time: no evidence of miscalibration in "
            "400 rows."
        ),
    ]
    assert summarise_runs({"red": [block_evidence((0.9, 3, 1))]}).headline == (
        "The one run here, red, has too few rows to be judged."
    )


def test_forty_runs_and_few_rows() -> None:
    many = summarise_runs({f"run {at}": [block_evidence(*OVER)] for at in range(40)})
    assert many.headline == "All 40 runs are over-confident."
    few = summarise_runs({"a": [block_evidence((0.9, 3, 1))], "b": [block_evidence((0.9, 4, 1))]})
    assert (few.headline, few.subheadline) == ("Neither of the 2 runs here has rows enough to be judged.", "")


def test_answers_and_texts_are_not_compared() -> None:
    text = dense_evidence(*random_rows(200, 8))
    result = summarise_runs(
        {"text": [text], "red": [block_evidence(*OVER)], "blue": [block_evidence((0.95, 200, 100))]}
    )
    assert re.match(r"Of the 2 with answers, the lowest ECE, 0\.\d+, is that of red,", result.subheadline)
    assert summarise_runs({"a": [text], "b": [text]}).subheadline.startswith("The lowest ECE, ")


def test_a_run_of_few_rows_that_does_better_is_not_passed_over_silently() -> None:
    result = summarise_runs(
        {
            "a": [block_evidence((0.9, 100, 90))],
            "b": [block_evidence(*OVER)],
            "tiny": [block_evidence((1.0, 5, 5))],
        }
    )
    assert result.subheadline.startswith("Of the 2 with rows enough, the lowest ECE, 0.0000, is that of a, ")
    as_good = {
        "a": [block_evidence((0.75, 100, 75))],
        "b": [block_evidence((0.95, 100, 50))],
        "tiny": [block_evidence((0.75, 4, 3))],
    }
    assert summarise_runs(as_good).subheadline.startswith("The lowest ECE, 0.0000, is that of a, ")


def test_no_run_has_no_verdict_to_judge_with_others() -> None:
    nothing = summarise_runs({})
    assert (nothing.headline, nothing.by_every_method) == ("There is no run here.", ())


def test_runs_that_share_an_end_are_counted() -> None:
    same = {name: [block_evidence((0.9, 100, 80))] for name in "abc"}
    told = summarise_runs(same).subheadline
    assert told.startswith("The lowest ECE, 0.1000, is that of a (and of 2 others), which says ")
    right = {"b": (0.9, 100, 80), "c": (0.75, 100, 80), "honest": (0.6, 100, 60)}
    told = summarise_runs({name: [block_evidence(block)] for name, block in right.items()}).subheadline
    assert told.startswith("The lowest ECE, 0.0000, is that of honest, which says 60.0 % on average")
    assert ". Right most often is c (and 1 other), which says " in told


def test_runs_that_are_right_as_often() -> None:
    result = summarise_runs({"a": [block_evidence((0.8, 100, 80))], "b": [block_evidence((0.6, 100, 80))]})
    assert result.subheadline.endswith(
        "a, which says 80.0 % on average and is right 80.0 % of the time, as often as any."
    )
