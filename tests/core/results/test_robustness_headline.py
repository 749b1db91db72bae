"""The sentences about a sweep claim only what the null allows."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.inference.null import NullDistribution
from calib_core.results.robustness import sweep_bins, sweep_chance_note, sweep_headline
from core.run_builders import choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows


def null(p: tuple[float, float], change: float | None = 0.5) -> NullDistribution:
    return NullDistribution(199, 0, (0.01, 0.06), (0.0, 0.05), (0.02, 0.07), p, change_p=change)


def headline_and_note(p: tuple[float, float], change: float | None = 0.5) -> tuple[str, str]:
    """The sentence, and what chance would give."""
    known = (5, 500), (0.03, 0.08), null(p, change)
    return sweep_headline("ECE", *known), sweep_chance_note(*known, "1,319 rows")


EXPECTED = "Confidences that are exactly right would give about 0.0100 and 0.0600 on 1,319 rows. "


def test_a_result_within_chance_is_not_a_finding() -> None:
    assert headline_and_note((0.03, 0.4)) == (
        "ECE is 0.0300 at M = 5 and 0.0800 at M = 500, both no more than chance gives.",
        (
            f"{EXPECTED}Both are no more than chance gives (p = 0.030, p = 0.400), "
            "and the change over M is no more than noise."
        ),
    )
    assert headline_and_note((0.5, 0.4), change=0.01)[1].endswith("(p = 0.500, p = 0.400).")


def test_with_few_draws_a_value_above_all_of_them_is_not_called_noise() -> None:
    few = NullDistribution(19, 0, (0.01, 0.06), (0.0, 0.05), (0.02, 0.07), (0.05, 0.05), change_p=0.05)
    note = sweep_chance_note((5, 500), (0.03, 0.08), few, "9 rows")
    assert "Both numbers are more than chance gives (p ≤ 0.050)" in note
    assert "no more than chance" not in note + sweep_headline("cw-ECE", (5, 500), (0.03, 0.08), few)


def test_a_gap_that_is_more_than_chance() -> None:
    assert headline_and_note((0.005, 0.01)) == (
        "ECE rises from 0.0300 (M = 5) to 0.0800 (M = 500), no more than thinner bins bring by chance.",
        (
            f"{EXPECTED}Both numbers are more than chance gives (p ≤ 0.005, p = 0.010); the change of 0.0500 "
            "over M is no more than thinner bins bring by chance (about 0.0500)."
        ),
    )
    first, last = headline_and_note((0.005, 0.4)), headline_and_note((0.2, 0.005))
    assert first[0] == (
        "ECE is 0.0300 at M = 5, more than chance gives, and 0.0800 at M = 500, no more than chance gives."
    )
    assert "Only the number at M = 5 is more than chance gives (p ≤ 0.005);" in first[1]
    assert last[0] == (
        "ECE is 0.0300 at M = 5, no more than chance gives, and 0.0800 at M = 500, more than chance gives."
    )
    assert "Only the number at M = 500 is more" in last[1]
    assert headline_and_note((0.2, 0.005), change=0.01)[0].endswith(
        ", more than thinner bins bring by chance."
    )


def test_gaps_that_wide_bins_hide() -> None:
    reading, more = headline_and_note((0.005, 0.005), change=0.01)
    assert reading.endswith(", more than thinner bins bring by chance.")
    assert more.endswith(
        "(p ≤ 0.005); the change of 0.0500 over M is more than thinner bins bring by chance (about 0.0500) "
        "(p = 0.010), as gaps that cancel in wider bins would have it."
    )


def test_without_a_null_nothing_is_claimed() -> None:
    known = (5, 500), (0.03, 0.08), None
    assert sweep_headline("ECE", *known) == "ECE rises from 0.0300 (M = 5) to 0.0800 (M = 500)."
    assert sweep_chance_note(*known, "3 rows") == "How much of it is chance is not known here."


def test_one_m_is_judged_alone() -> None:
    alone = NullDistribution(199, 0, (0.01,), (0.0,), (0.02,), (0.04,))
    assert sweep_headline("ECE", (10,), (0.03,), alone) == "ECE is 0.0300 at M = 10, more than chance gives."
    assert sweep_chance_note((10,), (0.03,), alone, "9 rows") == (
        "Confidences that are exactly right would give about 0.0100 on 9 rows (p = 0.040)."
    )


def test_small_numbers_keep_their_digits() -> None:
    assert sweep_headline("Classwise ECE", (5, 500), (2.41e-7, 3.5e-7), None) == (
        "Classwise ECE rises from 2.41e-07 (M = 5) to 3.5e-07 (M = 500)."
    )


def test_a_falling_number_is_described_as_such_with_a_minus_sign() -> None:
    falls = NullDistribution(199, 0, (0.03, 0.01), (0.0, 0.0), (0.04, 0.02), (0.005, 0.005), change_p=0.005)
    known = (5, 500), (0.06, 0.05), falls
    assert sweep_headline("ECE", *known) == (
        "ECE falls from 0.0600 (M = 5) to 0.0500 (M = 500); by chance it would fall by 0.0200."
    )
    assert "the change of −0.0100 over M is more than" in sweep_chance_note(*known, "1,000 rows")
    assert sweep_headline("ECE", (5, 500), (0.06, 0.05), null((0.005, 0.005))).endswith(
        "; by chance it would rise by 0.0500."
    )


def test_what_chance_alone_would_not_change_is_said_not_to() -> None:
    level = NullDistribution(199, 0, (0.02, 0.02), (0.0, 0.0), (0.04, 0.04), (0.005, 0.005), change_p=0.5)
    assert sweep_headline("ECE", (2, 1), (0.06, 0.05), level) == (
        "ECE falls from 0.0600 (M = 2) to 0.0500 (M = 1); by chance it would not change."
    )


SAME = (0.342, 0.342 + 2**-54, 0.342)


@pytest.mark.parametrize(
    ("p", "judged"),
    [
        ((0.36, 0.36), ", no more than chance gives"),
        ((0.005, 0.005), ", more than chance gives"),
        ((0.005, 0.36), ": more than chance gives at M = 5, no more than chance gives at M = 500"),
        (None, ""),
    ],
)
def test_a_number_that_is_the_same_at_every_m_is_reported_once(
    p: tuple[float, float] | None, judged: str
) -> None:
    alike = (
        None
        if p is None
        else NullDistribution(199, 0, (0.26,) * 3, (0.2,) * 3, (0.4,) * 3, (p[0], 0.1, p[1]), None)
    )
    assert sweep_headline("ECE", (5, 10, 500), SAME, alike) == f"ECE is 0.3420 at every M{judged}."
    more = sweep_chance_note((5, 10, 500), SAME, alike, "5 rows")
    assert "the change" not in more
    assert alike is None or more.startswith("Confidences that are exactly right would give about 0.2600 on 5")


def test_ends_that_are_the_same_are_reported_once_too() -> None:
    values = (0.06, 0.05, 0.06)
    assert sweep_headline("ECE", (5, 10, 500), values, None) == "ECE is 0.0600 at M = 5 as at M = 500."


def test_calibrated_choices_are_not_criticised() -> None:
    probs, label = random_rows(400, 4, seed=21)
    for evidence in (choice_evidence(probs.tolist(), label.tolist()), dense_evidence(probs, label)):
        assert sweep_bins(evidence, ("full_ece",)).headline.endswith("both no more than chance gives.")


def test_over_confidence_is_named() -> None:
    random = np.random.default_rng(3)
    confidence = random.uniform(0.5, 1, 800)
    right = [int(value) for value in random.random(800) < 1.5 - confidence]
    result = sweep_bins(given_evidence(confidence, right), ("ece",), (1, 50))
    assert result.headline.startswith("ECE rises from ")
    assert result.headline.endswith(", more than thinner bins bring by chance.")
    assert "as gaps that cancel in wider bins would have it" in result.chance_note
