"""The headline of a diagram: each branch, word for word, and no claim within chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.verdict import judge
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import get_metric
from calib_core.results.reliability import reliability_headline
from core.run_builders import choice_evidence

Block = tuple[float, int, int]


def sentence(*parts: Block, scheme: Scheme | None = None) -> str:
    """Of blocks (confidence, rows, right ones)."""
    confidence = [value for value, rows, _ in parts for _ in range(rows)]
    correct = [at < right for _, rows, right in parts for at in range(rows)]
    binned = BinSums.from_pairs(confidence, correct).binned(scheme or Scheme())
    return reliability_headline(binned, judge(confidence, correct))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), "No row has both a confidence and an outcome."),
        (
            ((0.9, 1, 1),),
            "1 row is too few for a verdict: states 90.0 % on average and is right 100.0 % of the time.",
        ),
        (
            ((0.9, 29, 2),),
            "29 rows are too few for a verdict: states 90.0 % on average and is right 6.9 % of the time.",
        ),
        (((0.9, 30, 2),), "Over-confident: states 90.0 % on average and is right 6.7 % of the time."),
        (((0.5, 1000, 900),), "Under-confident: states 50.0 % on average and is right 90.0 % of the time."),
        (
            ((0.7, 1000, 710),),
            (
                "No evidence of miscalibration in 1,000 rows: states 70.0 % on average and is right 71.0 % "
                "of "
                "the time."
            ),
        ),
        (
            ((1.0, 50, 50),),
            (
                "No evidence of miscalibration in 50 rows: states 100.0 % on average and is right 100.0 % of "
                "the time."
            ),
        ),
        (
            ((0.3, 200, 60), (0.85, 400, 240), (0.95, 400, 260)),
            (
                "Over-confident: states 78.0 % on average and is right 56.0 % of the time. The gap is mostly "
                "in the two top bins."
            ),
        ),
        (
            ((0.3, 400, 120), (0.95, 600, 300)),
            (
                "Over-confident: states 69.0 % on average and is right 42.0 % of the time. The gap is mostly "
                "in the top bin."
            ),
        ),
        (
            ((0.35, 300, 0), (0.55, 300, 165), (0.85, 300, 120), (0.95, 100, 95)),
            (
                "Over-confident: states 62.0 % on average and is right 38.0 % of the time. The gap is mostly "
                "in 30–40 % (0.3, 0.4] and in 80–90 % (0.8, 0.9]."
            ),
        ),
        (
            ((0.05, 300, 200), (0.95, 300, 285)),
            (
                "Under-confident: states 50.0 % on average and is right 80.8 % of the time. The gap is "
                "mostly "
                "in 0–10 % [0, 0.1]."
            ),
        ),
        (
            ((0.6, 300, 120), (0.9, 300, 210)),
            (
                "Over-confident: states 75.0 % on average and is right 55.0 % of the time. The gap is in "
                "both "
                "bins."
            ),
        ),
        (
            tuple((m / 10 - 0.05, 100, 10 * m - 30) for m in range(4, 11)),
            "Over-confident: states 65.0 % on average and is right 40.0 % of the time.",
        ),
        (
            ((0.05, 100, 100), *((m / 10 - 0.05, 100, 10 * m - 30) for m in range(4, 11))),
            (
                "Over-confident: states 57.5 % on average and is right 47.5 % of the time. 7 of the 8 "
                "bins are over-confident; the opposite gap is mostly in 0–10 % [0, 0.1]."
            ),
        ),
        (
            ((0.25, 500, 375), (0.75, 500, 125)),
            (
                "Too extreme: states 50.0 % on average and is right 50.0 % of the time. Over-confident "
                "mostly "
                "in the top bin and under-confident mostly in 20–30 % (0.2, 0.3]."
            ),
        ),
        (
            ((0.25, 500, 175), (0.5, 25_000, 12_500), (0.75, 500, 325)),
            (
                "Miscalibrated but within tolerance, 0.4 % off on average: states 50.0 % on average and is "
                "right 50.0 % of the time."
            ),
        ),
        (
            ((0.55, 300, 143), (0.8, 300, 276), (0.95, 300, 271)),
            (
                "Uneven, 8.0 % off on average: states 76.7 % on average and is right 76.7 % of the time. "
                "Over-confident mostly in 50–60 % (0.5, 0.6] and in 90–100 % (0.9, 1] and under-confident "
                "mostly in 70–80 % (0.7, 0.8]."
            ),
        ),
        (
            ((0.25, 300, 60), (0.75, 300, 240)),
            ("Too timid: states 50.0 % on average and is right 50.0 % of the time."),
        ),
        (
            ((0.2, 300, 36), (0.5, 300, 132), (0.8, 300, 226)),  # each bin a little too high
            (
                "Over-confident: states 50.0 % on average and is right 43.8 % of the time. The gap is mostly "
                "in 10–20 % (0.1, 0.2]."
            ),
        ),
        (
            ((0.35, 10, 4), (0.95, 600, 300)),  # half a row under in one bin: no more than chance
            (
                "Over-confident: states 94.0 % on average and is right 49.8 % of the time. The gap is mostly "
                "in the top bin."
            ),
        ),
        (
            ((0.55, 300, 135), (0.95, 300, 215)),  # 70 of the 100 rows of the gap
            (
                "Over-confident: states 75.0 % on average and is right 58.3 % of the time. The gap is mostly "
                "in the top bin."
            ),
        ),
        (
            ((0.55, 300, 125), (0.95, 300, 225)),  # 60 of 100
            (
                "Over-confident: states 75.0 % on average and is right 58.3 % of the time. The gap is in "
                "both "
                "bins."
            ),
        ),
        (
            ((0.25, 500, 250), (0.75, 1000, 250)),
            (
                "Over-confident: states 58.3 % on average and is right 33.3 % of the time. The gap is mostly "
                "in the top bin; the opposite gap is mostly in 20–30 % (0.2, 0.3]."
            ),
        ),
    ],
)
def test_every_branch(parts: Sequence[Block], message: str) -> None:
    assert sentence(*parts) == message


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (Scheme("natural"), "mostly at 35 % (0.35) and at 85 % (0.85)"),
        (Scheme("mass", 10), "mostly at 35 % (0.35) and at 85 % (0.85)"),
        (Scheme("width", 8), "mostly in 25–37.5 % (0.25, 0.375] and in 75–87.5 % (0.75, 0.875]"),
        (Scheme("width", 1000), "mostly in 34.9–35 % (0.349, 0.35] and in 84.9–85 % (0.849, 0.85]"),
        (Scheme("width", 1), "Over-confident: states "),
    ],
)
def test_bins_are_named_as_they_are(scheme: Scheme, message: str) -> None:
    assert message in sentence(
        (0.35, 300, 0), (0.55, 300, 165), (0.85, 300, 120), (0.95, 100, 95), scheme=scheme
    )


def test_ends_that_agree_to_three_digits_get_more() -> None:
    near_one = [(0.99991, 300, 100), (0.99992, 300, 100)]
    headline_text = sentence(
        (0.1, 300, 30), (0.2, 300, 60), *near_one, (1.0, 600, 600), scheme=Scheme("mass", 3)
    )
    assert "[0.99991, 0.99992]" in headline_text


@settings(max_examples=12)  # of 40 draws each
@given(st.sampled_from((10, 100, 1000)), st.integers(0, 2**32 - 1))
def test_calibrated_answers_are_called_so(bins: int, seed: int) -> None:
    """At every M, however many bins there are to be wrong in.

    5 % of draws may be called miscalibrated: of 40, 9 are far beyond that.
    """
    rng = np.random.default_rng(seed)
    apart = 0
    for _ in range(40):
        confidence = rng.uniform(0, 1, 3000)
        correct = rng.uniform(0, 1, 3000) < confidence
        binned = BinSums.from_pairs(confidence, correct).binned(Scheme("width", bins))
        headline = reliability_headline(binned, judge(confidence, correct))
        apart += "No evidence of miscalibration" not in headline
    assert apart <= 9


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        ([0.5, 0.5], "and observed frequencies agree in every bin."),
        ([0.9, 0.1], "differ from observed frequencies by 40.0 % on average, in both bins."),
    ],
)
def test_all_choices_speak_of_the_gap_alone(probs: list[float], message: str) -> None:
    evidence = choice_evidence([probs] * 40, [0, 1] * 20, MethodOptions(labels="all"))
    opening = "Over all choices, predicted probabilities"
    assert reliability_headline(evidence.binned(get_metric("ece"), Scheme()), None) == f"{opening} {message}"


def test_a_gap_due_to_rounding_is_not_a_gap() -> None:
    assert 100 * 0.55 > 55
    off = tuple((m / 10 - 0.05, 100, 10 * m - 30) for m in range(7, 11))
    assert sentence((0.55, 100, 55), *off).endswith(" 4 of the 5 bins are over-confident.")


def test_one_bin_of_all_choices_shows_no_rounding() -> None:
    probs = np.random.default_rng(1).dirichlet([1, 1, 1], 50).tolist()
    binned = choice_evidence(probs, [0] * 50).binned(get_metric("full_ece"), Scheme("width", 1))
    assert 0 < binned.absolute_gap.sum() < 1e-12
    assert reliability_headline(binned, None).endswith("agree in every bin.")
