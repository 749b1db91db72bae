"""The verdict names what the test finds, and claims nothing beyond chance or within tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.inference import calibration_test
from calib_core.inference.calibration_test import FIRST_DRAWS, CalibrationSums
from calib_core.inference.cluster_draws import MIN_CLUSTERS
from calib_core.inference.verdict import (
    MIN_ROWS,
    VERDICT_WORDS,
    VerdictKind,
    count_verdicts,
    disagreement_text,
    judge,
    judge_sums,
    untested_reason,
    verdict_phrase,
)

Block = tuple[float, int, int]


def pairs_of(*blocks: Block) -> tuple[np.ndarray, np.ndarray]:
    said = np.repeat([value for value, _, _ in blocks], [rows for _, rows, _ in blocks])
    right = np.concatenate([np.arange(rows) < good for _, rows, good in blocks])
    return said, right


@pytest.mark.parametrize("n", [MIN_ROWS - 1, MIN_ROWS, 8 * MIN_CLUSTERS])
@pytest.mark.parametrize("rows_of_a_question", [None, 1, 4, 9])
@pytest.mark.parametrize("weights", [None, (1.0, 1.0), (1.0, 20.0)])
def test_why_nothing_is_judged_is_known_without_a_test(
    n: int, rows_of_a_question: int | None, weights: tuple[float, float] | None
) -> None:
    cluster = None if rows_of_a_question is None else np.arange(n) // rows_of_a_question
    weight = None if weights is None else np.resize(np.array(weights), n)
    verdict = judge(np.full(n, 0.5), np.arange(n) % 2 == 0, cluster, weight=weight)
    reason = untested_reason(n, cluster, weight)
    assert (reason is None) == verdict.is_tested
    assert reason in {None, verdict.reason}


@pytest.mark.parametrize(
    ("blocks", "kind"),
    [
        (((0.95, 100, 95), (0.75, 100, 75), (0.55, 100, 55), (0.35, 100, 35)), "none"),
        (((0.95, 200, 120), (0.55, 100, 50)), "over"),
        (((0.65, 200, 180), (0.35, 100, 60)), "under"),
        (((0.25, 200, 80), (0.75, 200, 120)), "extreme"),
        (((0.35, 200, 20), (0.65, 200, 180)), "timid"),
        (((0.9, MIN_ROWS - 1, 0),), "few"),
        (((0.9, MIN_ROWS, 0),), "over"),
        (((1.0, 40, 40),), "none"),
        (((1.0, 1000, 999),), "none"),
        (((0.5, 1000, 478), (0.9, 200, 184)), "none"),
        (((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271)), "uneven"),
        (((0.6, 1000, 511), (0.8, 1000, 905), (0.95, 1000, 889)), "uneven"),
        (((0.995, 5000, 4900),), "over"),  # .015 is little, but four times the errors stated
        (((0.5, 400, 180), (0.8, 400, 302)), "over"),
        (((1.0, 100, 90),), "over"),
        (((0.0, 100, 10),), "under"),
        (((1.0, 100, 90), (0.0, 100, 10)), "extreme"),
        (((0.5, 20_000, 9800),), "tolerable"),
    ],
)
def test_kind_of_blocks(blocks: tuple[Block, ...], kind: VerdictKind) -> None:
    verdict = judge(*pairs_of(*blocks))
    assert verdict.kind == kind
    assert verdict.words == VERDICT_WORDS[kind]
    assert verdict.miscalibrated == (kind not in {"none", "few"})
    assert verdict == judge_sums(CalibrationSums.from_pairs(*pairs_of(*blocks)))


def test_a_gap_at_the_edge_of_chance() -> None:
    # 400 rows at 0.5: σ = 10 rows, so 19 rows off are within 1.96 σ, and 20 are not.
    kinds = [judge(*pairs_of((0.5, 400, right))).kind for right in (181, 180, 220, 219)]
    assert kinds == ["none", "over", "under", "none"]


def test_the_tolerance_is_on_the_curve_and_not_on_the_mean_gap() -> None:
    rows = pairs_of((0.25, 2000, 560), (0.75, 2000, 1440))  # .03 too extreme on both sides
    assert judge(*rows).level == pytest.approx(0)
    assert judge(*rows, tolerance=0.02).kind == "extreme"
    assert judge(*rows, tolerance=0.04).kind == "extreme"
    bound = judge(*rows).deviation_bound
    assert bound == pytest.approx(0.03 + 1.645 * (0.1875 / 4000) ** 0.5, abs=1e-4)  # up to .041
    assert judge(*rows, tolerance=0.042).kind == "tolerable"
    assert judge(*rows).deviation == pytest.approx(0.03, abs=0.001)


def test_the_level_is_named_first_where_both_are_clear() -> None:
    verdict = judge(*pairs_of((0.25, 300, 75), (0.95, 300, 200)))
    assert verdict.kind == "over"
    assert verdict.reason.endswith("and the confidences are spread too far (p < 0.001).")
    assert verdict.slope is not None
    assert verdict.slope < 1
    # Also where the slope is the clearer one: the level is 2.8 σ too high, the slope 14 σ too steep.
    verdict = judge(*pairs_of((0.25, 300, 135), (0.75, 300, 135)))
    assert verdict.test is not None
    assert verdict.test.level_p > (verdict.test.slope_p or 0)
    assert verdict.kind == "over"


def test_the_reason_says_what_a_rounded_1_represents() -> None:
    rounded = judge(*pairs_of((0.5, 100, 50), (1.0, 400, 385)))
    assert rounded.kind == "none"
    assert rounded.reason.endswith(" As all confidences have one decimal, 1 represents 0.95 and more.")
    both = judge(*pairs_of((0.0, 100, 60), (0.5, 100, 50), (1.0, 100, 50)))
    assert " one decimal, 1 represents 0.95 and more and 0 represents 0.05 and less." in both.reason
    weighted = judge(*pairs_of((0.5, 100, 50), (1.0, 400, 385)), weight=np.tile([1.0, 2.0], 250))
    assert "one decimal" in weighted.reason
    for finer in (0.25, 0.123):
        assert "decimal" not in judge(*pairs_of((finer, 100, 50), (1.0, 400, 385))).reason
    assert "decimal" not in judge(*pairs_of((0.5, 100, 50), (1.0, 400, 400))).reason


def test_reasons_are_sentences_with_their_numbers() -> None:
    def reason(*blocks: Block) -> str:
        return judge(*pairs_of(*blocks)).reason

    assert reason((0.5, 400, 160)) == "Confidence is higher than accuracy by 0.100 on average (p < 0.001)."
    assert reason((1.0, 100, 90)) == (
        "Confidence is higher than accuracy by 0.100 on average (p < 0.001). "
        "10 answers with confidence 1 are wrong."
    )
    assert reason((0.5, 20_000, 9800)) == (
        "Miscalibration is clear (p = 0.005), but with 95 % confidence at most 0.016 on average, "
        "within the tolerance of 0.02."
    )
    assert reason((0.995, 5000, 4900)) == (
        "Confidence is higher than accuracy by 0.015 on average (p < 0.001). "
        "2.0 % are wrong, not the stated 0.5 %."
    )
    assert reason((0.5, 5000, 2425)) == (
        "Confidence is higher than accuracy by 0.015 on average (p = 0.034). "
        "The mean deviation may be up to 0.027, more than the tolerance of 0.02."
    )
    assert reason((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271)) == (
        "Individual confidences are off beyond level and spread (p < 0.001), by 0.080 on average, some too "
        "high and others too low."
    )
    # The level is clear and tolerable, so its direction is known; what remains is not tolerable.
    assert reason((0.5, 3000, 1350), (0.7, 3000, 2160), (0.9, 3000, 2625)) == (
        "Individual confidences are off beyond level and spread (p < 0.001), by 0.032 on average; by level "
        "and spread alone, 0.018 (p < 0.001)."
    )
    # Of a curve that is clear, the fitted one's deviation says nothing.
    assert reason((0.2, 300, 80), (0.4, 300, 135), (0.7, 300, 180), (0.95, 300, 290)) == (
        "High confidences are too high and low ones too low (p = 0.007); individual confidences are off "
        "beyond that (p < 0.001), by 0.058 on average in all."
    )
    # No mean of gaps is smaller than the mean gap, whatever 1 stands for.
    assert reason((0.7, 200, 130), (0.9, 200, 130), (1.0, 200, 190)) == (
        "Confidence is higher than accuracy by 0.117 on average (p < 0.001), and the confidences are spread "
        "too far (p < 0.001); individual confidences are off beyond that (p < 0.001), by 0.117 on average "
        "in all. 10 answers with confidence 1 are wrong. As all confidences have one decimal, 1 represents "
        "0.95 and more."
    )
    assert reason((0.5, 400, 200)) == "The mean confidence is off by no more than chance (p = 1.000)."
    assert judge([0.5], [1]).reason == "Not judged: 1 row, fewer than 30."


def test_two_tests_of_one_gap_are_not_told_apart_by_their_number() -> None:
    one, several = judge(*pairs_of((0.5, 400, 218))), judge(*pairs_of((0.4, 500, 185), (0.6, 500, 282)))
    for verdict, n_parts in ((one, 1), (several, 2)):
        assert verdict.test is not None
        assert (verdict.kind, verdict.test.n_parts) == ("none", n_parts)
    assert (disagreement_text(one, "ECE", 0.05) or "").endswith(
        "Both test the same gap; the verdict's p-value is the more precise one."
    )
    assert "covers several tests" in (disagreement_text(several, "ECE", 0.05) or "")


def test_a_p_value_belongs_to_the_claim_before_it() -> None:
    # The level alone is clear at p = .034; it is one of the parts tested together.
    verdict = judge(*pairs_of((0.4, 500, 185), (0.6, 500, 282)))
    assert verdict.kind == "none"
    assert verdict.test is not None
    assert verdict.test.level_p < 0.05 < verdict.test.p
    assert verdict.reason == (
        "Together, the mean confidence and its spread are off by no more than chance (p = 0.102). Tested "
        "alone, p = 0.033 for the mean confidence."
    )


def test_no_direction_is_named_that_is_not_clear_by_itself() -> None:
    random = np.random.default_rng(1)
    drawn = ((c, random.random(300) < np.clip(c - 0.02, 0, 1)) for c in random.beta(4, 2, (3000, 300)))
    verdict = next(found for found in (judge(c, y) for c, y in drawn) if found.kind == "unclear")
    assert verdict.words == "miscalibrated in no clear direction"
    assert verdict.test is not None
    assert verdict.test.logistic_p <= 0.05 < min(verdict.test.level_p, verdict.test.slope_p or 1)
    assert "which is clear for both together" in verdict.reason


def test_no_rows_are_too_few() -> None:
    verdict = judge([], [])
    assert (verdict.kind, verdict.level, verdict.p, verdict.test) == ("few", None, None, None)


def test_few_clusters_are_not_judged() -> None:
    said, right = pairs_of((0.9, 5 * MIN_CLUSTERS, 60))
    cluster = np.arange(said.size) % MIN_CLUSTERS
    assert judge(said, right, cluster).kind == "over"
    fewer = judge(said, right, np.minimum(cluster, MIN_CLUSTERS - 2))
    assert fewer.kind == "few"
    assert (
        fewer.reason
        == "Not judged: only 59 different questions: with repeated questions, a p-value needs 60."
    )
    assert judge(said[:40], right[:40], np.arange(40)).kind != "few"  # nothing is repeated
    unequal = judge(said, right, np.maximum(np.arange(said.size) - 100, 0))  # one question has 101 rows
    assert unequal.reason == (
        "Not judged: only 200 different questions, worth 8 of one size: with repeated questions, a p-value "
        "needs 60."
    )


@given(st.integers(0, 200), st.sampled_from([-0.1, 0.0, 0.1]), st.sampled_from([0.4, 1.0, 2.0]))
@settings(max_examples=30, deadline=None)
def test_flipping_swaps_over_and_under(seed: int, off: float, power: float) -> None:
    random = np.random.default_rng(seed)
    c = 0.15 + 0.7 * random.random(500)
    y = random.random(500) < 1 / (1 + (1 / c - 1) ** power) - off
    swapped: dict[VerdictKind, VerdictKind] = {"over": "under", "under": "over"}
    kind = judge(c, y).kind
    assert judge(1 - c, ~y).kind == swapped.get(kind, kind)


def test_repeated_answers_are_not_additional_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrated runs in which every trial of a question ends alike."""
    monkeypatch.setattr(calibration_test, "MAX_DRAWS", FIRST_DRAWS)  # more of them do not move p over 0.05
    called = {"rows": 0, "questions": 0}
    for seed in range(80):
        random = np.random.default_rng(seed)
        c = random.beta(4, 2, 100)
        y = random.random(100) < c
        c, y, cluster = c.repeat(5), y.repeat(5), np.repeat(np.arange(100), 5)
        called["rows"] += judge(c, y).miscalibrated
        called["questions"] += judge(c, y, cluster).miscalibrated
    assert called["rows"] > 30
    assert called["questions"] <= 9  # 5 % of 80, and 2.6 σ of it


def test_verdicts_are_counted_in_one_order_and_number() -> None:
    kinds: list[VerdictKind] = ["few", "over", "none", "over", "few"]
    assert count_verdicts(kinds) == (
        "2 are over-confident, 1 shows no evidence of miscalibration and 2 have too few rows"
    )
    assert verdict_phrase("tolerable") == "is miscalibrated but within tolerance"


@pytest.mark.parametrize(("outcome", "n_right"), [("right", 100), ("wrong", 0)])
def test_equal_outcomes_have_no_slope_and_that_is_said(outcome: str, n_right: int) -> None:
    verdict = judge(*pairs_of((0.5, 100, n_right), (0.8, 100, n_right)))
    assert verdict.slope is None
    assert verdict.reason.endswith(f"(p < 0.001). The slope is not defined, as every answer is {outcome}.")
    assert "spread" not in verdict.reason
    almost = abs(n_right - 1)
    assert judge(*pairs_of((0.5, 100, almost), (0.8, 100, n_right))).slope is not None
    alone = judge(*pairs_of((0.5, 200, 2 * n_right)))
    assert alone.slope is None
    assert "slope" not in alone.reason
