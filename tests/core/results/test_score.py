"""One number: the metric's own bins, M if it has one, and refusals with their reason."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.score import effective_scheme, metric_availability, score
from calib_core.views.score import metric_tile
from core import oracle
from core.edge_cases import CHECKED_BINS, close, fixed_pairs, tolerance_of
from core.oracle import Bins, Pair, Row
from core.run_builders import block_evidence, choice_evidence, given_evidence, make_answer_run

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]
GOLD = [0, 1, 1]


@cache
def pairs_on_edges(bins: int) -> tuple[list[Pair], Evidence]:
    pairs = [pair for pair in fixed_pairs(bins) if pair.width == 8]
    return pairs, given_evidence([pair.confidence for pair in pairs], [pair.correct for pair in pairs])


@pytest.mark.parametrize("bins", CHECKED_BINS)
@pytest.mark.parametrize("metric", sorted(oracle.OF_PAIRS))
def test_numbers_are_the_oracles(metric: str, bins: int) -> None:
    pairs, evidence = pairs_on_edges(bins)
    assert close(
        score(evidence, metric, Scheme("width", bins)).value,
        oracle.OF_PAIRS[metric](pairs, Bins("width", bins)),
        tolerance_of(metric),
    )


@pytest.mark.parametrize("metric", sorted(oracle.OF_ROWS))
def test_numbers_of_all_classes_are_the_oracles(metric: str) -> None:
    rows = [Row(tuple(probs), 8, label) for probs, label in zip(PROBS, GOLD, strict=True)]
    assert close(score(choice_evidence(PROBS, GOLD), metric).value, oracle.OF_ROWS[metric](rows, Bins()))


def test_every_metric_is_checked_here() -> None:
    assert {*oracle.OF_PAIRS, *oracle.OF_ROWS, *oracle.OF_SCALES, *oracle.OF_RANKS} == set(METRICS)


def test_all_labels_is_full_ece_over_k() -> None:
    every = score(choice_evidence(PROBS, GOLD, MethodOptions(labels="all")), "ece").value
    whole = score(choice_evidence(PROBS, GOLD), "full_ece").value
    assert every is not None
    assert whole is not None
    assert every == pytest.approx(whole / 3, abs=1e-15)


def test_adaptive_ece_keeps_its_own_bins() -> None:
    evidence = block_evidence((0.1, 5, 0), (0.5, 5, 3), (0.9, 10, 9))
    assert effective_scheme(METRICS["ace"], Scheme("natural", 7)) == Scheme("mass", 7)
    numbers = {
        binning: score(evidence, "ace", Scheme(binning, 2)) for binning in ("width", "mass", "natural")
    }
    assert len({(number.value, number.recipe) for number in numbers.values()}) == 1
    assert numbers["width"].recipe.startswith("ACE-L1, equal mass, M=2, as given")


def test_bins_is_m_or_how_many_or_none() -> None:
    evidence = block_evidence((0.1, 5, 0), (0.5, 5, 3), (0.9, 10, 9))
    assert score(evidence, "ece", Scheme("width", 20)).bins == 20
    assert score(evidence, "ece", Scheme("mass", 20)).bins == 20
    assert score(evidence, "ece", Scheme("natural")).bins == 3
    assert score(evidence, "brier", Scheme("width", 20)).bins is None


def test_not_defined_is_none() -> None:
    assert score(block_evidence((0.9, 3, 3)), "auroc").value is None


def test_infinite_says_why() -> None:
    number = score(choice_evidence([[1.0, 0.0], [0.5, 0.5]], [1, 0]), "nll")
    assert number.value == math.inf
    assert number.remark is not None
    assert "1 of 2 rows" in number.remark


@pytest.mark.parametrize(
    ("metric", "options", "scheme", "message"),
    [
        ("nope", MethodOptions(), Scheme(), "There is no metric 'nope'"),
        ("cw_ece", MethodOptions(), Scheme("mass"), "equal-width bins"),
        ("full_ece", MethodOptions(), Scheme("natural"), "equal-width bins"),
        ("auroc", MethodOptions(labels="all"), Scheme(), "no all-labels form"),
    ],
)
def test_refusals(metric: str, options: MethodOptions, scheme: Scheme, message: str) -> None:
    with pytest.raises(Unavailable, match=message):
        score(choice_evidence(PROBS, GOLD, options), metric, scheme)


def test_one_number_per_question_gives_no_distribution() -> None:
    with pytest.raises(Unavailable, match="one number per question, not a whole distribution"):
        score(block_evidence((0.5, 3, 1)), "full_ece")


def test_natural_bins_of_many_values_are_refused() -> None:
    evidence = given_evidence([k / 65 for k in range(65)], [0, 1] * 32 + [1])
    with pytest.raises(Unavailable, match=r"up to 64 values; “confidence in the file” has 65\."):
        score(evidence, "ece", Scheme("natural"))
    assert (
        score(given_evidence([k / 64 for k in range(64)], [0, 1] * 32), "ece", Scheme("natural")).bins == 64
    )


def test_available_metrics_can_be_computed() -> None:
    evidence = choice_evidence(PROBS, GOLD, MethodOptions(labels="all"))
    for binning in ("width", "mass", "natural"):
        for metric, reason in metric_availability(evidence, Scheme(binning)).items():
            if reason is None:
                assert score(evidence, metric, Scheme(binning)).metric == metric
            else:
                with pytest.raises(Unavailable):
                    score(evidence, metric, Scheme(binning))


def test_frame_has_the_same_columns_whatever_is_null() -> None:
    defined, undefined = (
        score(block_evidence((0.5, 3, 1)), "ece"),
        score(block_evidence((0.9, 3, 3)), "auroc"),
    )
    assert defined.to_frame().schema == undefined.to_frame().schema
    fields = defined.to_dict()
    assert fields.pop("interval") is None
    assert fields.pop("missing") is None
    nulls = {"interval_low": None, "interval_high": None}
    assert defined.to_frame().to_dicts() == [{**fields, **nulls, "remarks": ""}]


def test_a_score_names_the_judged_answer_and_its_remarks() -> None:
    run = make_answer_run({"gold": ["1"], "samples": [["1", "2", "x"]]})
    number = score(gather_evidence(run, "pairwise"), "ece")
    remarks = ("1 tie, the first sampled answer taken", "1 sample does not parse")
    assert (number.judged, number.remarks) == ("majority answer", remarks)
    assert number.to_frame()["remarks"].item() == "; ".join(remarks)


def test_pairs_and_dtype_reach_the_number() -> None:
    half = Pair(oracle.as_stored(0.3, 2), 2, 1)
    evidence = given_evidence(np.array([half.confidence], np.float16), [half.correct])
    assert evidence.binned(METRICS["ece"], Scheme()).index.tolist() == [
        oracle.bin_index(half.confidence, 2, 10)
    ]


def test_the_noise_floor_comes_with_what_it_says_of_chance() -> None:
    off, fine = score(block_evidence((0.9, 60, 40)), "ece"), score(block_evidence((0.9, 60, 54)), "ece")
    floor = "A calibrated model with these rows would score about"
    assert off.noise_floor_text == (
        f"{floor} {off.null_median:.4f}; {off.value:.4f} is not chance (p ≤ 0.005)."
    )
    assert fine.noise_floor_text == (
        f"{floor} {fine.null_median:.4f}; {fine.value:.4f} may be chance (p = 1.000)."
    )
    assert metric_tile(off).below == f"calibrated model: {off.null_median:.4f}"
    assert metric_tile(off).help.startswith(off.noise_floor_text)
    assert score(block_evidence((0.9, 3, 3)), "auroc").noise_floor_text == ""
