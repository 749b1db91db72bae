"""Rows with weights (decision 0018): whole numbers repeat rows, and equal ones change nothing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import calib_core
from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.inference.calibration_test import cox_test
from calib_core.inference.clusters import clustered_inflation
from calib_core.inference.intervals import share_interval
from calib_core.inference.verdict import judge
from calib_core.metrics import METRICS
from calib_core.results.best import compare_on_same_rows, compare_pairs
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.lines import reliability_lines
from calib_core.results.methods_table import compare_methods
from calib_core.results.overview import summarise_runs
from calib_core.results.uncertainty import metric_interval, paired_difference
from calib_core.runs import AnswerRun, Run
from calib_core.views.methods import methods_recipe
from calib_core.views.reliability import how_to_read_bins, how_to_read_lines

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.55, 0.9, 1.0]), st.booleans(), st.integers(1, 6)),
    min_size=1,
    max_size=12,
)
OF_PAIRS = [one for one in METRICS.values() if one.needs == "pairs" and one.takes_weights]


def made(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    confidence = np.round(random.uniform(0.3, 1, n), 2)
    return confidence, random.random(n) < confidence - 0.1, random.integers(1, 6, n).astype(float)


def run_of(*columns: Any, **more: Any) -> AnswerRun:
    confidence, correct, weight = columns
    (run,) = calib_core.load(confidence=confidence, correct=correct, weight=weight, **more)
    assert isinstance(run, AnswerRun)
    return run


def weighted(n: int = 200) -> AnswerRun:
    return run_of(*made(n), id=np.arange(n))


@given(rows=ROWS, bins=st.integers(1, 12))
def test_whole_weights_are_repeated_rows(rows: list[tuple[float, bool, int]], bins: int) -> None:
    c, y, w = (np.array(values) for values in zip(*rows, strict=True))
    one = BinSums.from_pairs(c, y, weight=w.astype(np.float64))
    repeated = BinSums.from_pairs(np.repeat(c, w), np.repeat(y, w))
    for metric in OF_PAIRS:
        scheme = Scheme(metric.binning or "width", bins)
        value, expected = metric.compute(one, scheme), metric.compute(repeated, scheme)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), metric.id
    for scheme in (Scheme("mass", bins), Scheme("natural"), Scheme("width", bins)):
        assert one.binned(scheme).index.tolist() == repeated.binned(scheme).index.tolist()
        assert one.binned(scheme).count.tolist() == repeated.binned(scheme).count.tolist()


@given(rows=ROWS, parts=st.lists(st.fractions(Fraction(1, 50), 5), min_size=12, max_size=12))
def test_any_weights_match_exact_fractions(
    rows: list[tuple[float, bool, int]], parts: list[Fraction]
) -> None:
    c, y, _ = (np.array(values) for values in zip(*rows, strict=True))
    w = [Fraction(float(part)) for part in parts[: c.size]]
    sums = BinSums.from_pairs(c, y, weight=np.array([float(part) for part in w]))
    exact = [(Fraction(float(ci)), int(yi), wi) for ci, yi, wi in zip(c, y, w, strict=True)]
    total = sum(w)
    by_cell: dict[float, Fraction] = {}  # each of the six confidences has a bin of its own among 20
    for (ci, yi, wi), key in zip(exact, c.tolist(), strict=True):
        by_cell[key] = by_cell.get(key, Fraction(0)) + wi * (ci - yi)
    expected = {
        "accuracy": sum(wi * yi for _, yi, wi in exact) / total,
        "brier": sum(wi * (ci - yi) ** 2 for ci, yi, wi in exact) / total,
        "ece": sum(map(abs, by_cell.values())) / total,
    }
    for metric, value in expected.items():
        assert METRICS[metric].compute(sums, Scheme("natural")) == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize("constant", [1.0, 0.1, 7.3])
def test_equal_weights_change_no_bit(constant: float) -> None:
    c, y, _ = made(150)
    (plain,) = calib_core.load(c, y)
    equal = run_of(c, y, np.full(150, constant))
    others = calib_core.score(equal)
    for metric, score in calib_core.score(plain).items():
        other = others[metric]
        assert (other.value, other.p, other.null_median) == (score.value, score.p, score.null_median)
        assert other.interval == score.interval
        assert "all equal" in other.recipe
        assert other.n_effective is None
    assert calib_core.verdict(equal).verdict == calib_core.verdict(plain).verdict


@pytest.mark.parametrize("labels", ["top", "all"])
def test_probabilities_of_choices_are_weighted(labels: Any) -> None:
    random = np.random.default_rng(2)
    probs, w = random.dirichlet(np.ones(4), 60), random.integers(1, 4, 60)
    gold = random.integers(0, 4, 60)
    (one,) = calib_core.load(probs=probs, gold=gold, weight=w)
    (repeated,) = calib_core.load(probs=np.repeat(probs, w, axis=0), gold=np.repeat(gold, w))
    compared, expected = (calib_core.score(run, labels=labels) for run in (one, repeated))
    for metric, score in compared.items():
        assert score.value == pytest.approx(expected[metric].value, abs=1e-12), metric
        if METRICS[metric].needs == "distribution" and METRICS[metric].binned:
            assert score.p is None
            assert score.interval is None
    assert "ece" in compared


def test_zero_and_missing_weights_are_not_used_and_are_counted() -> None:
    c, y, w = made(60)
    w[:5], w[5:7] = 0, np.nan
    run = run_of(c, y, w)
    evidence = gather_evidence(run, "given")
    assert evidence.missing == {"no weight": 2, "weight 0": 5}
    assert evidence.n_used == 53
    kept = run_of(c[7:], y[7:], w[7:])
    assert calib_core.score(run, metric="ece").value == calib_core.score(kept, metric="ece").value
    assert "n=53/60, weighted by column weight, effective n=" in calib_core.score(run, metric="ece").recipe
    with pytest.raises(Refused, match="no row with a confidence and an outcome has a weight above 0"):
        run_of(c, y, np.zeros(60))


@pytest.mark.parametrize("bad", ["-1", "nan", "heavy", "inf"])
def test_a_bad_weight_is_named_with_its_row(bad: str, tmp_path: Any) -> None:
    path = tmp_path / "w.csv"
    path.write_text(f"confidence,correct,weight\n0.9,1,2\n0.8,0,{bad}\n0.7,1,3\n", "utf-8")
    with pytest.raises(
        BadRowsFound, match=r"row 2 \(line 3\), column 'weight': expected a number, at least 0"
    ):
        calib_core.load(path)


def test_a_column_is_read_as_weights_or_ignored_where_that_is_said(tmp_path: Any) -> None:
    path = tmp_path / "w.csv"
    path.write_text("confidence,correct,weight,w\n0.9,1,2,1\n0.8,0,1,3\n0.7,1,1,0\n", "utf-8")
    own, other, none = (
        calib_core.load(path, columns=columns)[0]
        for columns in ({}, {"weight": "", "w": "weight"}, {"weight": ""})
    )
    accuracies = [calib_core.score(run, metric="accuracy").value for run in (own, other, none)]
    assert accuracies == [pytest.approx(3 / 4), pytest.approx(1 / 4), pytest.approx(2 / 3)]
    assert "weighted" not in calib_core.score(none, metric="accuracy").recipe


def test_weights_are_said_beside_every_number() -> None:
    run = weighted()
    score, diagram = calib_core.score(run, metric="ece"), calib_core.reliability(run)
    w = run.rows["weight"].to_numpy()
    assert score.n_effective == pytest.approx(w.sum() ** 2 / (w @ w))
    for remarks in (score.remarks, diagram.remarks, calib_core.verdict(run).remarks):
        assert any("Rows are weighted by the column weight: 200 rows are worth" in one for one in remarks)
    assert "effective n=" in calib_core.verdict(run).recipe
    assert diagram.table["count"].sum() == 200
    assert (diagram.table["effective"] <= diagram.table["count"] + 1e-9).all()
    assert diagram.table["effective"].sum() < 199
    mean = float((diagram.table["accuracy"] * diagram.table["count"]).sum() / 200)
    assert diagram.accuracy == pytest.approx(float(w @ made(200)[1] / w.sum()))
    assert diagram.accuracy != pytest.approx(mean)


def test_metric_value_takes_weights() -> None:
    c, y, w = made(40)
    assert calib_core.metric_value(c, y, "accuracy", weight=w) == pytest.approx(float(w @ y / w.sum()))


# --- Inference ----------------------------------------------------------------------------------


def test_the_test_with_weights_of_1_is_the_test_without() -> None:
    c, y, _ = made(4000)
    plain, ones = cox_test(c, y), cox_test(c, y, weight=np.ones(4000))
    assert (ones.level_p, ones.slope_p) == pytest.approx((plain.level_p, plain.slope_p))
    assert (ones.deviation, ones.level) == pytest.approx((plain.deviation, plain.level))


def test_a_verdict_does_not_depend_on_the_unit_of_weights() -> None:
    c, y, w = made(300)
    assert judge(c, y, weight=w).p == pytest.approx(judge(c, y, weight=1000 * w).p)


def test_repeated_rows_are_not_independent_ones() -> None:
    c, y, w = made(200)
    p, p_repeated = judge(c, y, weight=w).p, judge(np.repeat(c, w.astype(int)), np.repeat(y, w.astype(int))).p
    assert p is not None
    assert p_repeated is not None
    assert p > p_repeated


def test_weights_that_go_with_errors_widen_the_test() -> None:
    """Rows that weigh 3 are right .87, others .99 of the time: .9 on the weighted average, as stated.

    Their squared residuals are 1.16 times c(1 − c), each by the square of its weight.
    """
    random = np.random.default_rng(1)
    heavy = random.random(40_000) < 0.5
    weight = np.where(heavy, 3.0, 1.0)
    test = cox_test(np.full(40_000, 0.9), random.random(40_000) < np.where(heavy, 0.87, 0.99), weight=weight)
    error = abs(test.level) / -NormalDist().inv_cdf(test.level_p / 2)
    of_stated = 0.3 * np.sqrt(weight @ weight) / weight.sum()
    assert error / of_stated == pytest.approx(1.16**0.5, abs=0.02)


def test_too_few_effective_rows_are_not_judged() -> None:
    c, y, _ = made(100)
    w = np.ones(100)
    w[:5] = 50
    run = run_of(c, y, w)
    verdict = calib_core.verdict(run).verdict
    assert verdict.kind == "few"
    assert "100 rows, worth" in verdict.reason
    score = calib_core.score(run, metric="ece")
    assert score.p is None
    assert score.interval is None


@pytest.mark.parametrize("metric", ["ece", "ace", "brier", "accuracy", "bias", "auroc"])
def test_intervals_are_wider_than_of_repeated_rows_and_hold_the_value(metric: str) -> None:
    c, y, w = made(300)
    one = calib_core.score(run_of(c, y, w), metric=metric)
    (repeated,) = calib_core.load(np.repeat(c, w.astype(int)), np.repeat(y, w.astype(int)))
    other = calib_core.score(repeated, metric=metric)
    assert one.interval is not None
    assert other.interval is not None
    assert one.value is not None
    assert one.interval.low <= one.value <= one.interval.high
    assert one.interval.high - one.interval.low > other.interval.high - other.interval.low


def test_subsets_of_equal_weight_are_as_without() -> None:
    """Strata that are weighted as wholes: within each, weights are equal."""
    c, y, _ = made(200)
    stratum = np.repeat(["a", "b"], [150, 50])
    run = run_of(c, y, np.where(stratum == "a", 1 / 150, 1 / 50), subject=stratum)
    found = calib_core.groups([run], by="subject")
    values = {row["name"]: row["value"] for row in found.to_frame().iter_rows(named=True)}
    for name in ("a", "b"):
        own = calib_core.metric_value(c[stratum == name], y[stratum == name], "ece")
        assert values[name] == own
    halves = [y[stratum == name].mean() for name in ("a", "b")]
    assert calib_core.score(run, metric="accuracy").value == pytest.approx(float(np.mean(halves)))


REFUSED: dict[str, Callable[[Run], object]] = {
    "abstention": calib_core.abstention,
    "threshold": lambda run: calib_core.threshold(run, accuracy=0.8),
    "recalibrate": calib_core.recalibrate,
    "audit": calib_core.audit,
    "concentration": calib_core.concentration,
    "debiased": lambda run: calib_core.score(run, metric="ece_debiased_sq"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_counts_rows_alike_is_refused(what: str) -> None:
    with pytest.raises(Unavailable, match="weights"):
        REFUSED[what](weighted())


def test_bins_say_what_their_rows_are_worth() -> None:
    diagram = calib_core.reliability(weighted())
    assert "effective" in [column.name for column in diagram.columns]
    assert "Faded: worth fewer than 30 rows of equal weight (" in how_to_read_bins(diagram)
    lines = reliability_lines({"a": gather_evidence(weighted(), "given")})
    assert "hollow points are worth fewer than 30 pairs of equal weight (" in how_to_read_lines(lines)
    (plain,) = calib_core.load(*made(60)[:2])
    assert "effective" not in [column.name for column in calib_core.reliability(plain).columns]
    assert "Faded: fewer than 30 rows (" in how_to_read_bins(calib_core.reliability(plain))


def test_groups_say_that_they_are_not_compared_with_the_rest() -> None:
    c, y, w = made(200)
    kind = np.repeat(["x", "y"], 100)
    found = calib_core.groups([run_of(c, y, w, subject=kind)], by="subject")
    assert all(group.rest is None for group in found.groups)
    assert "comparison of a group with the other rows counts every row alike" in found.subheadline
    (plain,) = calib_core.load(c, y, subject=kind)
    assert "alike" not in calib_core.groups([plain], by="subject").subheadline


def test_joint_recipes_say_that_rows_are_weighted() -> None:
    (unweighted,) = calib_core.load(*made(60)[:2])
    assert isinstance(unweighted, AnswerRun)
    evidence, other = gather_evidence(weighted(), "given"), gather_evidence(weighted(90), "given")
    plain = gather_evidence(unweighted, "given")
    mixed = {"a": (evidence,), "b": (plain,)}
    assert "; weighted by column weight; " in summarise_runs(mixed).recipe
    assert "weighted" not in summarise_runs({"b": (plain,)}).recipe
    marks = [summary.weighted for summary in summarise_runs(mixed).by_default_method]
    assert marks == [True, False]
    assert ", weighted by column weight" in methods_recipe(compare_methods({"a": [evidence, other]}))
    assert "weighted" not in methods_recipe(compare_methods({"b": [plain]}))


# --- Paired differences -------------------------------------------------------------------------


def two(*weights: NDArray[np.float64]) -> tuple[AnswerEvidence, AnswerEvidence]:
    """A run for each of two weights, of the same questions."""
    random = np.random.default_rng(5)
    c = np.round(random.uniform(0.3, 1, 200), 2)
    runs = [
        run_of(c, random.random(200) < c - shift, weight, id=np.arange(200))
        for shift, weight in zip((0, 0.2), weights, strict=True)
    ]
    return gather_evidence(runs[0], "given"), gather_evidence(runs[1], "given")


@pytest.mark.parametrize("metric", ["accuracy", "brier", "bias", "ece"])
def test_a_paired_difference_is_that_of_the_weighted_values(metric: str) -> None:
    w, ones = np.random.default_rng(6).integers(1, 6, 200).astype(float), np.ones(200)
    pair = two(w, 7 * w)
    found = paired_difference([pair], metric)
    values = [calib_core.score(one.run, metric=metric).value for one in pair]
    assert values[0] is not None
    assert values[1] is not None
    assert found.value == pytest.approx(values[1] - values[0])
    assert found.low < found.value < found.high
    plain, equal = (
        paired_difference([two(*weights)], metric) for weights in ((ones, ones), (3 * ones, ones))
    )
    assert plain.value != pytest.approx(found.value)
    assert (equal.value, equal.low, equal.high, equal.p) == (plain.value, plain.low, plain.high, plain.p)


@pytest.mark.parametrize("metric", ["brier_skill", "accuracy", "brier"])
def test_compared_runs_have_the_t_test_of_weighted_questions(metric: str) -> None:
    """Whole weights are rows of one question that all do the same."""
    w = np.random.default_rng(6).integers(1, 6, 200)
    weighted_runs, runs = [one.run for one in two(w.astype(float), w.astype(float))], list[Run]()
    found = calib_core.compare(weighted_runs)
    (pair,) = found.paired.pairs[metric]
    for run in weighted_runs:
        rows = run.rows.drop("weight")[np.repeat(np.arange(200), w).tolist()]
        rows = rows.with_columns(trial_of=pl.col("id"), id=pl.int_range(pl.len()).cast(pl.String))
        runs += calib_core.load(rows.select("id", "trial_of", "confidence", "correct"))
    (repeated,) = calib_core.compare(runs).paired.pairs[metric]
    assert pair.test.difference == pytest.approx(repeated.test.difference)
    assert (pair.test.low, pair.test.high) == pytest.approx((repeated.test.low, repeated.test.high))
    assert pair.test.p == pytest.approx(repeated.test.p)
    assert ", weighted by column weight" in found.recipe


def test_a_mean_has_the_same_interval_from_either_function() -> None:
    w = np.random.default_rng(6).lognormal(0, 1, 200)
    first, second = two(w, w)
    (pair,) = compare_pairs({"b": second, "a": first}, ["brier"]).pairs["brier"]
    found = paired_difference([(first, second)], "brier")
    assert (found.value, found.low, found.high, found.p) == pytest.approx(
        (pair.test.difference, pair.test.low, pair.test.high, pair.test.p)
    )


def test_methods_of_weighted_rows_are_compared() -> None:
    random = np.random.default_rng(2)
    c, y, w = made(200)
    (run,) = calib_core.load(confidence=c, verbal_confidence=random.random(200), correct=y, weight=w)
    assert isinstance(run, AnswerRun)
    evidences = {id_: gather_evidence(run, id_) for id_ in ("given", "verbal")}
    found = compare_on_same_rows(evidences, Scheme())
    assert {metric: len(pairs) for metric, pairs in found.pairs.items()} == dict.fromkeys(found.pairs, 1)
    (pair,) = found.pairs["ece"]
    values = [calib_core.score(run, method=id_, metric="ece").value for id_ in evidences]
    assert values[0] is not None
    assert values[1] is not None
    assert pair.test.difference == pytest.approx(values[0] - values[1])
    heavy = np.where(np.arange(200) < 20, 100.0, 1)
    (few,) = calib_core.load(confidence=c, verbal_confidence=random.random(200), correct=y, weight=heavy)
    assert isinstance(few, AnswerRun)
    unpaired = compare_on_same_rows({id_: gather_evidence(few, id_) for id_ in evidences}, Scheme()).unpaired
    assert "worth 23.7 of equal weight" in str(unpaired)


def test_weights_that_differ_between_runs_are_not_compared() -> None:
    w = np.arange(1.0, 201)
    first, second = two(w, w[::-1])
    assert "different weights" in str(compare_pairs({"a": first, "b": second}).unpaired)
    heavy, other = np.append(1e8, np.ones(199)), np.append(1e8, np.resize([1.0, 2.0], 199))
    for pair in (two(w, w[::-1]), two(w, np.ones(200)), two(heavy, other)):
        with pytest.raises(Unavailable, match="give the same questions different weights"):
            paired_difference([pair], "brier")


def test_too_few_questions_of_equal_weight_are_not_compared() -> None:
    w = np.where(np.arange(200) < 20, 100.0, 1)
    pair = two(w, w)
    unpaired = compare_pairs(dict(zip("ab", pair, strict=True))).unpaired
    assert "only 200 questions in common, worth 23.7 of equal weight" in str(unpaired)
    with pytest.raises(Unavailable, match="needs 60"):
        paired_difference([pair], "ece")
    with pytest.raises(Unavailable, match="bootstrap of a difference of AUROC counts every row alike"):
        paired_difference([pair], "auroc")


def test_a_sweep_is_weighted_and_names_no_fitted_model() -> None:
    run = weighted()
    curve = calib_core.sweep(run, metric="ece").to_frame()
    at_10 = curve.filter(pl.col("bins") == 10)["value"][0]
    assert at_10 == calib_core.score(run, metric="ece").value


def test_an_interval_of_all_choices_says_why_it_is_missing() -> None:
    evidence = gather_evidence(weighted(), "given")
    assert isinstance(evidence, AnswerEvidence)
    assert metric_interval(evidence, "ece") is not None


@pytest.mark.parametrize("metric", ["ece", "brier", "bias"])
def test_an_interval_is_that_of_questions_with_as_many_equal_rows(metric: str) -> None:
    c, y, w = made(300)
    y = y & (np.arange(300) % 3 > 0)  # so that the lower end of the ECE is not 0
    times = w.astype(int)
    one = metric_interval(gather_evidence(run_of(c, y, w), "given"), metric)
    (repeated,) = calib_core.load(
        confidence=np.repeat(c, times),
        correct=np.repeat(y, times),
        trial_of=np.repeat(np.arange(300), times),
    )
    other = metric_interval(gather_evidence(repeated, "given"), metric)
    assert one is not None
    assert other is not None
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-9)
    assert one.high - one.low > 0.01


def test_weighted_rows_of_questions_are_inflated_by_the_rule_of_rows() -> None:
    """As `clustered_inflation` of rows, over independent rows whose outcomes have nothing to do with w."""
    question, w = np.array([0, 0, 1, 2, 3, 3]), np.array([1, 2, 3, 1, 1, 2])
    right = [1, 0, 1, 0, 0, 0]
    total, share = 10, Fraction(4, 10)
    sums = [1 * (1 - share) + 2 * -share, 3 * (1 - share), -share, -3 * share]
    parts = [Fraction(size, total) for size in (3, 3, 1, 3)]
    jackknife = Fraction(3, 4) * sum((one / (1 - part)) ** 2 for one, part in zip(sums, parts, strict=True))
    independent = Fraction(20) * share * (1 - share)  # Σ w² times the variance of an outcome
    squares = [(1 - share) ** 2 + 4 * share**2, 9 * (1 - share) ** 2, share**2, 5 * share**2]
    known_from = sum(squares) ** 2 / sum(one * one for one in squares)
    largest = Fraction(28, 20)
    expected = (known_from * jackknife / independent + largest / 2) / (known_from + Fraction(1, 2))
    found = clustered_inflation(np.array(right) - float(share), question, weight=w.astype(float))
    assert expected > 1
    assert found == pytest.approx(float(expected))


def test_an_accuracy_of_equal_weights_has_the_interval_of_rows_but_for_t() -> None:
    _, y, w = made(300)
    ones = share_interval(y, weight=np.ones(300))
    assert ones == pytest.approx(share_interval(y), rel=0.01)
    assert ones[1] - ones[0] > share_interval(y)[1] - share_interval(y)[0]
    low, high = share_interval(y, weight=w)
    assert share_interval(y, weight=10 * w) == pytest.approx((low, high))
    wide = 2 * 1.96 * (0.55 * 0.45 * float(w @ w)) ** 0.5 / float(w.sum())
    assert high - low == pytest.approx(wide, rel=0.06)
    assert share_interval(np.ones(300, bool), weight=w)[1] == 1
    alike = np.repeat(np.arange(150), 2)  # both rows of a question end alike
    y, w = np.repeat(y[:150], 2), np.repeat(w[:150], 2)
    assert share_interval(y, alike, w) == pytest.approx(share_interval(y[::2], None, w[::2]), abs=2e-3)
