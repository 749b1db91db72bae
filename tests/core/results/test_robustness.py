"""A metric over M: the values, their RSD against the oracle, refusals and remarks."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.results.evidence import Evidence
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, SweepCurve, sweep_bins
from calib_core.results.score import score
from core import oracle
from core.edge_cases import close
from core.oracle import Bins, Row
from core.run_builders import block_evidence, choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows, top_k_evidence

PROBS, LABEL = random_rows(80, 5, seed=2)
ROWS = [Row(tuple(map(float, row)), 8, int(label)) for row, label in zip(PROBS, LABEL, strict=True)]
CHOICES = choice_evidence(PROBS.tolist(), LABEL.tolist())
TOKENS = dense_evidence(PROBS, LABEL)


def curve(evidence: Evidence, metric: str, bins: tuple[int, ...] = PAPER_BINS, ddof: int = 0) -> SweepCurve:
    (only,) = sweep_bins(evidence, (metric,), bins, ddof).curves
    return only


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("metric", ["cw_ece", "cw_ece_sum", "full_ece", "full_ece_mass"])
@pytest.mark.parametrize("evidence", [CHOICES, TOKENS], ids=["choices", "tokens"])
def test_values_and_rsd_are_the_oracles(evidence: Evidence, metric: str, ddof: int) -> None:
    exact = [oracle.OF_ROWS[metric](ROWS, Bins("width", bins)) for bins in PAPER_BINS]
    found = curve(evidence, metric, ddof=ddof)
    assert found.bins == PAPER_BINS
    for value, own in zip(found.values, exact, strict=True):
        assert close(value, own)
    known = [value for value in exact if isinstance(value, oracle.Fraction)]
    assert close(found.rsd, oracle.rsd(known, ddof))
    assert found.ddof == ddof


@pytest.mark.parametrize("evidence", [CHOICES, TOKENS], ids=["choices", "tokens"])
def test_each_value_is_that_of_the_score(evidence: Evidence) -> None:
    swept = sweep_bins(evidence)
    assert [each.metric for each in swept.curves] == list(SWEPT_METRICS)
    assert (swept.unavailable, swept.n_used, swept.n_total, swept.bins) == ({}, 80, 80, PAPER_BINS)
    for each in swept.curves:
        for at, bins in enumerate(PAPER_BINS):
            number = score(evidence, each.metric, Scheme("width", bins))
            assert each.null is not None
            assert (each.values[at], each.null.p[at]) == (number.value, number.p)
            assert each.null.median[at] == pytest.approx(number.null_median)


def test_the_ceiling_is_what_no_value_can_pass() -> None:
    most = oracle.ceiling(ROWS)
    for evidence in (CHOICES, TOKENS):
        for metric in ("full_ece", "cw_ece_sum"):
            found = curve(evidence, metric, (1, 5, 500))
            assert close(found.ceiling, most)
            assert max(value for value in found.values if value is not None) <= float(most) + 1e-12
        assert curve(evidence, "ece").ceiling is None
    off = choice_evidence([[0.5, 0.4992]], [1])
    assert curve(off, "full_ece").ceiling == pytest.approx(1 + 0.9992 - 2 * 0.4992)
    assert curve(top_k_evidence(PROBS, LABEL, 2), "full_ece", (1, 2)).ceiling == pytest.approx(float(most))


def test_m_is_ascending_and_each_once() -> None:
    assert curve(CHOICES, "ece", (500, 5, 5, 10)).bins == (5, 10, 500)


def test_what_cannot_be_given_has_no_curve() -> None:
    swept = sweep_bins(block_evidence((0.3, 5, 2), (0.8, 5, 4)))
    assert [each.metric for each in swept.curves] == ["ece"]
    assert set(swept.unavailable) == set(SWEPT_METRICS) - {"ece"}
    assert all("one number per question" in why for why in swept.unavailable.values())
    nothing = sweep_bins(block_evidence((0.3, 5, 2)), ("full_ece",))
    assert (nothing.curves, nothing.headline) == ((), "No metric can be swept over M.")


def test_an_m_that_is_not_served_is_refused_alone() -> None:
    found = curve(TOKENS, "full_ece", (5, 16, 500))
    assert found.values[1] is None
    assert None not in (found.values[0], found.values[2])
    assert set(found.unavailable) == {16}
    assert (found.rsd, found.null) == (None, None)
    assert sweep_bins(TOKENS, ("ace",)).unavailable.keys() == {"ace"}


def test_bounds_stand_where_no_value_is_known() -> None:
    evidence = top_k_evidence(PROBS, LABEL, 2)
    swept = sweep_bins(evidence, ("full_ece", "ece"), (1, 2, 500))
    full, ece = swept.curves
    assert set(full.bounds) == {500}
    low, high = full.bounds[500]
    assert full.values[2] is None
    assert low <= float(oracle.full_ece(ROWS, Bins("width", 500)) or 0) <= high
    assert (full.rsd, full.null) == (None, None)
    assert any(remark.startswith("Exact up to M = ") for remark in full.remarks)
    assert ece.bounds == {}
    assert ece.rsd is not None
    assert swept.headline.startswith("Not every M has one value")


def test_the_frame_has_one_row_per_metric_and_m() -> None:
    evidence = top_k_evidence(PROBS, LABEL, 2)
    frame = sweep_bins(evidence, ("ece", "full_ece"), (2, 500)).to_frame()
    rows = [("ece", 2), ("ece", 500), ("full_ece", 2), ("full_ece", 500)]
    assert frame.select("metric", "bins").rows() == rows
    last = frame.row(-1, named=True)
    assert last["value"] is None
    assert last["low"] < last["high"]
    assert frame.row(0, named=True)["null_low"] is not None
    empty = sweep_bins(block_evidence((0.3, 5, 2)), ("full_ece",)).to_frame()
    assert (empty.height, empty.schema) == (0, frame.schema)


def test_gaps_of_one_sign_are_remarked() -> None:
    sure = curve(block_evidence((0.55, 40, 9), (0.75, 40, 10), (0.95, 40, 12)), "ece")
    assert sure.rsd is not None
    assert sure.rsd < 0.01
    assert any("same sign" in remark for remark in sure.remarks)
    one = sweep_bins(block_evidence((0.55, 40, 9), (0.75, 40, 10), (0.95, 40, 12)))
    assert one.caveats[0] == next(remark for remark in one.curves[0].remarks if "same sign" in remark)
    both = curve(block_evidence((0.2, 50, 25), (0.8, 50, 30)), "ece")
    for found in (both, curve(CHOICES, "full_ece")):
        assert not any("same sign" in remark for remark in found.remarks)


def test_a_caveat_says_what_is_not_known() -> None:
    few = sweep_bins(block_evidence((0.2, 10, 5), (0.8, 10, 5)))
    assert few.caveats[0] == few.chance_note == "Not judged: 20 rows, fewer than 30."
    assert sweep_bins(block_evidence((0.2, 50, 25), (0.8, 50, 30))).caveats == ()


def test_values_with_bins_of_their_own_are_remarked() -> None:
    few = curve(block_evidence((0.11, 20, 4), (0.12, 20, 2), (0.9, 20, 18)), "ece")
    assert few.values[4:] == (few.values[4],) * 3
    assert any(remark.startswith("From M = 100 on, every distinct value") for remark in few.remarks)
    assert not any("its own bin" in remark for remark in curve(CHOICES, "ece", (5, 10)).remarks)
    tokens = dense_evidence(np.array([[0.7, 0.3]] * 30), np.zeros(30, np.int64))
    assert any("its own bin" in remark for remark in curve(tokens, "ece", (5, 10)).remarks)


def test_adaptive_ece_is_swept_over_its_own_bins() -> None:
    evidence = given_evidence(np.linspace(0, 1, 40), [0, 1] * 20)
    found = curve(evidence, "ace", (2, 7))
    assert found.recipe.startswith("ACE-L1, equal mass, M=2, 7, as given, n=40/40, RSD with ddof=0, p over")
    assert found.values == tuple(score(evidence, "ace", Scheme("mass", bins)).value for bins in (2, 7))
    mass = sweep_bins(evidence, ("ece",), (2, 7), binning="mass").curves[0]
    assert mass.values == found.values


def test_recipes_name_every_m() -> None:
    recipe = "ECE-L1, equal width, M=5, 10, right-closed, top label, n=80/80, RSD with ddof=1"
    assert curve(TOKENS, "ece", (5, 10), 1).recipe == (
        f"{recipe}, calibrated values over R=199 draws, seed 0, of independent positions"
    )


def test_invalid_requests_are_refused() -> None:
    for bins, ddof in (((), 0), ((0,), 0), ((1001,), 0), ((5,), 2)):
        with pytest.raises(ValueError, match="M"):
            sweep_bins(CHOICES, ("ece",), bins, ddof)
    with pytest.raises(Unavailable, match="Brier score has no bins"):
        sweep_bins(CHOICES, ("brier",))
    with pytest.raises(Unavailable, match="There is no metric"):
        sweep_bins(CHOICES, ("nope",))
    with pytest.raises(Unavailable, match="no M to sweep"):
        sweep_bins(CHOICES, ("ece",), binning="natural")


def test_one_m_has_no_variation() -> None:
    assert curve(CHOICES, "ece", (10,)).rsd == 0
    assert curve(CHOICES, "ece", (10,), 1).rsd is None
    assert curve(block_evidence((1.0, 5, 5)), "ece").rsd is None


def test_rounding_errors_around_zero_have_no_rsd() -> None:
    found = curve(block_evidence((0.95, 100, 95), (0.93, 100, 93)), "ece")
    assert 0 < max(value or 0.0 for value in found.values) < 1e-12
    assert found.rsd is None
