"""What is pooled for which metric, and what is refused before anything is computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.bins import BinSums
from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.inference import calibration_test, verdict
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results.evidence import (
    bins_all_classes,
    gather_evidence,
    get_method,
    get_metric,
    survey_methods,
)
from core.run_builders import block_evidence, choice_evidence, make_answer_run

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]
GOLD = [0, 1]


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(Unavailable, match=r"There is no method 'softmax'\. Methods: choice_softmax, .*given"):
        get_method("softmax")
    with pytest.raises(Unavailable, match=r"There is no metric 'ECE'\. Is 'ece' meant\? Metrics: ece, "):
        get_metric("ECE")


def test_one_pair_per_row_or_per_choice() -> None:
    top, every = choice_evidence(PROBS, GOLD), choice_evidence(PROBS, GOLD, MethodOptions(labels="all"))
    assert top.pairs.confidence.tolist() == [0.7, 0.5]
    assert top.pairs.correct.tolist() == [True, False]
    assert every.pairs.confidence.tolist() == [p for row in PROBS for p in row]
    assert every.pairs.correct.tolist() == [True, False, False, False, True, False]
    assert every.n_used == top.n_used == 2


def test_of_top_forgets_the_other_labels_only() -> None:
    top, every = choice_evidence(PROBS, GOLD), choice_evidence(PROBS, GOLD, MethodOptions(labels="all"))
    assert top.top_label is top
    assert every.top_label.options == MethodOptions()
    assert every.top_label.confidences is every.confidences
    assert every.top_label.sums.value.tolist() == top.sums.value.tolist() == [0.5, 0.7]
    assert every.top_label_sums is every.top_label.sums


def test_sums_are_kept() -> None:
    evidence = choice_evidence(PROBS, GOLD)
    numbers = ("accuracy", "mean_confidence", "brier")
    for name in ("sums", "top_label_sums", "class_sums", "pooled_class_sums", "top_label", *numbers):
        assert getattr(evidence, name) is getattr(evidence, name)


def test_another_tolerance_judges_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[0.9, 0.1]] * 60 + [[0.6, 0.4]] * 60
    gold = [0] * 48 + [1] * 12 + [0] * 40 + [1] * 20
    evidence = choice_evidence(rows, gold)
    afresh = [replace(evidence, options=MethodOptions(tolerance=t)).verdict for t in (0.0, 0.5)]
    assert afresh[0].kind != afresh[1].kind == "tolerable"
    assert evidence.verdict.kind == "extreme"
    monkeypatch.setattr(calibration_test, "cox_test_of_sums", lambda _sums: pytest.fail("drawn again"))
    monkeypatch.setattr(verdict, "cox_test_of_sums", lambda _sums: pytest.fail("drawn again"))
    assert [evidence.with_tolerance(t).verdict for t in (0.0, 0.5)] == afresh
    assert evidence.with_tolerance(0.5).with_tolerance(None).verdict == evidence.verdict


def test_class_sums_are_by_class_and_pooled_ones_are_not() -> None:
    evidence = choice_evidence(PROBS, GOLD)
    assert (evidence.class_sums.n_groups, evidence.class_sums.n_rows, evidence.class_sums.n_pairs) == (
        3,
        2,
        6,
    )
    assert (evidence.pooled_class_sums.n_groups, evidence.pooled_class_sums.n_pairs) == (1, 6)


@pytest.mark.parametrize("metric", sorted(METRICS))
@pytest.mark.parametrize("labels", ["top", "all"])
def test_diagram_pairs_and_sums_are_the_same_pairs(metric: str, labels: str) -> None:
    evidence = choice_evidence(PROBS, GOLD, MethodOptions(labels="all" if labels == "all" else "top"))
    pairs, sums = evidence.diagram_pairs(METRICS[metric]), evidence.diagram_sums(METRICS[metric])
    assert isinstance(sums, BinSums)
    assert sums.n_pairs == pairs.n == (6 if labels == "all" or bins_all_classes(METRICS[metric]) else 2)
    repeated = np.repeat(sums.value, sums.count.astype(np.int64))
    assert np.sort(repeated).tolist() == np.sort(pairs.confidence).tolist()
    assert int(sums.correct.sum()) == int(pairs.correct.sum())


def test_all_labels_of_one_number_is_refused_when_gathered() -> None:
    run = make_answer_run({"confidence": [0.5], "correct": [True]})
    with pytest.raises(Unavailable, match="all labels need the probability of every choice"):
        gather_evidence(run, "given", MethodOptions(labels="all"))


def test_unrenormalised_choices_give_ece_but_no_distribution() -> None:
    run = make_answer_run(
        {
            "choice_logprobs": [[-2.0, -1.0], [-0.5, -3.0]],
            "choice_token_counts": [[2, 1], [1, 3]],
            "gold_index": [0, 0],
        }
    )
    evidence = gather_evidence(
        run, "choice_length_normalised", MethodOptions(renormalise=False, labels="all")
    )
    assert evidence.sums_for(METRICS["ece"], Scheme()).n_pairs == 4
    for metric in ("full_ece", "full_ece_mass", "cw_ece", "cw_ece_sum", "brier_multi", "nll"):
        assert evidence.unavailable_reason(METRICS[metric], Scheme()) is not None
        with pytest.raises(Unavailable, match="need them renormalised"):
            evidence.sums_for(METRICS[metric], Scheme())
        with pytest.raises(Unavailable, match="need them renormalised"):
            evidence.binned(METRICS[metric], Scheme())
    with pytest.raises(Unavailable, match="need them renormalised"):
        _ = evidence.class_sums


@pytest.mark.parametrize("binning", ["mass", "natural"])
@pytest.mark.parametrize("metric", ["full_ece", "full_ece_mass", "cw_ece", "cw_ece_sum"])
def test_metrics_of_all_classes_are_of_equal_width(metric: str, binning: Binning) -> None:
    evidence = choice_evidence(PROBS, GOLD)
    assert evidence.unavailable_reason(METRICS[metric], Scheme()) is None
    with pytest.raises(Unavailable, match="is defined on equal-width bins only"):
        evidence.sums_for(METRICS[metric], Scheme(binning))


def test_adaptive_ece_is_of_equal_mass() -> None:
    evidence = choice_evidence(PROBS, GOLD)
    assert evidence.unavailable_reason(METRICS["ace"], Scheme("mass")) is None
    assert evidence.unavailable_reason(METRICS["ace"], Scheme()) == "ACE is defined on equal-mass bins only."
    assert evidence.unavailable_reason(METRICS["nll"], Scheme("mass")) is None


def test_unbinned_metrics_use_the_top_label() -> None:
    top, every = choice_evidence(PROBS, GOLD), choice_evidence(PROBS, GOLD, MethodOptions(labels="all"))
    for evidence in (top, every):
        assert evidence.accuracy == 0.5
        assert evidence.mean_confidence == pytest.approx(0.6)
        assert evidence.brier == pytest.approx((0.3**2 + 0.5**2) / 2)


def test_remarks_are_of_the_method_and_of_the_file() -> None:
    run = make_answer_run({"gold": ["1"], "samples": [["1", "2"]]})
    run = replace(run, row_counts=replace(run.row_counts, notes=("a note",)))
    assert gather_evidence(run, "pairwise").remarks == ("1 tie, the first sampled answer taken", "a note")


def test_survey_tries_every_method_once() -> None:
    surveyed = survey_methods(choice_evidence(PROBS, GOLD).run)
    assert "choice_softmax" in surveyed.usable
    assert {"choice_length_normalised", "given"} <= set(surveyed.unavailable)
    assert [*surveyed.usable, *surveyed.unavailable] == sorted(
        METHODS, key=lambda method: method in surveyed.unavailable
    )
    assert all(surveyed.unavailable.values())


def test_survey_under_all_labels_leaves_single_numbers_out() -> None:
    run = make_answer_run(
        {"choice_probs": PROBS, "gold_index": GOLD, "confidence": [0.5, 0.6], "correct": [True, False]}
    )
    assert {"choice_softmax", "given"} <= set(survey_methods(run).usable)
    of_all_labels = survey_methods(run, MethodOptions(labels="all"))
    assert "choice_softmax" in of_all_labels.usable
    assert "given" in of_all_labels.unavailable


def test_rows_used_and_total() -> None:
    run = make_answer_run({"confidence": [0.5, None], "correct": [True, True]}, left_out=3)
    evidence = gather_evidence(run, "given")
    assert (evidence.n_used, evidence.n_total) == (1, 5)


def test_bins_of_a_diagram() -> None:
    binned = block_evidence((0.2, 2, 1), (0.9, 3, 3)).binned(METRICS["brier"], Scheme())
    assert binned.index.tolist() == [1, 8]
    assert binned.count.tolist() == [2, 3]
