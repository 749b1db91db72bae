"""The diagrams without bins: exact fit, blocks and parts, a band and a p of calibrated draws, one verdict."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.inference.verdict import VERDICT_WORDS
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, gather_evidence, restrict_rows
from calib_core.results.reliability_without_bins import (
    CELLS,
    MIN_BANDWIDTH,
    SMOOTH_POINTS,
    corp_reliability,
    smooth_reliability,
    unavailable_without_bins,
)
from calib_core.results.score import score
from core import oracle
from core.oracle import Pair
from core.run_builders import choice_evidence, given_evidence, make_answer_run
from core.token_run_builders import dense_evidence

ROWS = st.lists(st.tuples(st.integers(0, 16), st.integers(0, 1)), min_size=1, max_size=30)


def rows(n: int, power: float, seed: int = 0) -> AnswerEvidence:
    """Rows that are right with confidence to a power."""
    random = np.random.default_rng(seed)
    confidence = random.random(n)
    return given_evidence(confidence.tolist(), (random.random(n) < confidence**power).astype(int).tolist())


def repeated(n_questions: int, times: int = 5) -> AnswerEvidence:
    """Calibrated questions, each asked several times with one outcome."""
    random = np.random.default_rng(1)
    confidence = random.random(n_questions)
    correct = random.random(n_questions) < confidence
    columns = {
        "confidence": np.repeat(confidence, times).tolist(),
        "correct": np.repeat(correct, times).tolist(),
        "trial_of": [f"q{number}" for number in np.repeat(np.arange(n_questions), times)],
    }
    return gather_evidence(make_answer_run(columns), "given")


# --- isotonic


@settings(max_examples=40)
@given(ROWS)
def test_the_curve_is_the_exact_isotonic_fit(drawn: list[tuple[int, int]]) -> None:
    result = corp_reliability(given_evidence([c / 16 for c, _ in drawn], [y for _, y in drawn]))
    pairs = tuple(Pair(c / 16, 8, y) for c, y in drawn)
    fit = dict(zip((p.confidence for p in pairs), oracle.recalibrated(pairs, computed=False), strict=True))
    expected = [float(fit[c]) for c in sorted(fit)]
    assert result.table["confidence"].to_list() == pytest.approx(sorted(fit), abs=1e-15)
    assert result.table["recalibrated"].to_list() == pytest.approx(expected, abs=1e-12)
    assert result.table["count"].sum() == len(drawn) == result.histogram["count"].sum()


@settings(max_examples=40)
@given(ROWS)
def test_blocks_hold_all_rows_at_their_own_accuracy(drawn: list[tuple[int, int]]) -> None:
    result = corp_reliability(given_evidence([c / 16 for c, _ in drawn], [y for _, y in drawn]))
    for block in result.blocks.iter_rows(named=True):
        inside = [(Fraction(c, 16), y) for c, y in drawn if block["low"] <= c / 16 <= block["high"]]
        assert block["count"] == len(inside)
        assert block["accuracy"] == pytest.approx(float(Fraction(sum(y for _, y in inside), len(inside))))
        mean = float(sum((c for c, _ in inside), Fraction(0)) / len(inside))
        assert block["confidence"] == pytest.approx(mean)
        assert block["gap"] == pytest.approx(mean - block["accuracy"], abs=1e-12)
        fitted = result.table.filter(block=block["block"])["recalibrated"]
        assert fitted.to_list() == pytest.approx([block["accuracy"]] * fitted.len())
    assert result.blocks["accuracy"].is_sorted()
    assert result.blocks["count"].sum() == len(drawn)


def test_the_parts_are_the_metrics_and_add_up() -> None:
    evidence = rows(500, 1.5)
    result = corp_reliability(evidence)
    parts = {
        part.metric: part.value for part in (result.miscalibration, result.discrimination, result.uncertainty)
    }
    assert parts == {id_: score(evidence, id_).value for id_ in parts}
    miscalibration, discrimination, uncertainty = (value or 0 for value in parts.values())
    assert miscalibration - discrimination + uncertainty == pytest.approx(result.brier, abs=1e-12)
    assert result.brier == evidence.brier


def test_the_median_and_p_are_those_of_rows_drawn_from_their_confidences() -> None:
    evidence = rows(300, 1.0, seed=5)
    result = corp_reliability(evidence)
    random = np.random.default_rng(6)
    confidence = evidence.confidences.pairs.confidence
    drawn = [
        score(given_evidence(confidence.tolist(), outcome.astype(int).tolist()), "brier_miscalibration").value
        for outcome in (random.random((200, confidence.size)) < confidence)
    ]
    values = np.array(drawn, np.float64)
    found = result.miscalibration
    assert found.draws == 199
    assert found.null_median == pytest.approx(np.median(values), rel=0.1)
    assert found.p == pytest.approx(float((values >= (found.value or 0)).mean()), abs=0.12)


def test_a_miscalibrated_model_leaves_the_band_and_a_calibrated_one_stays() -> None:
    def outside(result: pl.DataFrame, curve: str) -> float:
        known = result.drop_nulls(curve)
        inside = pl.col(curve).is_between(pl.col("calibrated_low") - 1e-12, pl.col("calibrated_high") + 1e-12)
        return 1 - known.select(inside.mean()).item()

    for result, curve in ((corp_reliability, "recalibrated"), (smooth_reliability, "accuracy")):
        shares = [outside(result(rows(300, 1.0, seed)).table, curve) for seed in range(12)]
        assert 0.01 < np.mean(shares) < 0.2  # a tenth, but for neighbours that leave it together
        assert outside(result(rows(3000, 2.0)).table, curve) > 0.7
    assert (corp_reliability(rows(3000, 2.0)).miscalibration.p or 1) == 1 / 200


def test_where_the_diagonal_leaves_the_band_of_the_true_curve() -> None:
    calibrated, off = corp_reliability(rows(300, 1.0)), corp_reliability(rows(3000, 2.0))
    assert "The diagonal lies in it, too." in (calibrated.curve_text or "")
    beyond = off.table.filter(pl.col("confidence") > pl.col("curve_high"))
    assert off.table.filter(pl.col("confidence") < pl.col("curve_low")).is_empty()
    assert (off.curve_text or "").endswith(
        f"The diagonal leaves it: confidence is too high for {beyond['count'].sum():,} rows between "
        f"{beyond['confidence'].min():.3f} and {beyond['confidence'].max():.3f}."
    )
    assert corp_reliability(repeated(100)).curve_text is None


@pytest.mark.parametrize(("n", "power"), [(12, 1.0), (400, 1.0), (400, 2.0), (400, 0.5)])
def test_the_headline_begins_with_the_one_verdict(n: int, power: float) -> None:
    evidence = rows(n, power)
    for headline in (corp_reliability(evidence).headline, smooth_reliability(evidence).headline):
        opening = headline.split(":")[0].lower()
        if n < 30:
            assert opening == "12 rows are too few for a verdict"
        else:
            assert opening.startswith(evidence.verdict.words)
        others = {word for word in VERDICT_WORDS.values() if word != evidence.verdict.words}
        assert not any(word in headline.lower() for word in others - {"too few rows"})


def test_repeated_questions_are_drawn_alike_and_few_of_them_not_at_all() -> None:
    many, few = corp_reliability(repeated(100)), corp_reliability(repeated(20))
    alone = corp_reliability(rows(500, 1.0))
    assert many.miscalibration.null_median is not None
    assert alone.miscalibration.null_median is not None
    assert (
        many.miscalibration.null_median > 2 * alone.miscalibration.null_median
    )  # 100 questions, not 500 rows
    assert few.miscalibration.p is None
    assert "only 20 different questions" in (few.no_null_reason or "")
    assert few.table["calibrated_low"].null_count() == few.table.height
    assert "band" not in few.recipe
    assert smooth_reliability(repeated(20)).table["calibrated_low"].null_count() == SMOOTH_POINTS + 1


def test_all_labels_show_the_top_label() -> None:
    probs, gold = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [0, 1, 1]
    top = corp_reliability(choice_evidence(probs, gold))
    everything = corp_reliability(choice_evidence(probs, gold, MethodOptions(labels="all")))
    assert everything.table.equals(top.table)
    assert "top label" in everything.recipe


def test_the_recipe_says_where_cells_hold_several_confidences() -> None:
    assert "cells" not in corp_reliability(given_evidence([0.25, 0.5], [0, 1])).recipe
    apart = given_evidence([0.2501, 0.25011, 0.5], [0, 1, 1])
    assert corp_reliability(apart).table.height == 2
    assert "curve on 3,000 cells of confidence" in corp_reliability(apart).recipe


def test_frames_repeat_where_they_come_from() -> None:
    evidence = rows(50, 1.0)
    for result in (corp_reliability(evidence), smooth_reliability(evidence)):
        frame = result.to_frame()
        assert frame.height == result.table.height
        assert frame["recipe"].unique().to_list() == [result.recipe]
        assert frame["run"].unique().to_list() == [evidence.run.label]


def test_no_rows_and_no_single_confidences_are_refused() -> None:
    token_run = dense_evidence(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1]))
    for result in (corp_reliability, smooth_reliability):
        with pytest.raises(Unavailable, match="every single confidence"):
            result(token_run)
        with pytest.raises(Unavailable, match="No row"):
            result(restrict_rows(rows(5, 1.0), np.zeros(0, np.intp)))
    assert "3,000 cells" in (unavailable_without_bins(token_run) or "")
    assert unavailable_without_bins(rows(5, 1.0)) is None


# --- smooth


def test_the_smooth_curve_and_density_are_weighted_means() -> None:
    evidence = rows(200, 1.5)
    result = smooth_reliability(evidence)
    assert result.bandwidth == result.smooth_ece.value == score(evidence, "smooth_ece").value
    pairs = evidence.confidences.pairs
    at, confidence = result.table["confidence"].to_numpy(), pairs.confidence
    kernel = np.zeros((at.size, confidence.size))
    for turn in range(-3, 4):
        for sign in (1, -1):
            distance = at[:, None] - sign * confidence - 2 * turn
            kernel += (
                np.exp(-((distance / result.bandwidth) ** 2) / 2) / np.sqrt(2 * np.pi) / result.bandwidth
            )
    assert result.table["density"].to_numpy() == pytest.approx(kernel.mean(axis=1), rel=2e-3)
    expected = at + (kernel * (pairs.correct - confidence)).sum(axis=1) / kernel.sum(axis=1)
    known = result.table["accuracy"].is_not_null().to_numpy()
    assert known.sum() > 480
    assert result.table["accuracy"].to_numpy()[known] == pytest.approx(
        np.clip(expected, 0, 1)[known], abs=2e-3
    )


def test_the_gap_weighted_by_the_density_is_the_smooth_ece() -> None:
    table = smooth_reliability(rows(3000, 1.3)).table
    gap = (table["accuracy"] - table["confidence"]).abs() * table["density"]
    value = smooth_reliability(rows(3000, 1.3)).smooth_ece.value
    assert (gap.sum() / SMOOTH_POINTS) == pytest.approx(value, rel=0.02)


def test_the_curve_ends_where_no_row_is_near() -> None:
    evidence = given_evidence([0.5, 0.5, 0.9, 0.9] * 25, [0, 1, 1, 1] * 25)
    table = smooth_reliability(evidence).table
    known = table.drop_nulls("accuracy")["confidence"]
    assert 0.49 < (known.min() or 0) <= 0.5  # type: ignore[operator]
    assert 0.9 <= (known.max() or 0) < 0.91  # type: ignore[operator]
    assert table.filter(pl.col("confidence").is_between(0.69, 0.71))["accuracy"].null_count() > 0


def test_without_a_gap_the_kernel_has_its_least_width() -> None:
    result = smooth_reliability(given_evidence([0.5, 0.5], [0, 1]))
    assert (result.smooth_ece.value, result.bandwidth) == (0.0, MIN_BANDWIDTH)


def test_cells_are_those_in_which_outcomes_are_drawn() -> None:
    assert (CELLS.binning, CELLS.bins) == ("width", 3000)
