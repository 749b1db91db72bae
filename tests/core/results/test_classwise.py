"""cw-ECE class by class, and the diagrams of pooled classes: numbers, order, warnings and weighting."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.results.classwise import class_table, classwise
from calib_core.results.reliability import mass_table, reliability_diagram
from calib_core.results.score import score
from core import oracle
from core.edge_cases import any_rows, class_sums_of, widths_only
from core.oracle import Bins, Row
from core.run_builders import choice_evidence

CLOSE = Fraction(1, 10**12)
SPREAD = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1]]
GOLD = [0, 1, 1, 2]


@given(any_rows(), widths_only())
@settings(max_examples=40)
def test_the_number_of_each_class_is_the_oracles_largest_first(rows: list[Row], how: Bins) -> None:
    if not rows:
        return
    n_classes = oracle.classes(rows)
    sums = class_sums_of(rows)
    table = class_table(
        sums.binned(Scheme("width", how.bins)), len(rows), [f"choice {k}" for k in range(n_classes)]
    )
    assert sorted(table["class"].to_list()) == list(range(n_classes))
    assert table["ece"].to_list() == sorted(table["ece"].to_list(), reverse=True)
    for row in table.iter_rows(named=True):
        pairs = oracle.class_pairs(rows, row["class"])
        assert abs(Fraction(row["ece"]) - oracle.gap_sum(pairs, how) / len(rows)) <= CLOSE
        assert row["right"] == sum(pair.correct for pair in pairs)
        mean = sum((Fraction(pair.confidence) for pair in pairs), Fraction(0)) / len(rows)
        assert abs(Fraction(row["mean_probability"]) - mean) <= CLOSE


@given(any_rows(), widths_only())
@settings(max_examples=40)
def test_the_weighted_bins_add_up_to_the_oracles_mass_weighted_number(rows: list[Row], how: Bins) -> None:
    if not rows:
        return
    table = mass_table(class_sums_of(rows).pooled().binned(Scheme("width", how.bins)))
    value = (table["gap"].abs() * table["count"]).sum() / len(rows)
    exact = oracle.full_ece_mass(rows, how)
    assert exact is not None
    assert value == pytest.approx(float(exact), rel=0, abs=1e-12)


def test_the_mean_over_the_classes_is_cw_ece() -> None:
    evidence = choice_evidence(SPREAD, GOLD)
    result = classwise(evidence, "cw_ece", Scheme("width", 5))
    assert result.table["ece"].mean() == pytest.approx(result.score.value, abs=1e-12)
    assert result.table["share"].sum() == pytest.approx(1, abs=1e-12)
    assert classwise(evidence, "cw_ece_sum").score.metric == "cw_ece_sum"
    assert set(result.table["name"]) == {"choice A", "choice B", "choice C"}
    assert result.table["right"].to_list()[result.table["name"].to_list().index("choice B")] == 2


def test_the_diagram_of_a_class_holds_one_pair_a_row_and_its_number() -> None:
    result = classwise(choice_evidence(SPREAD, GOLD), "cw_ece", Scheme("width", 5))
    diagram = result.diagram_of(1)
    table = diagram.table
    assert table["count"].sum() == len(SPREAD)
    assert (table["gap"].abs() * table["count"]).sum() / len(SPREAD) == pytest.approx(
        result.row_of(1)["ece"], abs=1e-12
    )
    assert diagram.score.value == result.row_of(1)["ece"]
    assert diagram.score.p is None  # that of the metric is not one of a class
    assert table["accuracy_low"].null_count() == 0
    assert diagram.score_title == "ECE of choice B"
    with pytest.raises(Unavailable, match="no class 3"):
        result.diagram_of(3)


def test_another_metric_is_not_taken_apart() -> None:
    with pytest.raises(ValueError, match="not computed class by class"):
        classwise(choice_evidence(SPREAD, GOLD), "full_ece")


def vocabulary(n_classes: int = 100, rows: int = 60) -> tuple[list[list[float]], list[int]]:
    """Every probability below 1/5, one of them right: at M = 5 all lie in the first bin."""
    random = np.random.default_rng(3)
    probs = random.dirichlet(np.full(n_classes, 0.5), rows)
    assert 0.1 < probs.max() < 0.2
    return probs.tolist(), random.integers(0, n_classes, rows).tolist()


def test_a_number_that_changes_with_m_is_warned_of() -> None:
    evidence = choice_evidence(*vocabulary())
    at_ten = reliability_diagram(evidence, "full_ece", Scheme("width", 10)).warning
    assert at_ten is not None
    assert at_ten.startswith("One bin, 0–10 % [0, 0.1], holds 99.9 % of the 6,000 probabilities")
    few = score(evidence, "full_ece", Scheme("width", 5)).value
    many = score(evidence, "full_ece", Scheme("width", 500)).value
    assert few is not None
    assert many is not None
    assert few < 1e-9
    assert many > 0.01
    assert f"{many:.4f} at M = 500" in at_ten
    assert "M: 0 at M = 5, " in at_ten
    in_one_bin = reliability_diagram(evidence, "full_ece", Scheme("width", 5))
    assert in_one_bin.table.height == 1
    assert in_one_bin.warning is not None
    assert in_one_bin.warning.startswith("All 6,000 probabilities fall into one bin, 0–20 % [0, 0.2].")
    assert reliability_diagram(choice_evidence(SPREAD, GOLD), "full_ece").warning is None
    assert reliability_diagram(choice_evidence(SPREAD, GOLD), "ece").warning is None


def test_all_labels_have_numbers_of_their_own() -> None:
    top = reliability_diagram(choice_evidence(SPREAD, GOLD), "ece")
    evidence = choice_evidence(SPREAD, GOLD, MethodOptions(labels="all"))
    every = reliability_diagram(evidence, "ece").all_labels
    assert top.all_labels is None
    assert every is not None
    assert every.share_right == pytest.approx(1 / 3)
    assert every.mean_probability == pytest.approx(1 / 3)
    right = np.eye(3)[GOLD]
    assert every.brier == pytest.approx(float(((np.array(SPREAD) - right) ** 2).mean()))
