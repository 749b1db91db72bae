"""The diagram as numbers: table, intervals, tiles and recipes of one choice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods.method import MethodOptions
from calib_core.results.reliability import reliability_diagram
from core import oracle
from core.edge_cases import CHECKED_BINS, schemes, some_pairs
from core.oracle import Bins, Pair
from core.run_builders import block_evidence, choice_evidence, given_evidence

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]
GOLD = [0, 1, 1]


@given(some_pairs(widths=(4,)), schemes())
def test_table_is_the_oracles(pairs: list[Pair], how: Bins) -> None:
    evidence = given_evidence(
        np.array([pair.confidence for pair in pairs], np.float32), [pair.correct for pair in pairs]
    )
    table = reliability_diagram(evidence, "ece", Scheme(how.binning, how.bins)).table
    inside = oracle.members(pairs, how)
    assert table["count"].to_list() == [len(part) for part in inside]
    assert table["bin"].to_list() == [index + 1 for index in sorted(set(oracle.indices(pairs, how)))]
    for row, part in zip(table.iter_rows(named=True), inside, strict=True):
        accuracy = Fraction(sum(pair.correct for pair in part), len(part))
        confidence = sum((Fraction(pair.confidence) for pair in part), Fraction(0)) / len(part)
        assert abs(Fraction(row["accuracy"]) - accuracy) <= Fraction(1e-12)
        assert abs(Fraction(row["confidence"]) - confidence) <= Fraction(1e-12)
        assert abs(Fraction(row["gap"]) - (confidence - accuracy)) <= Fraction(1e-12)
        assert row["low"] - 1e-6 <= row["confidence"] <= row["high"] + 1e-6
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]


@pytest.mark.parametrize("bins", CHECKED_BINS)
def test_shares_of_the_gap_add_to_one_and_rebuild_the_score(bins: int) -> None:
    result = reliability_diagram(
        block_evidence((0.12, 40, 10), (0.55, 20, 15), (0.93, 60, 30)), "ece", Scheme("width", bins)
    )
    assert result.table["share"].sum() == pytest.approx(1, abs=1e-12)
    gap, count = result.table["gap"].to_numpy(), result.table["count"].to_numpy()
    weighted = float((np.abs(gap) * count).sum() / count.sum())
    assert weighted == pytest.approx(result.score.value, abs=1e-12)


def test_no_gap_has_no_shares() -> None:
    assert reliability_diagram(block_evidence((1.0, 3, 3)), "ece").table["share"].to_list() == [0.0]


def test_tiles_are_of_the_top_label_whatever_is_pooled() -> None:
    top = reliability_diagram(choice_evidence(PROBS, GOLD), "ece")
    every = reliability_diagram(choice_evidence(PROBS, GOLD, MethodOptions(labels="all")), "ece")
    assert (top.pair_unit, every.pair_unit) == ("rows", "labels")
    assert top.accuracy == every.accuracy == pytest.approx(2 / 3)
    assert top.mean_confidence == every.mean_confidence == pytest.approx(2 / 3)
    assert top.brier == every.brier == pytest.approx((0.3**2 + 0.5**2 + 0.2**2) / 3)


@pytest.mark.parametrize(("metric", "labels"), [("ece", "all"), ("full_ece", "top"), ("cw_ece", "top")])
def test_dependent_pairs_have_no_interval(metric: str, labels: str) -> None:
    options = MethodOptions(labels="all" if labels == "all" else "top")
    table = reliability_diagram(choice_evidence(PROBS, GOLD, options), metric).table
    assert table["count"].sum() == 9
    assert table["accuracy_low"].null_count() == table["accuracy_high"].null_count() == table.height
    assert table.schema == reliability_diagram(choice_evidence(PROBS, GOLD), "ece").table.schema


def test_the_diagrams_recipe_names_only_what_it_draws() -> None:
    evidence = choice_evidence([*PROBS] * 10, [*GOLD] * 10)
    ece, nll = reliability_diagram(evidence, "ece"), reliability_diagram(evidence, "nll")
    assert f"{ece.recipe}, p over R=199 draws, seed 0" == ece.score.recipe
    assert nll.recipe == "equal width, M=10, right-closed, top label, probabilities as stored, n=30/30"
    assert nll.score.recipe == "NLL, all classes, K=3, probabilities as stored, n=30/30"
    assert nll.table.equals(ece.table)


def test_adaptive_ece_draws_equal_mass_bins() -> None:
    result = reliability_diagram(
        block_evidence((0.1, 5, 0), (0.5, 5, 3), (0.9, 10, 9)), "ace", Scheme("width", 2)
    )
    assert result.scheme == Scheme("mass", 2)
    assert result.table["count"].to_list() == [10, 10]
    assert result.recipe == "ACE-L1, equal mass, M=2, as given, n=20/20"


def test_thin_bins_are_marked() -> None:
    result = reliability_diagram(block_evidence((0.2, MIN_ROWS - 1, 0), (0.9, MIN_ROWS, 20)), "ece")
    assert result.table["thin"].to_list() == [True, False]
    assert result.n_thin_bins == 1


def test_one_row_per_bin_and_its_frame() -> None:
    result = reliability_diagram(block_evidence((0.2, 3, 1), (0.9, 3, 2)), "ece")
    frame = result.to_frame()
    assert frame.height == result.table.height == 2
    assert frame["recipe"].unique().to_list() == [result.recipe]
    assert frame["method"].unique().to_list() == ["given"]


def test_refuses_what_score_refuses() -> None:
    with pytest.raises(Unavailable, match="no all-labels form"):
        reliability_diagram(choice_evidence(PROBS, GOLD, MethodOptions(labels="all")), "accuracy")
    with pytest.raises(Unavailable, match="Natural bins"):
        reliability_diagram(
            given_evidence([k / 100 for k in range(100)], [0, 1] * 50), "brier", Scheme("natural")
        )
