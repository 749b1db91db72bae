"""The sentences about a sweep claim only what draws and the verdict allow."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from calib_core.inference.null import NullDistribution
from calib_core.inference.verdict import Verdict, VerdictKind
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.robustness import (
    SweepCurve,
    sweep_bins,
    sweep_caveats,
    sweep_chance_note,
    sweep_headline,
)
from core.run_builders import block_evidence, choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows

CALIBRATED = block_evidence((0.8, 50, 40), (0.6, 50, 30))
OVER = block_evidence((0.9, 200, 120))
FEW = block_evidence((0.9, 9, 7))
REJECTED: tuple[VerdictKind, ...] = ("over", "under", "extreme", "timid", "tolerable")


def drawn(
    p: tuple[float, ...] = (0.5, 0.5),
    change: float | None = 0.5,
    *,
    median: tuple[float, ...] = (0.01, 0.06),
    n_draws: int = 199,
) -> NullDistribution:
    """Draws whose median rises from the first to the last of `median`."""
    noise = median[-1] - median[0]
    return NullDistribution(
        n_draws,
        0,
        median,
        tuple(value / 2 for value in median),
        tuple(value * 2 for value in median),
        p,
        change_median=noise,
        change_low=noise - 0.02,
        change_high=noise + 0.02,
        change_p=change,
    )


def curve_of(
    values: tuple[float, ...] = (0.03, 0.08),
    bins: tuple[int, ...] = (5, 500),
    *,
    null: NullDistribution | None = None,
    fitted: NullDistribution | None = None,
    metric: str = "ece",
) -> SweepCurve:
    reason = "" if fitted else "a fitted model has one confidence per row"
    nothing = MappingProxyType[int, str]({})
    return SweepCurve(
        metric, bins, values, MappingProxyType({}), nothing, 0.1, 0, None, null, "", (), fitted, reason
    )


def headline_and_note(curve: SweepCurve, evidence: AnswerEvidence = CALIBRATED) -> tuple[str, str]:
    """The sentence, and what noise would give."""
    return sweep_headline(curve, evidence.verdict), sweep_chance_note(curve, evidence)


EXPECTED = "A perfectly calibrated model would score about 0.0100 (M = 5) and 0.0600 (M = 500) on 100 rows"
NOISE = (
    "In a model fitted to the run, whose gaps never cancel within a bin, noise alone causes a rise of 0.0500 "
    "(5–95 %: 0.0300 to 0.0700)."
)
OPENING = "ECE rises from 0.0300 (M = 5) to 0.0800 (M = 500)"


# --- With a fitted model ---------------------------------------------------------------------------


def test_a_rise_within_noise_is_no_finding_and_rules_nothing_out() -> None:
    headline, note = headline_and_note(curve_of(null=drawn((0.005, 0.005), 0.005), fitted=drawn(change=0.4)))
    assert headline == f"{OPENING}, which noise alone can explain."
    assert note == (
        f"{NOISE} The observed rise of 0.0500 is not clearly larger (p = 0.400), but gaps that cancel are "
        "not ruled "
        f"out. The run shows no evidence of miscalibration: a{EXPECTED[1:]}."
    )


def test_a_rise_beyond_noise_is_split_into_two_numbers_that_add_up() -> None:
    curve = curve_of((0.03, 0.1), null=drawn(change=0.9), fitted=drawn(change=0.005))
    headline, note = headline_and_note(curve, OVER)
    assert headline == (
        "ECE rises from 0.0300 (M = 5) to 0.1000 (M = 500): 0.0200 of the rise is beyond noise."
    )
    assert note == (
        f"{NOISE} The other 0.0200 (p ≤ 0.005) comes from gaps that cancel within the bins at M = 5, or "
        "accuracy that falls as confidence rises. The run is over-confident."
    )


def test_gaps_that_the_verdict_cannot_see_do_not_contradict_it() -> None:
    note = headline_and_note(curve_of((0.03, 0.1), null=drawn(), fitted=drawn(change=0.05)))[1]
    assert note.endswith(
        "The run shows no evidence of miscalibration in level and spread, all that the verdict tests."
    )


def test_a_rise_is_clear_up_to_the_level() -> None:
    for p, is_clear in ((0.05, True), (0.055, False)):
        headline = headline_and_note(curve_of((0.03, 0.1), fitted=drawn(change=p)))[0]
        assert ("beyond noise" in headline) == is_clear
        assert ("noise alone can explain" in headline) != is_clear


def test_a_fall_stands_beside_what_noise_would_do() -> None:
    headline, note = headline_and_note(curve_of((0.08, 0.03), fitted=drawn(change=0.99)), OVER)
    assert headline == (
        "ECE falls from 0.0800 (M = 5) to 0.0300 (M = 500); noise alone would change it by 0.0500."
    )
    assert note == "There is no rise over M that noise would have to explain. The run is over-confident."


@pytest.mark.parametrize(
    ("values", "bins", "opening"),
    [
        ((0.342, 0.342 + 2**-54, 0.342), (5, 10, 500), "ECE is 0.3420 at every M."),
        ((0.06, 0.05, 0.06), (5, 10, 500), "ECE is 0.0600 at both M = 5 and M = 500."),
    ],
)
def test_ends_that_are_the_same_are_reported_once(
    values: tuple[float, ...], bins: tuple[int, ...], opening: str
) -> None:
    fitted = drawn((0.5,) * 3, 0.005, median=(0.26, 0.27, 0.28))
    assert headline_and_note(curve_of(values, bins, fitted=fitted), OVER) == (
        opening,
        "There is no rise over M that noise would have to explain. The run is over-confident.",
    )
    of_one = replace(fitted, p=fitted.p[:1], median=fitted.median[:1])
    assert headline_and_note(curve_of(values[:1], bins[:1], fitted=of_one), OVER)[1] == (
        "The run is over-confident."
    )
    assert headline_and_note(curve_of(values, bins))[0] == opening


# --- With a calibrated model alone -----------------------------------------------------------------


def test_a_result_within_chance_is_not_a_finding() -> None:
    assert headline_and_note(curve_of(null=drawn((0.03, 0.4)))) == (
        "ECE is 0.0300 at M = 5 and 0.0800 at M = 500, both no more than expected by chance.",
        (
            f"{EXPECTED}. Both are no more than expected by chance (p = 0.030, p = 0.400), "
            "and the change over M is no more than noise."
        ),
    )
    assert headline_and_note(curve_of(null=drawn((0.5, 0.4), 0.01)))[1].endswith("(p = 0.500, p = 0.400).")


def test_with_few_draws_a_value_above_all_of_them_is_not_called_noise() -> None:
    headline, note = headline_and_note(curve_of(null=drawn((0.05, 0.05), 0.05, n_draws=19), metric="cw_ece"))
    assert "Both numbers are more than expected by chance (p ≤ 0.050)" in note
    assert "no more than chance" not in note + headline


def test_a_gap_that_is_more_than_chance() -> None:
    assert headline_and_note(curve_of(null=drawn((0.005, 0.01)))) == (
        f"{OPENING}, as expected from smaller bins alone.",
        (
            f"{EXPECTED}. Both numbers are more than expected by chance (p ≤ 0.005, p = 0.010); the change "
            "of "
            "0.0500 over M is no more than smaller bins add by chance (about 0.0500)."
        ),
    )
    first, last = (
        headline_and_note(curve_of(null=drawn((0.005, 0.4)))),
        headline_and_note(curve_of(null=drawn((0.2, 0.005)))),
    )
    assert first[0] == (
        "ECE is 0.0300 at M = 5, more than expected by chance, and 0.0800 at M = 500, no more than "
        "expected by chance."
    )
    assert "Only the number at M = 5 is more than expected by chance (p ≤ 0.005);" in first[1]
    assert last[0] == (
        "ECE is 0.0300 at M = 5, no more than expected by chance, and 0.0800 at M = 500, more than "
        "expected by chance."
    )
    assert "Only the number at M = 500 is more" in last[1]
    assert headline_and_note(curve_of(null=drawn((0.2, 0.005), 0.01)))[0].endswith(
        ", more than smaller bins add by chance."
    )


def test_gaps_that_wide_bins_hide() -> None:
    reading, more = headline_and_note(curve_of(null=drawn((0.005, 0.005), 0.01)))
    assert reading.endswith(", more than smaller bins add by chance.")
    assert more.endswith(
        "(p ≤ 0.005); the change of 0.0500 over M is more than smaller bins add by chance (about 0.0500) "
        "(p = 0.010), as gaps that cancel in wider bins would have it."
    )


@pytest.mark.parametrize("kind", REJECTED)
@pytest.mark.parametrize("p", [(0.5, 0.5), (0.005, 0.5), (0.5, 0.005), (0.005, 0.005)])
@pytest.mark.parametrize("values", [(0.03, 0.08), (0.08, 0.03), (0.03, 0.03), (0.03,)])
def test_nothing_in_a_miscalibrated_run_is_called_chance(
    kind: VerdictKind, p: tuple[float, float], values: tuple[float, ...]
) -> None:
    bins = (5, 500)[: len(values)]
    curve = curve_of(values, bins, null=drawn(p[: len(values)]), metric="full_ece")
    verdict = Verdict(kind, 0.001, 0.1, None, 0.1, "", None)
    headline = sweep_headline(curve, verdict)
    assert "no more than" not in headline
    assert "as expected" not in headline
    assert "both" not in headline


def test_a_miscalibrated_run_without_a_fitted_model_says_what_is_not_known() -> None:
    curve = curve_of(null=drawn((0.5, 0.5)), metric="full_ece")
    headline, note = headline_and_note(curve, OVER)
    assert sweep_caveats([curve], OVER) == ("How much of the change is noise is not known.",)
    assert sweep_caveats([curve], CALIBRATED) == ()
    assert headline == "Full-ECE rises from 0.0300 (M = 5) to 0.0800 (M = 500)."
    assert note == (
        f"{EXPECTED.replace('100 rows', '200 rows')}. How much of a change over M is noise is not known: a "
        "fitted model has one confidence per row. The run is over-confident, by its top label."
    )
    assert "more than smaller bins" in headline_and_note(curve_of(null=drawn((0.5, 0.005), 0.01)), OVER)[0]


def test_without_a_null_nothing_is_claimed() -> None:
    assert headline_and_note(curve_of()) == (f"{OPENING}.", "How much of the value is chance is not known.")


def test_too_few_rows_are_not_compared_with_anything() -> None:
    assert headline_and_note(curve_of(null=drawn((0.005, 0.005), 0.005)), FEW) == (
        f"{OPENING}.",
        "Not judged: 9 rows, fewer than 30.",
    )


def test_one_m_is_judged_alone() -> None:
    alone = curve_of((0.03,), (10,), null=drawn((0.04,), median=(0.01,)))
    assert headline_and_note(alone) == (
        "ECE is 0.0300 at M = 10, more than expected by chance.",
        "A perfectly calibrated model would score about 0.0100 (M = 10) on 100 rows (p = 0.040).",
    )


def test_small_numbers_keep_their_digits() -> None:
    assert headline_and_note(curve_of((2.41e-7, 3.5e-7), metric="cw_ece"))[0] == (
        "cw-ECE rises from 2.41e-07 (M = 5) to 3.5e-07 (M = 500)."
    )


def test_a_falling_number_is_described_as_such_with_a_minus_sign() -> None:
    falls = curve_of((0.06, 0.05), null=drawn((0.005, 0.005), 0.005, median=(0.03, 0.01)))
    headline, note = headline_and_note(falls)
    assert headline == (
        "ECE falls from 0.0600 (M = 5) to 0.0500 (M = 500); a perfectly calibrated model's would change by "
        "−0.0200."
    )
    assert "the change of −0.0100 over M is more than" in note


@pytest.mark.parametrize(
    ("p", "judged"),
    [
        ((0.36, 0.36), ", no more than expected by chance"),
        ((0.005, 0.005), ", more than expected by chance"),
        (
            (0.005, 0.36),
            ": more than expected by chance at M = 5, no more than expected by chance at M = 500",
        ),
    ],
)
def test_a_number_that_is_the_same_at_every_m_is_reported_once(p: tuple[float, float], judged: str) -> None:
    null = drawn((p[0], 0.1, p[1]), median=(0.26,) * 3)
    headline, note = headline_and_note(curve_of((0.342,) * 3, (5, 10, 500), null=null))
    assert headline == f"ECE is 0.3420 at every M{judged}."
    assert "the change" not in note


# --- Of real rows ----------------------------------------------------------------------------------


def test_calibrated_choices_are_not_criticised() -> None:
    probs, label = random_rows(400, 4, seed=21)
    evidence = choice_evidence(probs.tolist(), label.tolist())
    assert sweep_bins(evidence, ("full_ece",)).headline.endswith("both no more than expected by chance.")
    top = sweep_bins(evidence, ("ece",))
    assert top.headline.endswith(", which noise alone can explain.")


def test_nothing_is_said_of_chance_where_positions_depend_on_one_another() -> None:
    probs, label = random_rows(400, 4, seed=21)
    unknown = sweep_bins(dense_evidence(probs, label), ("full_ece",))
    known = sweep_bins(dense_evidence(probs, label, text=np.arange(400) // 4), ("full_ece",))
    assert unknown.headline == known.headline == "Full-ECE rises from 0.0287 (M = 5) to 0.5246 (M = 500)."
    assert unknown.chance_note.startswith("Not judged: the file does not say which text each of its 400 ")
    expected, noise, _ = known.chance_note.split(". ")
    assert expected.startswith("A perfectly calibrated model would score about ")
    assert expected.endswith(" on 400 independent positions")
    assert noise.startswith("How much of a change over M is noise is not known: ")
    for sweep in (unknown, known):
        null = sweep.curves[0].null
        assert null is not None
        assert (*null.p, null.rsd_p, null.change_p) == (None,) * (len(sweep.bins) + 2)
        assert null.rsd_median is not None


def test_gaps_that_cancel_are_named_and_constant_ones_are_not() -> None:
    random = np.random.default_rng(3)
    confidence = random.uniform(0.5, 1, 800)
    for chance, headline, verdict in (
        (1.5 - confidence, " of the rise is beyond noise.", "too extreme"),
        (confidence - 0.05, ", which noise alone can explain.", "over-confident"),
    ):
        right = [int(value) for value in random.random(800) < chance]
        result = sweep_bins(given_evidence(confidence, right), ("ece",), (1, 50))
        assert result.headline.startswith("ECE rises from ")
        assert result.headline.endswith(headline)
        assert result.chance_note.endswith(f"The run is {verdict}.")


def test_all_labels_are_compared_with_a_calibrated_model() -> None:
    probs, label = random_rows(400, 4, seed=21)
    evidence = choice_evidence(probs.tolist(), label.tolist(), MethodOptions(labels="all"))
    (curve,) = sweep_bins(evidence, ("ece",)).curves
    assert curve.fitted is None
    assert curve.null is not None
