"""The headline of the overview, for every kind of runs."""

from __future__ import annotations

import re

import numpy as np

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
    assert result.subheadline == (  # tiny has no p-value and is in no family
        "Each run is scored with its default method. A verdict counts if q ≤ 0.05 over all 5 runs "
        "(Benjamini–Hochberg)."
    )


def test_calibrated_runs_alone() -> None:
    result = summarise_runs({"a": [block_evidence(*CALIBRATED)], "b": [block_evidence((0.8, 100, 80))]})
    assert result.headline == "Both runs show no evidence of miscalibration."


def test_one_run() -> None:
    told = [summarise_runs({"red": [block_evidence(*kind)]}).headline for kind in (OVER, UNDER, CALIBRATED)]
    assert told == [
        "red is over-confident: states 81.7 % on average and is right 56.7 % of the time.",
        "red is under-confident: states 55.0 % on average and is right 80.0 % of the time.",
        (
            "red shows no evidence of miscalibration in 400 rows: states 65.0 % on average and is right "
            "65.0 % of the time."
        ),
    ]
    assert summarise_runs({"red": [block_evidence((0.9, 3, 1))]}).headline == (
        "red, the only run loaded, has too few rows for a verdict."
    )


def test_forty_runs_and_few_rows() -> None:
    many = summarise_runs({f"run {at}": [block_evidence(*OVER)] for at in range(40)})
    assert many.headline == "All 40 runs are over-confident."
    few = summarise_runs({"a": [block_evidence((0.9, 3, 1))], "b": [block_evidence((0.9, 4, 1))]})
    assert (few.headline, few.subheadline) == ("Neither of the 2 runs has enough rows for a verdict.", "")


def test_no_run_has_no_verdict_to_judge_with_others() -> None:
    nothing = summarise_runs({})
    assert (nothing.headline, nothing.by_every_method) == ("No run is loaded.", ())


def test_no_run_is_named_best_or_worst() -> None:
    """Data sets and methods differ, so an ECE of one says nothing about another's."""
    text = dense_evidence(*random_rows(200, 8), text=np.arange(200) // 2)
    runs = {"good": [block_evidence(*CALIBRATED)], "bad": [block_evidence(*OVER)], "text": [text]}
    result = summarise_runs(runs)
    words = f"{result.headline} {result.subheadline}"
    assert "over all 3 " in result.subheadline
    assert not [name for name in runs if name in words.split()]
    assert not re.search(r"lowest|highest|best|worst|most|ECE", words)


def test_the_family_is_named_where_there_is_one() -> None:
    off, tiny = block_evidence(*OVER), block_evidence((0.9, 3, 1))
    assert "over both runs (Benj" in summarise_runs({"a": [off], "b": [off]}).subheadline
    assert summarise_runs({"a": [off], "tiny": [tiny]}).subheadline == ""
    assert summarise_runs({"a": [off]}).subheadline == ""
