"""Do the sentences on a sweep claim what the null allows, and no more?"""

from __future__ import annotations

import numpy as np

from calib_core.analysis.null import Null
from calib_core.analysis.sweep import sweep
from calib_core.analysis.sweep_reading import read_sweep
from core.made_runs import choice_evidence, given_evidence
from core.made_tokens import dense_evidence, some_rows


def null(p: tuple[float, float], change: float | None = 0.5) -> Null:
    return Null(199, 0, (0.01, 0.06), (0.0, 0.05), (0.02, 0.07), p, change_p=change)


def read(p: tuple[float, float], change: float | None = 0.5) -> str:
    return read_sweep("ECE", (5, 500), (0.03, 0.08), null(p, change), "1,319 rows")


OPENING = (
    "ECE is 0.0300 at M = 5 and 0.0800 at M = 500; confidences that are exactly right would give about "
    "0.0100 and 0.0600 on 1,319 rows. "
)


def test_what_chance_gives_is_no_finding() -> None:
    assert read((0.03, 0.4)) == (
        f"{OPENING}Both are within chance (p = 0.030, p = 0.400): neither speaks against these confidences, "
        "and the change over M is no more than noise."
    )
    assert read((0.5, 0.4), change=0.01).endswith("neither speaks against these confidences.")


def test_of_few_draws_one_above_all_of_them_is_no_noise() -> None:
    few = Null(19, 0, (0.01, 0.06), (0.0, 0.05), (0.02, 0.07), (0.05, 0.05), change_p=0.05)
    said = read_sweep("cw-ECE", (5, 500), (0.03, 0.08), few, "9 rows")
    assert "Both are more than chance gives (p = 0.050)" in said
    assert "within chance" not in said


def test_a_gap_that_is_more_than_chance() -> None:
    assert read((0.005, 0.01)) == (
        f"{OPENING}Both are more than chance gives (p = 0.005, p = 0.010); the change of 0.0500 over M is no "
        "more than thinner bins bring by chance (about 0.0500)."
    )
    only = "Only the number at M = 5 is more than chance gives (p = 0.005);"
    assert read((0.005, 0.4)).startswith(f"{OPENING}{only}")
    assert "Only the number at M = 500 is more" in read((0.2, 0.005))


def test_gaps_that_wide_bins_hide() -> None:
    assert read((0.005, 0.005), change=0.01).endswith(
        "(p = 0.005); the change of 0.0500 over M is more than thinner bins bring by chance (about 0.0500) "
        "(p = 0.010), as gaps that cancel in wider bins would have it."
    )


def test_without_a_null_nothing_is_claimed() -> None:
    assert read_sweep("ECE", (5, 500), (0.03, 0.08), None, "3 rows") == (
        "ECE is 0.0300 at M = 5 and 0.0800 at M = 500. How much of it is chance is not known here."
    )


def test_one_m_is_judged_alone() -> None:
    alone = Null(199, 0, (0.01,), (0.0,), (0.02,), (0.04,))
    assert read_sweep("ECE", (10,), (0.03,), alone, "9 rows") == (
        "ECE is 0.0300 at M = 10; confidences that are exactly right would give about 0.0100 on 9 rows. "
        "That is more than chance gives (p = 0.040)."
    )


def test_small_numbers_keep_their_digits() -> None:
    assert read_sweep("Classwise ECE", (5, 500), (2.41e-7, 3.5e-7), None, "").startswith(
        "Classwise ECE is 2.41e-07 at M = 5 and 3.5e-07 at M = 500."
    )


def test_a_number_that_falls_is_said_to_change_and_has_a_minus() -> None:
    null = Null(199, 0, (0.01, 0.001), (0.0, 0.0), (0.02, 0.002), (0.005, 0.005), change_p=0.005)
    told = read_sweep("ECE", (5, 500), (0.06, 0.05), null, "1,000 rows")
    assert "the change of −0.0100 over M is more than" in told


def test_calibrated_choices_are_not_spoken_against() -> None:
    probs, label = some_rows(400, 4, seed=21)
    for evidence in (choice_evidence(probs.tolist(), label.tolist()), dense_evidence(probs, label)):
        assert "within chance" in sweep(evidence, ("full_ece",)).reading


def test_confidences_that_overstate_are() -> None:
    random = np.random.default_rng(3)
    confidence = random.uniform(0.5, 1, 800)
    right = [int(value) for value in random.random(800) < 1.5 - confidence]
    told = sweep(given_evidence(confidence, right), ("ece",), (1, 50)).reading
    assert "the change of" in told
    assert "as gaps that cancel in wider bins would have it" in told
