"""Bootstrap intervals have their stated width; differences are on the same questions."""

from __future__ import annotations

import re
from dataclasses import astuple, replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from scipy import stats

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import BOOTSTRAP_DRAWS_RECOMPUTED
from calib_core.inference.directional import (
    DIFFERENCE_DRAWS,
    DIRECTIONAL_DRAWS,
    BinMeans,
    directional_contrasts,
)
from calib_core.inference.intervals import coverage_note, wilson_interval
from calib_core.inference.paired_test import PairedTest, squared_distances
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results import best, uncertainty
from calib_core.results.best import compare_pairs
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.score import score
from calib_core.results.uncertainty import (
    metric_interval,
    missing_statistics_note,
    no_interval_reason,
    paired_difference,
)
from calib_core.runs import RunInfo
from core.run_builders import block_evidence, choice_evidence, given_evidence, make_answer_run


def calibrated_evidence(n: int, seed: int, off: float = 0.0) -> AnswerEvidence:
    """Confidences from ½ to 1, right with that probability less `off`."""
    random = np.random.default_rng(seed)
    confidence = 0.5 + 0.5 * random.random(n)
    return given_evidence(confidence, random.random(n) < confidence - off)


def evidence_with_ids(
    confidence: list[float], correct: list[int], ids: list[str], model: str = "a"
) -> AnswerEvidence:
    run = make_answer_run(
        {"confidence": confidence, "correct": [bool(y) for y in correct], "id": ids}, label=model
    )
    return gather_evidence(replace(run, info=RunInfo(model=model)), "given")


def test_accuracy_has_wilsons_interval() -> None:
    found = metric_interval(block_evidence((0.8, 40, 30)), "accuracy")
    low, high = wilson_interval(np.array([30]), np.array([40]))
    assert found is not None
    assert (found.low, found.high, found.n_draws) == (low[0], high[0], 0)
    assert found.interval_method == "Wilson 95 %"


def test_a_mean_has_the_width_of_its_standard_error() -> None:
    evidence = calibrated_evidence(400, 3, 0.2)
    pairs = evidence.pairs
    square = (pairs.confidence - pairs.correct) ** 2
    found = metric_interval(evidence, "brier")
    assert found is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * square.std() / 20, rel=0.02)
    assert found.low < square.mean() < found.high
    added = ", one of the least and one of the largest possible value added"
    assert found.interval_method == f"t interval 95 % over rows{added}"


def test_a_mean_is_that_of_the_rows_with_one_right_and_one_wrong_answer_more() -> None:
    confidence, right = np.array([0.9] * 28 + [0.6] * 2), np.array([1] * 29 + [0])
    found, bias = (metric_interval(given_evidence(confidence, right), id_) for id_ in ("brier", "bias"))
    for interval, least, values, extremes in (
        (found, 0, (confidence - right) ** 2, (np.mean((1 - confidence) ** 2), np.mean(confidence**2))),
        (bias, -1, confidence - right, (np.mean(confidence) - 1, np.mean(confidence))),
    ):
        expected = stats.ttest_1samp([*values, *extremes], 0).confidence_interval(0.95)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((max(expected.low, least), expected.high))


def test_thirty_right_answers_do_not_prove_that_none_is_wrong() -> None:
    found = metric_interval(block_evidence((0.95, 30, 30)), "brier")
    assert found is not None
    assert found.low == 0
    assert found.high > 0.95**2 * 2 / 30  # two wrong answers in 30 are not excluded


@pytest.mark.parametrize("metric", ["brier", "bias", "auroc"])
def test_five_equal_trials_hold_no_more_than_one(metric: str) -> None:
    random = np.random.default_rng(6)
    confidence = random.random(200)
    right = random.random(200) < confidence
    once = metric_interval(given_evidence(confidence, right), metric)
    repeated = given_evidence(
        np.repeat(confidence, 5), np.repeat(right, 5), trial_of=[f"q{at}" for at in np.repeat(range(200), 5)]
    )
    found, alone = (
        metric_interval(repeated, metric),
        metric_interval(given_evidence(np.repeat(confidence, 5), np.repeat(right, 5)), metric),
    )
    assert once is not None
    assert found is not None
    assert alone is not None
    assert found.high - found.low == pytest.approx(once.high - once.low, rel=0.02)
    assert alone.high - alone.low < 0.5 * (found.high - found.low)


def test_the_auroc_has_delongs_interval() -> None:
    """Placements counted pair by pair."""
    random = np.random.default_rng(7)
    confidence, right = random.integers(0, 12, 80) / 12, random.random(80) < 0.4
    above = confidence[right][:, None] - confidence[~right]
    wins = (above > 0) + 0.5 * (above == 0)
    area = wins.mean()
    variance = wins.mean(1).var(ddof=1) / right.sum() + wins.mean(0).var(ddof=1) / (~right).sum()
    half = stats.t.ppf(0.975, min(right.sum(), (~right).sum()) - 1) * np.sqrt(variance) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    found = metric_interval(given_evidence(confidence, right), "auroc")
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit)))
    )
    assert found.interval_method == "DeLong t 95 % on the logit scale over rows"


def test_few_of_an_outcome_or_perfect_ranks_have_no_auroc_interval() -> None:
    few = block_evidence((0.9, 40, 38), (0.5, 4, 2))
    assert metric_interval(few, "auroc") is None
    assert no_interval_reason(few, "auroc") == (
        "AUROC needs at least 5 right and 5 wrong answers for an interval."
    )
    assert no_interval_reason(block_evidence((0.9, 40, 35)), "auroc") is None
    assert metric_interval(block_evidence((0.9, 20, 20), (0.1, 20, 0)), "auroc") is None


def test_ece_of_calibrated_rows_may_be_0() -> None:
    evidence = calibrated_evidence(300, 4)
    found, value = metric_interval(evidence, "ece"), score(evidence, "ece").value
    assert found is not None
    assert value is not None
    assert found.low == 0
    assert value < found.high < value + 2 / 300**0.5
    assert found.interval_method == "directional delta method 95 % over rows, 1999 draws, seed 0"


def test_ece_reaches_as_far_as_the_bias() -> None:
    # No wrong answer of 100 at .99: that all differ by .01 tells nothing of wrong ones to come.
    certain = given_evidence([0.99] * 100, [1] * 100)
    found, bias = (metric_interval(certain, id_) for id_ in ("ece", "bias"))
    assert found is not None
    assert bias is not None
    assert (found.low, found.high) == (0.0, max(abs(bias.low), abs(bias.high)))
    assert found.high > 0.019  # the delta method alone gives .01
    assert found.interval_method.endswith("draws, seed 0, upper end that of the bias")
    swing = given_evidence([0.7, 0.4] * 200, [1, 1, 1, 0, 1, 0, 0, 0] * 50)  # gaps cancel on average
    ece = metric_interval(swing, "ece")
    assert ece is not None
    assert ece.interval_method.endswith("draws, seed 0")
    pooled = choice_evidence([[0.99, 0.01]] * 100, [0] * 100, MethodOptions(labels="all"))
    assert metric_interval(pooled, "ece") is not None  # one pair for each choice: no bias of the top label


def test_ece_far_from_0_has_the_width_of_its_standard_error() -> None:
    evidence = calibrated_evidence(1000, 4, 0.3)
    found, value = metric_interval(evidence, "ece"), score(evidence, "ece").value
    gap = evidence.pairs.confidence - evidence.pairs.correct
    assert found is not None
    assert value == pytest.approx(gap.mean())
    half = 1.96 * gap.std() / 1000**0.5
    assert (found.low, found.high) == pytest.approx((value - half, value + half), abs=0.1 * half)


def test_ace_holds_its_bins_fixed_and_says_so() -> None:
    found = metric_interval(calibrated_evidence(300, 4, 0.1), "ace")
    assert found is not None
    assert "rows, bins held fixed, 1999 draws" in found.interval_method


def test_there_is_a_reason_where_no_interval_is_known() -> None:
    evidence = calibrated_evidence(100, 4)
    assert no_interval_reason(evidence, "mce") == "MCE has no interval: no method covers a maximum over bins."
    assert metric_interval(evidence, "mce") is None
    assert no_interval_reason(evidence, "ece") is None
    assert (
        no_interval_reason(calibrated_evidence(29, 4), "ece") == "ECE needs at least 30 rows for an interval."
    )
    assert metric_interval(calibrated_evidence(29, 4), "ece") is None
    assert metric_interval(calibrated_evidence(29, 4), "brier") is not None


def test_it_is_cut_at_the_range() -> None:
    # A gap of exactly 0 varies like any other: 60 rows at .7, of which 42 are right by chance.
    found = metric_interval(block_evidence((0.7, 60, 42)), "ece")
    assert found is not None
    # As far as the bias of these 60 and of one right and one wrong answer more.
    gap, square = 0.4 / 62, (43 * 0.3**2 + 19 * 0.7**2) / 62
    t_value = 2.0
    end = abs(gap) + t_value * ((square - gap**2) / 61) ** 0.5
    assert (found.low, found.high) == (0, pytest.approx(end, abs=1e-3))
    one = metric_interval(block_evidence((1.0, 30, 30)), "brier")
    assert one is not None
    assert one.low == 0
    assert 0 < one.high < 0.2


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    evidence = calibrated_evidence(200, 5)
    assert metric_interval(evidence, "ece") == metric_interval(evidence, "ece")
    assert metric_interval(evidence, "ece") != metric_interval(evidence, "ece", seed=1)


def test_the_number_of_bins_matters() -> None:
    evidence = calibrated_evidence(200, 5)
    assert metric_interval(evidence, "ece", Scheme("width", 10)) != metric_interval(
        evidence, "ece", Scheme("width", 50)
    )


@pytest.fixture
def resampled(monkeypatch: pytest.MonkeyPatch) -> str:
    """The Brier score with a bootstrap, as a metric has that says nothing else."""
    monkeypatch.setitem(
        METRICS, "brier", replace(METRICS["brier"], interval_method="bootstrap", pair_term=None)
    )
    return "brier"


def test_a_metric_without_another_interval_has_a_reflected_bootstrap(resampled: str) -> None:
    # 29 of 30 rows have a squared error of 0.01, and one has 0.81: the draws are skewed to the right.
    found = metric_interval(block_evidence((0.9, 30, 29)), resampled)
    value = (29 * 0.01 + 0.81) / 30
    assert found is not None
    assert value - found.low > found.high - value
    assert "999 draws, seed 0, approximate" in found.interval_method


def test_cells_stand_in_for_many_rows(resampled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = calibrated_evidence(3000, 6, 0.1)
    by_rows = metric_interval(evidence, resampled)
    monkeypatch.setattr(uncertainty, "MAX_INDIVIDUAL_UNITS", 1000)
    by_cells = metric_interval(evidence, resampled)
    assert by_rows is not None
    assert by_cells is not None
    assert by_cells.low == pytest.approx(by_rows.low, abs=0.004)
    assert by_cells.high == pytest.approx(by_rows.high, abs=0.004)
    assert by_cells != by_rows


def test_an_interval_stays_within_the_metric_s_range_and_holds_its_estimate() -> None:
    for metric in ("ece", "ace", "brier"):
        for seen in (
            block_evidence((0.8, 15, 12), (0.4, 15, 6)),
            block_evidence((1.0, 19, 19), (0.0, 19, 0)),
            block_evidence((1.0, 40, 1)),
            calibrated_evidence(40, 3),
        ):
            found, least, most = metric_interval(seen, metric), METRICS[metric].low, METRICS[metric].high
            value = score(seen, metric).value
            assert found is not None
            assert value is not None
            assert (least or 0.0) <= found.low <= value <= found.high <= (1.0 if most is None else most)


def test_metrics_of_all_classes_are_drawn_by_rows() -> None:
    random = np.random.default_rng(1)
    evidence = choice_evidence(random.dirichlet(np.ones(3), 80).tolist(), random.integers(0, 3, 80).tolist())
    for metric in ("full_ece", "full_ece_mass", "cw_ece", "cw_ece_sum", "brier_multi", "nll"):
        found, value = metric_interval(evidence, metric), score(evidence, metric).value
        assert found is not None
        assert value is not None
        directional = METRICS[metric].interval_method == "directional"
        assert found.n_draws == (DIRECTIONAL_DRAWS if directional else 0)
        assert found.low <= value
        assert found.high > found.low


def test_classwise_intervals_differ_by_the_number_of_classes() -> None:
    random = np.random.default_rng(1)
    evidence = choice_evidence(random.dirichlet(np.ones(3), 80).tolist(), random.integers(0, 3, 80).tolist())
    mean, total = metric_interval(evidence, "cw_ece"), metric_interval(evidence, "cw_ece_sum")
    assert mean is not None
    assert total is not None
    assert (3 * mean.low, 3 * mean.high) == pytest.approx((total.low, total.high))


def test_all_labels_of_a_row_are_drawn_together() -> None:
    # With K = 2, twice the pairs hold no more information: the interval may not be narrower.
    random = np.random.default_rng(2)
    top = 0.5 + 0.5 * random.random(300)
    right = (random.random(300) < top - 0.2).astype(int)
    probs = np.stack([top, 1 - top], 1).tolist()
    gold = (1 - right).tolist()
    widths = []
    for labels in ("top", "all"):
        found = metric_interval(choice_evidence(probs, gold, MethodOptions(labels=labels)), "ece")
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


def test_there_is_no_interval_where_the_metric_is_undefined() -> None:
    assert metric_interval(block_evidence((0.9, 5, 5)), "auroc") is None
    assert metric_interval(block_evidence((0.9, 5, 3)), "full_ece") is None


def test_one_row_says_nothing_of_what_others_would_give() -> None:
    assert metric_interval(block_evidence((0.9, 1, 1)), "brier") is None
    assert metric_interval(block_evidence((0.9, 1, 1)), "accuracy") is not None
    assert metric_interval(block_evidence((0.9, 2, 1)), "brier") is not None
    with pytest.raises(Unavailable, match="no interval"):
        paired_difference(
            [(evidence_with_ids([0.2], [0], ["a"]), evidence_with_ids([0.3], [0], ["a"], "b"))], "brier"
        )


def test_a_difference_is_of_the_same_questions() -> None:
    first = evidence_with_ids([0.9, 0.9, 0.1], [1, 0, 1], ["a", "b", "only here"])
    second = evidence_with_ids([0.4, 0.9], [1, 1], ["b", "a"], "b")
    found = paired_difference([(first, second)], "accuracy")
    assert (found.value, found.n_questions, found.n_pairs) == (0.5, 2, 1)
    assert found.n_draws == 0


def test_a_difference_in_brier_score_is_that_of_the_questions_differences() -> None:
    random = np.random.default_rng(10)
    ids = [str(at) for at in range(50)]
    confidence, right = random.random((2, 50)), (random.random((2, 50)) < 0.6).astype(int)
    first, second = (
        evidence_with_ids(confidence[at].tolist(), right[at].tolist(), ids, "ab"[at]) for at in (0, 1)
    )
    squares = (confidence - right) ** 2
    differences = squares[1] - squares[0]
    one_more = np.abs(1 - 2 * confidence).mean()
    error = np.sqrt(((differences - differences.mean()) ** 2).sum() + one_more**2) / np.sqrt(49 * 50)
    half = stats.t.ppf(0.975, 49) * error
    found = paired_difference([(first, second)], "brier")
    assert found.value == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.value) / error, 49))


def test_a_difference_is_the_one_that_comparisons_show() -> None:
    """Also where each question is asked three times."""
    random = np.random.default_rng(11)
    confidence, right = random.random((2, 120)), (random.random((2, 120)) < 0.6).astype(int)
    ids, trial_of = [str(at) for at in range(120)], [f"q{at // 3}" for at in range(120)]
    first, second = (
        given_evidence(c, y, id=ids, trial_of=trial_of) for c, y in zip(confidence, right, strict=True)
    )
    compared = compare_pairs({"a": first, "b": second}, ("brier", "accuracy"))
    for metric in ("brier", "accuracy"):
        found, pair = paired_difference([(first, second)], metric), compared.pair(metric, "b", "a")
        assert pair is not None
        test = pair.test
        assert (found.value, found.low, found.high, found.p) == pytest.approx(
            (test.difference, test.low, test.high, test.p)
        )
        assert (found.n_questions, test.n_clusters) == (40, 40)


@pytest.mark.parametrize("kept", [0, 100_000])
def test_many_runs_are_compared_as_two_are(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever order each has its questions, also where one has more of them, or fewer outcomes."""
    monkeypatch.setattr("calib_core.results.best.MAX_KEPT_PAIRS", kept)
    random = np.random.default_rng(13)
    evidences: dict[str, AnswerEvidence] = {}
    for name, n_questions in zip("abcd", (60, 60, 60, 90), strict=True):
        ids = random.permutation(n_questions)
        right = (random.random(n_questions) < 0.6).tolist()
        outcome = [None if name == "c" and at < 5 else y for at, y in zip(ids, right, strict=True)]
        columns = {"confidence": random.random(n_questions), "correct": outcome, "id": ids.astype(str)}
        run = make_answer_run(columns, label=name)
        evidences[name] = gather_evidence(replace(run, info=RunInfo(model=name)), "given")
    compared = compare_pairs(evidences, ("brier", "accuracy"))
    for metric in ("brier", "accuracy"):
        assert len(compared.pairs[metric]) == 6
        for pair in compared.pairs[metric]:
            two = paired_difference([(evidences[pair.second], evidences[pair.first])], metric)
            assert (pair.test.difference, pair.test.low, pair.test.high, pair.test.p) == pytest.approx(
                (two.value, two.low, two.high, two.p)
            )
            assert pair.test.n_clusters == two.n_questions == (55 if "c" in pair.first + pair.second else 60)


def many_evidences() -> dict[str, AnswerEvidence]:
    """Thirteen points of which some are alike: by order of questions, outcomes, right answers and methods."""
    random = np.random.default_rng(17)
    evidences: dict[str, AnswerEvidence] = {}
    right: list[bool] = []
    for number in range(12):
        n = 90 if number == 10 else 203
        ids = random.permutation(n) if number == 9 else np.arange(n)
        confidence = random.random(n).round(1)
        right = (random.random(n) < 0.3 + 0.05 * number).tolist()
        if number == 1:
            right, confidence = [True] * n, np.ones(n)  # of one outcome: no skill
        columns = {
            "confidence": confidence,
            "verbal_confidence": 1 - confidence,
            "correct": [None if number == 7 and at < 9 else y for at, y in enumerate(right)],
            "id": np.array([f"q{at // 2 if number == 8 else at}" for at in ids]),
        }
        if number in (0, 4):
            columns = {key: evidences["0"].run.rows[key] for key in columns} if number else columns
        run = make_answer_run(columns, label=str(number))
        run = replace(run, info=RunInfo(model=str(number), dataset="other" if number == 11 else None))
        evidences[str(number)] = gather_evidence(run, "given")
        if number == 5:
            evidences["5 verbal"] = gather_evidence(run, "verbal")
    partial = [None if at < 40 else 0.5 for at in range(203)]
    columns = {"confidence": partial, "correct": right, "id": np.array([f"q{at}" for at in range(203)])}
    evidences["partial"] = gather_evidence(make_answer_run(columns, label="partial"), "given")
    return evidences


@pytest.mark.parametrize("left_out", [(), ("8", "10"), ("7", "8", "9", "10", "partial")])
def test_pairs_at_once_have_the_numbers_of_pairs_one_by_one(
    left_out: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    evidences = {key: one for key, one in many_evidences().items() if key not in left_out}
    one_by_one: list[object] = []
    at_once: list[int] = []
    alone, together = best._test, best.paired_tests
    monkeypatch.setattr(best, "_test", lambda *words: one_by_one.append(words) or alone(*words))
    monkeypatch.setattr(
        best, "paired_tests", lambda *words: at_once.append(words[0].size) or together(*words)
    )
    found = compare_pairs(evidences)
    n_alone = len(one_by_one)
    assert sum(at_once) > 3 * 20
    monkeypatch.setattr(best, "MAX_VALUES_AT_ONCE", 0)
    expected = compare_pairs(evidences)
    assert len(one_by_one) - n_alone > n_alone
    assert expected.family_sizes == found.family_sizes
    assert expected.unpaired == found.unpaired
    for metric, pairs in expected.pairs.items():
        for one, other in zip(found.pairs[metric], pairs, strict=True):
            assert (one.first, one.second, one.clear) == (other.first, other.second, other.clear)
            numbers = [(*astuple(pair.test), pair.p_holm) for pair in (one, other)]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)
        assert found.best_sets(metric) == expected.best_sets(metric)
        assert found.question_counts(metric) == sorted({pair.test.n_clusters for pair in pairs})
        for pair in found.pairs[metric]:
            assert found.pair(metric, pair.first, pair.second) == pair
            assert found.pair(metric, pair.second, pair.first) == pair.reversed()


def test_equal_tests_of_two_runs_are_corrected_as_one() -> None:
    tests = [
        PairedTest(0.1, 0.0, 0.2, 0.04, 50, 50),
        PairedTest(-0.1, -0.2, 0.0, 0.04, 50, 50),
        PairedTest(0.0, 0.0, 0.0, 1.0, 50, 50),
        PairedTest(0.2, 0.1, 0.3, 0.01, 50, 50),
        PairedTest(0.2, 0.1, 0.3, 0.02, 60, 60),
    ]
    columns, same = best._columns_of(tests), np.zeros((2, 5), np.intp)
    p, n_tests = best._corrected(columns, same)
    assert (p.tolist(), n_tests) == ([0.04, 0.04, 1.0, 0.03, 0.04], 3)
    p, n_tests = best._corrected(columns, np.stack((same[0], np.arange(5))))  # as high by chance
    assert (p.tolist(), n_tests) == ([0.08, 0.08, 1.0, 0.04, 0.06], 4)
    assert best._corrected(columns[:, :0], same[:, :0])[1] == 0


def test_squared_distances_of_equal_rows_and_of_nearly_equal_ones() -> None:
    rows = np.random.default_rng(3).standard_normal((40, 203))
    rows[7], rows[8], rows[9] = rows[30], rows[30], rows[30]
    rows[9, 5] += 1e-9
    squares, expected = squared_distances(rows), ((rows[:, None] - rows) ** 2).sum(axis=2)
    assert squares == pytest.approx(expected, rel=1e-10)
    assert (squares[7] == squares[8]).all()


def test_a_difference_in_accuracy_counts_a_question_more_for_each_run() -> None:
    ids = [str(at) for at in range(40)]
    right = np.array([[1] * 30 + [0] * 10, [1] * 25 + [0] * 8 + [1] * 7])
    first, second = (evidence_with_ids([0.5] * 40, right[at].tolist(), ids, "ab"[at]) for at in (0, 1))
    differences = right[1] - right[0]
    error = np.sqrt(((differences - differences.mean()) ** 2).sum() + 1) / np.sqrt(39 * 40)
    half = stats.t.ppf(0.975, 39) * error
    found = paired_difference([(first, second)], "accuracy")
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


def test_a_difference_in_ece_holds_its_estimate_and_covers_gaps_that_only_seem_so() -> None:
    """Two calibrated models have no difference, however large both ECEs are by chance."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        confidence = random.random((2, 60))
        right = (random.random((2, 60)) < confidence).astype(int)
        ids = [str(at) for at in range(60)]
        sides = [
            evidence_with_ids(confidence[at].tolist(), right[at].tolist(), ids, "ab"[at]) for at in (0, 1)
        ]
        found = paired_difference([(sides[0], sides[1])], "ece")
        values = [score(side, "ece").value or 0.0 for side in sides]
        assert found.value == pytest.approx(values[1] - values[0])
        assert found.low <= min(found.value, 0)
        assert found.high >= max(found.value, 0)
        assert found.interval_method == (
            f"directional delta method 95 % over questions, {DIFFERENCE_DRAWS} draws, seed 0"
        )


def test_clear_gaps_have_a_normal_interval_of_their_difference() -> None:
    """Where every bin's gap is clear, the difference of two ECEs is that of two means."""
    random = np.random.default_rng(12)
    ids = [str(at) for at in range(2000)]
    confidence = 0.6 + 0.4 * random.random((2, 2000))
    right = (random.random((2, 2000)) < confidence - np.array([[0.3], [0.4]])).astype(int)
    first, second = (
        evidence_with_ids(confidence[at].tolist(), right[at].tolist(), ids, "ab"[at]) for at in (0, 1)
    )
    gap = (confidence[1] - right[1]) - (confidence[0] - right[0])
    half = 1.96 * gap.std() / np.sqrt(2000)
    found = paired_difference([(first, second)], "ece")
    assert (found.low, found.high) == pytest.approx((gap.mean() - half, gap.mean() + half), abs=0.08 * half)


def test_a_difference_is_narrower_than_its_parts_where_runs_agree() -> None:
    random = np.random.default_rng(7)
    confidence, right = random.random(300), (random.random(300) < 0.5).astype(int)
    ids = [str(at) for at in range(300)]
    first = evidence_with_ids(confidence.tolist(), right.tolist(), ids)
    second = evidence_with_ids((confidence * 0.95).tolist(), right.tolist(), ids, "b")
    found, alone = paired_difference([(first, second)], "brier"), metric_interval(first, "brier")
    assert alone is not None
    assert found.high - found.low < 0.3 * (alone.high - alone.low)


def test_rows_of_one_question_go_together() -> None:
    random = np.random.default_rng(8)
    first = evidence_with_ids(random.random(200).tolist(), [1, 0] * 100, [str(at) for at in range(200)])
    second = evidence_with_ids(random.random(200).tolist(), [1, 0] * 100, [str(at) for at in range(200)], "b")
    once, twice = (
        paired_difference([(first, second)], "brier"),
        paired_difference([(first, second)] * 2, "brier"),
    )
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=1e-12)
    assert (twice.n_questions, twice.n_pairs) == (200, 2)


def test_equal_ids_of_two_data_sets_are_two_questions() -> None:
    def of(dataset: str, seed: int) -> tuple[AnswerEvidence, AnswerEvidence]:
        random = np.random.default_rng(seed)
        ids = [str(at) for at in range(40)]
        sides = [evidence_with_ids(random.random(40).tolist(), [1, 0] * 20, ids, name) for name in "ab"]
        first, second = (
            replace(one, run=replace(one.run, info=replace(one.run.info, dataset=dataset))) for one in sides
        )
        return first, second

    found = paired_difference([of("x", 1), of("y", 2)], "brier")
    assert (found.n_questions, found.n_pairs) == (80, 2)


def test_the_reversed_difference_is_the_negative() -> None:
    first = evidence_with_ids([0.2, 0.7, 0.8, 0.4] * 15, [0, 1, 0, 1] * 15, IDS)
    second = evidence_with_ids([0.3, 0.5, 0.9, 0.1] * 15, [1, 1, 0, 0] * 15, IDS, "b")
    for metric, draws_apart in (("brier", 1e-12), ("ece", 0.1), ("accuracy", 1e-12)):
        there, back = (
            paired_difference([(first, second)], metric),
            paired_difference([(second, first)], metric),
        )
        assert there.value == pytest.approx(-back.value)
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=draws_apart)


IDS: Final = [str(at) for at in range(60)]


def test_a_difference_over_bins_needs_more_questions_than_one_of_means() -> None:
    """From 60 on its interval holds (benchmarks/interval_coverage.md)."""
    for n in (59, 60):
        sides = [
            evidence_with_ids([confidence] * n, ([0, 1] * 30)[:n], IDS[:n], name)
            for confidence, name in ((0.5, "a"), (0.7, "b"))
        ]
        assert paired_difference([(sides[0], sides[1])], "brier").n_questions == n
        if n < 60:
            with pytest.raises(Unavailable, match=r"Only 59 questions in common; .* ECE needs 60"):
                paired_difference([(sides[0], sides[1])], "ece")
        else:
            assert paired_difference([(sides[0], sides[1])], "ece").value == pytest.approx(0.2)


def test_a_difference_of_a_number_added_up_anew() -> None:
    random = np.random.default_rng(9)
    ids = [str(at) for at in range(60)]
    right = (random.random(60) < 0.5).astype(int).tolist()
    first, second = (evidence_with_ids(random.random(60).tolist(), right, ids, name) for name in "ab")
    found = paired_difference([(first, second)], "auroc")
    expected = [score(one, "auroc").value or 0 for one in (first, second)]
    assert found.value == pytest.approx(expected[1] - expected[0])
    assert found.n_draws == BOOTSTRAP_DRAWS_RECOMPUTED
    assert found.low < found.value < found.high


def test_refused_with_the_reason() -> None:
    first = evidence_with_ids([0.2], [0], ["a"])
    with pytest.raises(Unavailable, match="no question in common"):
        paired_difference([(first, evidence_with_ids([0.2], [0], ["b"]))], "brier")
    with pytest.raises(Unavailable, match="not a whole distribution"):
        paired_difference([(first, first)], "full_ece")
    with pytest.raises(Unavailable, match="at least two runs"):
        paired_difference([], "brier")
    with pytest.raises(Unavailable, match="not defined"):
        paired_difference([(first, first)], "auroc")


def test_brier_intervals_cover_about_as_often_as_they_say() -> None:
    # Brier of a calibrated c uniform on [½, 1] is E c(1−c) = 1/6.
    ends = [metric_interval(calibrated_evidence(150, seed), "brier") for seed in range(200)]
    hits = [end is not None and end.low <= 1 / 6 <= end.high for end in ends]
    assert 0.9 <= np.mean(hits) <= 0.99


def test_every_metric_has_an_interval_or_none_and_never_an_error() -> None:
    for metric in METRICS:
        evidence = calibrated_evidence(50, 1)
        found = metric_interval(evidence, metric)
        without = METRICS[metric].interval_method == "none"
        assert (found is None) == (METRICS[metric].needs == "distribution" or without)
        assert (METRICS[metric].no_interval_reason is not None) == without
        assert (no_interval_reason(evidence, metric) is not None) == without


def test_too_few_questions_for_a_number_that_needs_both_outcomes() -> None:
    first = evidence_with_ids([0.2, 0.7, 0.4], [0, 1, 0], list("abc"))
    second = evidence_with_ids([0.3, 0.5, 0.9], [0, 1, 0], list("abc"), "b")
    with pytest.raises(Unavailable, match="not defined in some bootstrap draws"):
        paired_difference([(first, second)], "auroc")


def test_coverage_is_stated_as_simulated() -> None:
    measured = (Path(__file__).parents[3] / "benchmarks" / "interval_coverage.md").read_text(encoding="utf-8")
    simulated = {id_: metric for id_, metric in METRICS.items() if metric.interval_coverage}
    assert simulated
    for id_, metric in simulated.items():
        (shares,) = re.findall(rf"^{id_}: (\d+ to \d+ %)\.$", measured, re.MULTILINE)
        assert f"{shares} of data sets for {metric.name}" in coverage_note((id_,))


@pytest.mark.parametrize("metric", ["brier_skill", "aurc", "log_loss"])
def test_intervals_that_hold_too_little_are_not_shown_and_say_how_little(metric: str) -> None:
    measured = (Path(__file__).parents[3] / "benchmarks" / "interval_coverage.md").read_text(encoding="utf-8")
    (shares,) = re.findall(rf"^{metric}: (\d+ to \d+ %)\.$", measured, re.MULTILINE)
    assert f"{shares} of simulated data sets" in (
        no_interval_reason(calibrated_evidence(50, 1), metric) or ""
    )


def test_a_difference_of_ece_has_the_joint_covariance_of_both_runs_by_question() -> None:
    """Against contributions of each question, summed one by one."""
    random = np.random.default_rng(4)
    n = 120
    said = random.uniform(0.05, 0.95, (2, n))
    right = random.random((2, n)) < said - 0.3 * (said > 0.5)
    ids = [f"q{at % 60}-{at // 60}" for at in range(n)]
    trial_of = [f"q{at % 60}" for at in range(n)]
    first, second = (
        given_evidence(c, y.astype(int), id=ids, trial_of=trial_of) for c, y in zip(said, right, strict=True)
    )
    found = paired_difference([(first, second)], "ece")
    bins = np.minimum((np.ceil(said * 10) - 1).astype(int), 9)
    gaps = np.zeros((60, 20))
    for run in range(2):
        for at in range(n):
            gaps[at % 60, 10 * run + bins[run, at]] += (said[run, at] - right[run, at]) / n
    mean = gaps.sum(axis=0)
    centred = gaps - mean / 60
    used = np.flatnonzero(np.abs(gaps).sum(axis=0))
    covariance = 60 / 59 * (centred.T @ centred)[np.ix_(used, used)]
    weight = np.repeat([-1.0, 1.0], 10)[used]
    low, high, p = directional_contrasts(BinMeans(mean[used], covariance, 60), weight[None, :])
    assert found.value == pytest.approx(float(weight @ np.abs(mean[used])))
    assert (found.low, found.high) == pytest.approx((low[0], high[0]), abs=1e-3)
    assert found.p == pytest.approx(float(p[0]), abs=1e-3)
    assert found.n_questions == 60
    assert "directional delta method" in found.interval_method


def test_a_missing_interval_or_p_has_its_reason_in_one_line() -> None:
    few, many = calibrated_evidence(29, 4), calibrated_evidence(200, 4)
    assert missing_statistics_note([many], ["ece"], intervals=True) == ""
    assert "verdict" not in vars(many)  # which takes draws, and is not needed for this
    assert missing_statistics_note([few], ["ece"], intervals=True) == (
        "Not judged: 29 rows, fewer than 30. ECE needs at least 30 rows for an interval."
    )
    assert missing_statistics_note([few], ["ece"], intervals=False) == "Not judged: 29 rows, fewer than 30."
    assert missing_statistics_note([few, many], ["ece"], intervals=False) == (
        "Not judged: 29 rows, fewer than 30 (1 of 2)."
    )
    assert missing_statistics_note([many], ["mce"], intervals=True) == (
        "MCE has no interval: no method covers a maximum over bins."
    )
    assert missing_statistics_note([few], ["full_ece"], intervals=True) == ""
    again = given_evidence([0.9] * 100, [1, 0] * 50, trial_of=["a", "b"] * 50)
    assert missing_statistics_note([again], ["ece"], intervals=False) == (
        "No p-value: only 2 different questions: with repeated questions, a p-value needs 60."
    )
