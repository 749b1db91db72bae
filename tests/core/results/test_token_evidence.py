"""What a token-level run gives and refuses, and that its numbers are those of its rows."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.intervals import wilson_interval
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.readers.format import Reading
from calib_core.results.concentration import measure_concentration
from calib_core.results.evidence import INDEPENDENT_DRAWS, Evidence, gather_evidence, survey_methods
from calib_core.results.files import check_file
from calib_core.results.overview import summarise_runs
from calib_core.results.questions import questions_in_bin
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import metric_availability, score
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.runs import TokenRun
from calib_core.tokens.bounds import largest_exact_bins
from core import oracle
from core.edge_cases import close
from core.oracle import Bins, Pair, Row
from core.token_run_builders import dense_evidence, dense_sums, random_rows, token_run, top_k_evidence

PROBS, LABEL = random_rows(60, 12, seed=1)
ROWS = [Row(tuple(map(float, row)), 8, int(label)) for row, label in zip(PROBS, LABEL, strict=True)]
TOP = [Pair(max(row.probs), 8, int(int(np.argmax(row.probs)) == row.label)) for row in ROWS]
WHOLE = dense_evidence(PROBS, LABEL)
LIST = top_k_evidence(PROBS, LABEL, 3)


def refusal(evidence: Evidence, metric: str, scheme: Scheme | None = None) -> str:
    with pytest.raises(Unavailable) as refusal:
        score(evidence, metric, scheme)
    told = metric_availability(evidence, scheme or Scheme())[metric]
    assert told == str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("bins", [1, 10, 15, 500])
@pytest.mark.parametrize("metric", ["ece", "mce", "brier", "accuracy", "bias"])
def test_numbers_of_the_top_label_are_the_oracles(metric: str, bins: int) -> None:
    exact = oracle.OF_PAIRS[metric](TOP, Bins("width", bins))
    for evidence in (WHOLE, LIST):
        assert close(score(evidence, metric, Scheme("width", bins)).value, exact)


@pytest.mark.parametrize("bins", [1, 10, 15, 500])
@pytest.mark.parametrize("metric", sorted(oracle.OF_ROWS))
def test_numbers_of_all_classes_are_the_oracles(metric: str, bins: int) -> None:
    exact = oracle.OF_ROWS[metric](ROWS, Bins("width", bins))
    assert close(score(WHOLE, metric, Scheme("width", bins)).value, exact)


def test_all_labels_is_full_ece_over_k() -> None:
    every = gather_evidence(WHOLE.run, "tokens", MethodOptions(labels="all"))
    whole = score(WHOLE, "full_ece").value
    assert whole is not None
    assert score(every, "ece").value == pytest.approx(whole / 12)
    assert ", right-closed, all labels, K=12, n=60/60" in score(every, "ece").recipe
    assert every.top_label.sums is WHOLE.run.sums.top_label
    with pytest.raises(Unavailable, match="all labels need every"):
        gather_evidence(LIST.run, "tokens", MethodOptions(labels="all"))


def test_only_its_own_method_and_that_for_no_answers() -> None:
    surveyed = survey_methods(WHOLE.run)
    assert set(surveyed.usable) == {"tokens"}
    assert set(surveyed.unavailable) == set(METHODS) - {"tokens"}
    assert len(set(surveyed.unavailable.values())) == 1
    with pytest.raises(Unavailable, match="There is no method"):
        gather_evidence(WHOLE.run, "softmax")
    with pytest.raises(Unavailable, match="no positions"):
        gather_evidence(token_run(dense_sums(PROBS[:0], LABEL[:0])), "tokens")


def test_metrics_that_need_single_confidences_are_refused() -> None:
    assert "AUROC needs every single confidence" in refusal(WHOLE, "auroc")
    assert "ACE needs every single confidence" in refusal(WHOLE, "ace")
    assert "equal-mass bins need every single confidence" in refusal(WHOLE, "ece", Scheme("mass"))
    assert "natural bins need every single confidence" in refusal(WHOLE, "ece", Scheme("natural"))


def test_an_m_that_the_grid_does_not_serve_is_refused() -> None:
    reason = refusal(WHOLE, "ece", Scheme("width", 16))
    assert "M=16 cannot be read off a grid of 3,000 cells" in reason
    assert "the nearest is 15" in reason
    assert score(WHOLE, "brier", Scheme("width", 16)).value is not None
    with pytest.raises(Unavailable, match="M=16"):
        WHOLE.binned(METRICS["brier"], Scheme("width", 16))


def test_classes_that_were_not_kept_are_refused_with_the_reason() -> None:
    without = dense_evidence(PROBS, LABEL, by_class=False)
    for evidence in (without, LIST):
        for metric in ("cw_ece", "cw_ece_sum"):
            assert refusal(evidence, metric) == evidence.run.sums.no_class_sums_reason
    assert score(without, "full_ece").value is not None


def test_squares_of_what_is_not_stored_are_refused() -> None:
    for metric in ("full_ece_mass", "brier_multi"):
        assert "squares" in refusal(LIST, metric)
    assert score(LIST, "nll").value == pytest.approx(score(WHOLE, "nll").value)


def test_full_ece_of_a_list_is_exact_or_an_interval() -> None:
    upto = largest_exact_bins(LIST.run.sums)
    assert upto is not None
    exact = score(LIST, "full_ece", Scheme("width", upto))
    assert exact.value == pytest.approx(score(WHOLE, "full_ece", Scheme("width", upto)).value)
    assert (exact.low, exact.high) == (None, None)
    assert exact.remark == f"Exact up to M = {upto}."
    assert exact.p is None
    assert exact.null_median is not None
    bounds = score(LIST, "full_ece", Scheme("width", 500))
    truth = score(WHOLE, "full_ece", Scheme("width", 500)).value
    assert (bounds.value, bounds.p, bounds.null_median) == (None, None, None)
    assert bounds.low is not None
    assert bounds.high is not None
    assert truth is not None
    assert bounds.low <= truth <= bounds.high
    assert bounds.remark is not None
    assert bounds.remark.startswith(f"Exact up to M = {upto}. At M = 500 only an interval is known: in ")
    assert "draws" not in bounds.recipe
    with pytest.raises(Unavailable, match=r"The bins cannot be drawn\. Exact up to"):
        reliability_diagram(LIST, "full_ece", Scheme("width", 500))


def test_recipes_say_what_is_counted() -> None:
    number = score(WHOLE, "ece")
    null = "calibrated values over R=199 draws, seed 0, of independent positions"
    assert number.recipe == f"ECE-L1, equal width, M=10, right-closed, top label, n=60/60, {null}"
    assert (number.n_used, number.judged) == (60, "its own top label")
    assert ", all classes, K=12, n=60/60" in score(WHOLE, "full_ece").recipe
    assert ", all classes, K=12, the 3 largest or more stored, n=60/60" in score(LIST, "full_ece").recipe
    assert score(WHOLE, "cw_ece").recipe.endswith(
        "calibrated values over R=19 draws, seed 0, of independent positions"
    )


def test_notes_of_the_file_are_remarks() -> None:
    remarks = gather_evidence(token_run(WHOLE.run.sums, "3 paddings"), "tokens").remarks
    assert remarks == (INDEPENDENT_DRAWS, "3 paddings")
    assert WHOLE.missing == {}


def test_the_diagram_counts_positions() -> None:
    diagram = reliability_diagram(WHOLE, "ece")
    assert diagram.pair_unit == "positions"
    assert diagram.table["accuracy_low"].null_count() == diagram.table.height
    probs, label = random_rows(80, 12, seed=2)
    by_text = dense_evidence(np.repeat(probs, 3, 0), np.repeat(label, 3), text=np.arange(240) // 3)
    assert by_text.design_effect == pytest.approx(3.0, rel=0.2)  # three times the same
    assert by_text.remarks == (INDEPENDENT_DRAWS, "The verdict is tested by text, over 80 texts.")
    dependent = "No p-value: positions of a text depend on one another"
    assert missing_statistics_note([WHOLE], ["ece"], intervals=False) == f"{dependent}."
    assert missing_statistics_note([by_text], ["ece"], intervals=False) == (
        f"{dependent}; the verdict, tested by text, has one."
    )
    assert score(by_text, "ece").p is None
    table = reliability_diagram(by_text, "ece").table
    n, accuracy = table["count"].to_numpy(), table["accuracy"].to_numpy()
    low, _ = wilson_interval(n * accuracy, n, by_text.design_effect)
    assert table["accuracy_low"].to_list() == pytest.approx(low.tolist())
    assert diagram.table["count"].sum() == 60
    pooled = reliability_diagram(WHOLE, "full_ece")
    assert (pooled.pair_unit, pooled.table["count"].sum()) == ("labels", 720)
    assert "Over all tokens, predicted probabilities differ" in pooled.headline
    few = reliability_diagram(dense_evidence(PROBS[:3], LABEL[:3]), "ece")
    assert few.headline.startswith("3 positions are too few for a verdict: states ")


def test_concentration_is_of_the_top_label() -> None:
    spread = measure_concentration(WHOLE)
    assert spread.table["count"].sum() == spread.fine_histogram["count"].sum() == 60
    assert (spread.n_distinct, spread.share_at_zero, spread.share_at_one) == (None, None, None)
    assert spread.unit == "positions"
    with pytest.raises(Unavailable, match="natural bins"):
        measure_concentration(WHOLE, Scheme("natural"))
    sure = np.tile([0.99, 0.01], (100, 1))
    warned = measure_concentration(dense_evidence(sure, np.zeros(100, np.int64))).warning
    assert warned is not None
    assert "100.0 % of the positions" in warned


def test_no_single_positions_can_be_looked_up() -> None:
    assert WHOLE.no_questions_reason is not None
    with pytest.raises(Unavailable, match="keep sums only"):
        questions_in_bin(WHOLE)
    assert not WHOLE.offers_natural_bins


def test_overview_and_check() -> None:
    row = summarise_runs({"a": [WHOLE]}).to_frame().row(0, named=True)
    assert (row["method"], row["used"], row["rows"]) == ("tokens", 60, 60)
    assert row["ece"] == score(WHOLE, "ece").value
    (run,) = check_file(reading(WHOLE.run)).runs
    assert (run.kind, run.usable, run.missing) == ("tokens", {"tokens": 60}, {})
    assert run.accuracy == WHOLE.accuracy == sum(pair.correct for pair in TOP) / 60
    assert run.spikes == {}


def test_one_value_at_many_positions_is_a_spike() -> None:
    sure = np.concatenate([np.tile([0.9, 0.1], (30, 1)), random_rows(40, 2)[0]])
    (run,) = check_file(reading(dense_evidence(sure, np.zeros(70, np.int64)).run)).runs
    (spike,) = run.spikes["tokens"]
    assert (spike.value, spike.count) == (pytest.approx(0.9), 30)


def reading(run: TokenRun) -> Reading:
    return Reading(run.file, run.format, run.n_total, 0, (), (run,), ("probs", "target"), ())
