"""A point has the scores of its run, their intervals, and the resulting skill."""

from __future__ import annotations

import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.results.comparison import ComparisonPoint, MetricEstimate, comparison_point, estimate_metric
from calib_core.results.evidence import Evidence
from calib_core.results.score import score
from calib_core.results.uncertainty import metric_interval
from core.comparison_runs import brier_of, model_run
from core.run_builders import choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows

AXES = ("accuracy", "brier")


def point(evidence: Evidence, axes: tuple[str, str] = AXES) -> ComparisonPoint:
    return comparison_point("key", ("in full", "short"), evidence, axes, Scheme())


def test_a_point_is_the_scores_of_its_run() -> None:
    evidence = model_run("red", 120)
    found = point(evidence)
    assert (found.key, found.run, found.name, found.method) == ("key", "in full", "short", "given")
    for own, metric in ((found.accuracy, "accuracy"), (found.brier, "brier")):
        ends = metric_interval(evidence, metric)
        assert ends is not None
        assert own == MetricEstimate(
            metric, score(evidence, metric).value or 0, ends.low, ends.high, ends.interval_method
        )
    assert (found.x, found.y) == (found.accuracy, found.brier)
    assert found.accuracy.value == 0.6
    assert found.brier.value == pytest.approx(brier_of(120, 200, 0.8, 0.3), abs=1e-12)
    assert found.constant_brier == pytest.approx(0.24)
    assert found.brier_skill == pytest.approx(1 - found.brier.value / 0.24, abs=1e-12)
    assert found.ece_10 == score(evidence, "ece").value
    assert (found.n_used, found.n_total, found.judged) == (200, 200, "greedy answer")
    assert found.recipe.startswith("accuracy (Wilson 95 %), Brier (t interval 95 %")
    assert found.recipe.endswith("as given, n=200/200")


def test_skill_is_not_defined_where_all_are_right() -> None:
    assert point(given_evidence([0.9, 0.8], [1, 1])).brier_skill is None


def test_other_axes_are_shown_beside_accuracy_and_brier() -> None:
    evidence = model_run("red", 120)
    found = point(evidence, ("ece", "auroc"))
    assert (found.x.metric, found.y.metric) == ("ece", "auroc")
    assert found.x.value == score(evidence, "ece").value
    assert found.accuracy.value == 0.6


def test_what_is_not_a_finite_number_is_refused() -> None:
    with pytest.raises(Unavailable, match="AUROC is not defined"):
        estimate_metric(given_evidence([0.9, 0.8], [1, 1]), "auroc", Scheme())
    with pytest.raises(Unavailable, match="is ∞: a right answer"):
        estimate_metric(choice_evidence([[0.0, 1.0], [0.5, 0.5]], [0, 1]), "nll", Scheme())
    with pytest.raises(Unavailable, match="not a whole distribution"):
        estimate_metric(given_evidence([0.9, 0.8], [1, 0]), "full_ece", Scheme())


def test_accuracy_and_brier_are_of_the_top_label_whatever_is_pooled() -> None:
    probs, gold = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1]], [0, 0]
    every = choice_evidence(probs, gold, MethodOptions(labels="all"))
    found = point(every, ("ece", "brier"))
    assert found.brier.value == point(choice_evidence(probs, gold)).brier.value
    assert found.y.value != found.brier.value
    with pytest.raises(Unavailable, match="no all-labels form"):
        point(every)


def test_token_level_sums_have_no_interval() -> None:
    found = point(dense_evidence(*random_rows(50, 6, seed=4)))
    assert (found.accuracy.low, found.brier.low, found.brier.interval_method) == (None, None, None)
    assert "(no interval)" in found.recipe
