"""The null distribution agrees with rows drawn one by one, and p-values are valid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.null import (
    NullDistribution,
    metric_draws,
    monte_carlo_p_value,
    null_distribution,
)
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.pairs import Distribution
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.robustness import relative_standard_deviation, with_rsd
from core import oracle
from core.edge_cases import close
from core.run_builders import choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, distribution, random_rows, top_k_evidence

REDRAWN = 600
ALL = ("full_ece", "full_ece_mass", "cw_ece", "cw_ece_sum")


def null(evidence: Evidence, metric_id: str, *schemes: Scheme, ddof: int = 0) -> NullDistribution:
    metric = get_metric(metric_id)
    observed = [metric.compute(evidence.sums_for(metric, scheme), scheme) for scheme in schemes]
    found = null_distribution(evidence, metric, schemes, observed)
    assert found is not None
    known = [value for value in observed if value is not None]
    if len(known) < len(schemes) or len(schemes) < 2:
        return found
    return with_rsd(found, evidence, metric, schemes, known, ddof)


def agrees(found: NullDistribution, brute: np.ndarray) -> None:
    """199 draws against REDRAWN of them: middle and ends within what both leave to chance."""
    median, low, high = np.quantile(brute, (0.5, 0.05, 0.95))
    scale = brute.std()
    assert found.median[0] == pytest.approx(median, abs=0.45 * scale)
    assert found.low[0] == pytest.approx(low, abs=0.6 * scale)
    assert found.high[0] == pytest.approx(high, abs=0.8 * scale)


def redraw_pairs(confidence: np.ndarray, of: Callable[[BinSums], float | None]) -> np.ndarray:
    random = np.random.default_rng(11)
    values = [
        of(BinSums.from_pairs(confidence, random.random(confidence.size) < confidence))
        for _ in range(REDRAWN)
    ]
    return np.array(values, np.float64)


def redraw_rows(rows: Distribution, of: Callable[[BinSums], float | None]) -> np.ndarray:
    return np.array([of(sums) for sums in sums_of_redrawn_rows(rows)], np.float64)


def sums_of_redrawn_rows(rows: Distribution) -> list[BinSums]:
    """The sums of each draw, which are the same for every metric."""
    key = rows.probs.tobytes()
    if key not in _REDRAWN:
        random = np.random.default_rng(12)
        probs = rows.probs.reshape(rows.n, -1)
        upto = probs.cumsum(axis=1)[:, :-1]
        labels = [(random.random((rows.n, 1)) > upto).sum(axis=1) for _ in range(REDRAWN)]
        _REDRAWN[key] = [distribution(probs, label).sums() for label in labels]
    return _REDRAWN[key]


_REDRAWN: dict[bytes, list[BinSums]] = {}


CONFIDENCE = np.random.default_rng(4).beta(3, 1.5, 400)
RIGHT = [int(value) for value in np.random.default_rng(5).random(400) < CONFIDENCE]
TWICE = [f"q{at % 70}" for at in range(80)]


@pytest.mark.parametrize("scheme", [Scheme("width", 10), Scheme("width", 13), Scheme("mass", 8)])
@pytest.mark.parametrize("metric_id", ["ece", "mce"])
def test_one_pair_per_row_is_drawn_with_its_confidence(metric_id: str, scheme: Scheme) -> None:
    metric = get_metric(metric_id)
    found = null(given_evidence(CONFIDENCE, RIGHT), metric_id, scheme)
    assert (found.n_draws, found.seed) == (199, 0)
    agrees(found, redraw_pairs(CONFIDENCE, lambda sums: metric.compute(sums, scheme)))


def test_few_values_are_drawn_value_by_value() -> None:
    confidence = np.repeat([0.25, 0.5, 1.0], 60)
    scheme, metric = Scheme("natural"), get_metric("ece")
    found = null(given_evidence(confidence, [1, 0] * 90), "ece", scheme)
    agrees(found, redraw_pairs(confidence, lambda sums: metric.compute(sums, scheme)))


@pytest.mark.parametrize("bins", [10, 13])
@pytest.mark.parametrize("metric_id", ALL)
def test_all_classes_are_drawn_row_by_row(metric_id: str, bins: int) -> None:
    probs, label = random_rows(300, 4, seed=7)
    metric, scheme = get_metric(metric_id), Scheme("width", bins)
    found = null(choice_evidence(probs.tolist(), label.tolist()), metric_id, scheme)
    agrees(found, redraw_rows(distribution(probs, label), lambda sums: metric.compute(sums, scheme)))


@pytest.mark.parametrize("metric_id", ["full_ece", "full_ece_mass"])
def test_token_level_draws_are_those_of_rows(metric_id: str) -> None:
    probs, label = random_rows(300, 6, seed=8)
    metric, scheme = get_metric(metric_id), Scheme("width", 10)
    found = null(dense_evidence(probs, label), metric_id, scheme)
    agrees(found, redraw_rows(distribution(probs, label), lambda sums: metric.compute(sums, scheme)))


def test_token_level_top_labels_and_classes_are_those_of_rows() -> None:
    probs, label = random_rows(300, 6, seed=9)
    evidence, rows, scheme = dense_evidence(probs, label), distribution(probs, label), Scheme("width", 10)
    agrees(
        null(evidence, "ece", scheme),
        redraw_pairs(rows.top_label_pairs().confidence, lambda sums: get_metric("ece").compute(sums, scheme)),
    )
    found = null(evidence, "cw_ece", scheme)
    brute = redraw_rows(rows, lambda sums: get_metric("cw_ece").compute(sums, scheme))
    assert found.n_draws == 19
    assert found.median[0] == pytest.approx(np.median(brute), abs=1.5 * brute.std())


def test_draws_cell_by_cell_would_be_wrong() -> None:
    """Two classes: if one is right the other is not. At M = 1 Full-ECE is 0 whatever is drawn."""
    probs, label = random_rows(400, 2, seed=3)
    evidence = choice_evidence(probs.tolist(), label.tolist())
    one = null(evidence, "full_ece", Scheme("width", 1))
    assert one.high[0] == pytest.approx(0, abs=1e-12)
    apart = redraw_pairs(probs.ravel(), lambda sums: get_metric("ece").compute(sums, Scheme("width", 1)))
    assert 2 * np.median(apart) > 0.01


def test_all_labels_are_drawn_row_by_row_too() -> None:
    probs, label = random_rows(200, 3, seed=5)
    every = choice_evidence(probs.tolist(), label.tolist(), MethodOptions(labels="all"))
    whole_run = choice_evidence(probs.tolist(), label.tolist())
    scheme = Scheme("width", 10)
    assert null(every, "ece", scheme).median[0] == pytest.approx(
        null(whole_run, "full_ece", scheme).median[0] / 3
    )
    metric = get_metric("ece")
    assert null_distribution(every, metric, (Scheme("mass", 10),), (0.1,)) is None


def p_of_draws(evidence: Evidence, metric_id: str, scheme: Scheme) -> float:
    """p-value from the draws, which those of positions of unknown texts are not shown with."""
    metric = get_metric(metric_id)
    draws, value = (
        metric_draws(evidence, metric, (scheme,)),
        metric.compute(evidence.sums_for(metric, scheme), scheme),
    )
    assert draws is not None
    assert value is not None
    return monte_carlo_p_value(draws[1][0], value)


@pytest.mark.parametrize(
    "evidence_of",
    [
        lambda seed: given_evidence(*pairs_of_seed(seed)),
        lambda seed: choice_evidence(*(part.tolist() for part in random_rows(60, 3, seed))),
        lambda seed: dense_evidence(*random_rows(60, 5, seed)),
    ],
    ids=["given", "choices", "tokens"],
)
def test_p_is_uniform_where_the_confidences_are_right(evidence_of: Callable[[int], Evidence]) -> None:
    scheme = Scheme("width", 10)
    for metric_id in ("ece", "full_ece"):
        evidences = [evidence_of(seed) for seed in range(80)]
        if get_metric(metric_id).needs == "distribution" and not evidences[0].has_distribution:
            continue
        found = np.array([p_of_draws(evidence, metric_id, scheme) for evidence in evidences])
        # Kolmogorov distance for 80 values: it exceeds 0.217 in 0.1 % of uniform samples.
        ranks = np.arange(1, found.size + 1) / found.size
        assert np.abs(np.sort(found) - ranks).max() < 0.217


def pairs_of_seed(seed: int) -> tuple[np.ndarray, list[int]]:
    random = np.random.default_rng(seed)
    confidence = random.random(100)
    return confidence, [int(value) for value in random.random(100) < confidence]


def test_p_is_small_where_they_are_wrong() -> None:
    found = null(given_evidence([0.9] * 100, [0, 1] * 50), "ece", Scheme())
    assert found.p == (1 / 200,)


def test_the_p_value_counts_the_data_among_the_draws() -> None:
    drawn = np.array([0.1, 0.2, 0.3])
    assert monte_carlo_p_value(drawn, 0.4) == 1 / 4
    assert monte_carlo_p_value(drawn, 0.3) == 2 / 4
    assert monte_carlo_p_value(drawn, 0.3 + 1e-14) == 2 / 4
    assert monte_carlo_p_value(drawn, 0.0) == 1


def test_rsd_is_the_oracles() -> None:
    values = [0.1, 0.15, 0.3, 0.02]
    exact = [oracle.Fraction(value) for value in values]
    for ddof in (0, 1):
        assert close(float(relative_standard_deviation(np.array(values), ddof)), oracle.rsd(exact, ddof))
    assert np.isnan(relative_standard_deviation(np.zeros(3)))
    assert np.isnan(relative_standard_deviation(np.array([0.2]), 1))
    assert relative_standard_deviation(np.array([0.2])) == 0


def test_rsd_has_a_null_of_its_own() -> None:
    """For calibrated confidences it is that of noise, which grows with M: large, but as expected."""
    evidence = given_evidence(CONFIDENCE, RIGHT)
    schemes = [Scheme("width", bins) for bins in (5, 10, 50, 500)]
    found = null(evidence, "ece", *schemes)
    table = np.array([evidence.null_cache["ece", scheme][1] for scheme in schemes])
    each = table.std(axis=0) / table.mean(axis=0)
    assert found.rsd_median == pytest.approx(np.median(each))
    assert (found.rsd_low, found.rsd_high) == pytest.approx(tuple(np.quantile(each, (0.05, 0.95))))
    assert found.rsd_p is not None
    assert 0.02 < found.rsd_p <= 1
    assert bool((np.diff(table[:2], axis=0) >= -1e-12).all())  # one draw: ECE(5) ≤ ECE(10) in every one
    sample = null(evidence, "ece", *schemes, ddof=1)
    assert sample.rsd_median == pytest.approx(found.rsd_median * np.sqrt(4 / 3))


def test_certainty_has_no_rsd_but_a_null() -> None:
    found = null(given_evidence([1.0, 0.0] * 15, [1, 0] * 15), "ece", Scheme("width", 5), Scheme("width", 10))
    assert (found.median, found.p) == ((0.0, 0.0), (1.0, 1.0))
    assert (found.rsd_median, found.rsd_p) == (None, None)


def asked_twice(seed: int) -> Evidence:
    confidence, right = pairs_of_seed(seed)
    return given_evidence(
        np.tile(confidence, 2), right + right, question=[f"q{at % 80}" for at in range(2 * len(right))]
    )


@pytest.mark.parametrize(
    ("evidence_of", "n_kinds"),
    [
        (lambda: given_evidence(CONFIDENCE, RIGHT), 2),
        (lambda: asked_twice(3), 2),
        (lambda: choice_evidence(*(part.tolist() for part in random_rows(300, 4, seed=7))), 6),
        (lambda: choice_evidence(*(part.tolist() for part in random_rows(80, 4, seed=7)), question=TWICE), 6),
        (lambda: dense_evidence(*random_rows(200, 5, seed=8)), 5),
    ],
    ids=["given", "asked twice", "choices", "choices asked twice", "tokens"],
)
def test_all_draws_at_once_are_each_draw_to_the_last_bit(
    evidence_of: Callable[[], Evidence], n_kinds: int
) -> None:
    evidence, kinds = evidence_of(), set[str]()
    for metric in METRICS.values():
        if metric.divisor is None:
            continue
        for bins in (1, 10, 13, 500):
            scheme = Scheme(metric.binning or "width", bins)
            if evidence.unavailable_reason(metric, scheme) or not (
                draws := evidence.null_draws(metric, scheme)
            ):
                continue
            one_by_one = [metric.compute(sums, scheme) for sums in draws]
            assert draws.values(metric).tolist() == one_by_one, (metric.id, bins)
            assert len(set(one_by_one)) > 1 or bins == 1
            kinds.add(metric.id)
    assert len(kinds) == n_kinds


def test_all_draws_of_a_fitted_model_at_once_are_each_draw_to_the_last_bit() -> None:
    evidence, metric = given_evidence(CONFIDENCE, RIGHT), get_metric("ece")
    for scheme in (Scheme("width", 10), Scheme("mass", 7), Scheme("natural")):
        draws = evidence.fitted_null(Scheme("width", 5)).null_draws(metric, scheme)
        assert draws.values(metric).tolist() == [metric.compute(sums, scheme) for sums in draws]


def test_draws_are_kept() -> None:
    evidence = given_evidence(CONFIDENCE, RIGHT)
    null(evidence, "ece", Scheme())
    kept = evidence.null_cache["ece", Scheme()][1]
    null(evidence, "ece", Scheme(), Scheme("width", 20))
    assert evidence.null_cache["ece", Scheme()][1] is kept


@pytest.mark.parametrize("metric_id", ["brier", "auroc", "accuracy", "bias", "nll", "brier_multi"])
def test_metrics_without_bins_have_no_null(metric_id: str) -> None:
    evidence = choice_evidence([[0.7, 0.3], [0.2, 0.8]], [0, 0])
    assert null_distribution(evidence, get_metric(metric_id), (Scheme(),), (0.1,)) is None


def test_what_is_not_known_has_no_null() -> None:
    probs, label = random_rows(40, 30, seed=2)
    evidence = top_k_evidence(probs, label, 3)
    metric = get_metric("full_ece")
    assert evidence.bounds(metric, Scheme("width", 500)) is not None
    assert null_distribution(evidence, metric, (Scheme("width", 500),), (None,)) is None
    assert null_distribution(evidence, metric, (), ()) is None
    assert null_distribution(evidence, get_metric("ece"), (Scheme(),), (0.1,)) is not None


def test_nothing_observed_has_no_p() -> None:
    found = null_distribution(given_evidence(CONFIDENCE, RIGHT), get_metric("ece"), (Scheme(),), (None,))
    assert found is not None
    assert found.p == (None,)
    assert found.recipe_text == "p over R=199 draws, seed 0"


def test_a_stated_certainty_stands_for_its_rounding_interval() -> None:
    # "1.00" may stand for .998, so that 1 of 500 is no more than expected: P(any of 500) = 1 − .998⁵⁰⁰ = .63.
    right = np.arange(500) != 7
    found = null(given_evidence(np.ones(500), right), "ece", Scheme())
    assert found.p[0] == pytest.approx(1 - 0.998**500, abs=0.1)
    assert null(given_evidence(np.zeros(500), ~right), "ece", Scheme()).p[0] == found.p[0]
    # Beside confidences of three decimals it stands for .9995 or more: P(any) = 1 − .9995⁵⁰⁰ = .22.
    confidence = np.append(np.ones(500), [0.999, 0.999])
    finer = null(given_evidence(confidence, np.append(right, [True] * 2)), "ece", Scheme("natural"))
    assert finer.p[0] == pytest.approx(1 - 0.9995**500, abs=0.1)
    # Too many are found, in bins that no cell of the finest grid is cut by and in others, and near 0.
    right = np.arange(500) > 12
    for scheme in (Scheme(), Scheme("width", 7), Scheme("natural")):
        assert null(given_evidence(np.ones(500), right), "ece", scheme).p == (0.005,)
        assert null(given_evidence(np.zeros(500), ~right), "ece", scheme).p == (0.005,)
    # Questions asked twice, of which each ends alike.
    once = [f"q{at // 2}" for at in range(500)]
    alike = null(given_evidence(np.ones(500), np.arange(500) > 1, trial_of=once), "ece", Scheme())
    assert alike.p[0] is not None
    assert alike.p[0] > 0.3
    # Rows that weigh 2 or 1: the wrong one weighs 1 of 750, which is less than the .005 that rounds to 1.
    weights = np.where(np.arange(500) % 2, 1.0, 2.0)
    right = np.arange(500) != 7
    weighed = null(given_evidence(np.ones(500), right, weight=weights.tolist()), "ece", Scheme())
    assert weighed.p[0] is not None
    assert weighed.p[0] > 0.3
