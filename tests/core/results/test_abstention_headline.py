"""The headline of abstention states the gain with its interval, or that there is none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app_server import ROOT
from calib_core.errors import Unavailable
from calib_core.results.abstention import (
    EMPIRICAL_CAUTION,
    AbstentionCurve,
    abstention_curve,
    abstention_headline,
    guarantee_headline,
    guaranteed_threshold,
    largest_guaranteed,
    operating_point_text,
    threshold_text,
)
from calib_core.results.evidence import gather_evidence
from calib_core.terms import ANSWER_TERMS
from calib_core.wording import target_text
from core.run_builders import block_evidence, make_answer_run

LADDER = ((0.9, 100, 95), (0.6, 100, 60), (0.2, 100, 10))


def make_curve(*parts: tuple[float, int, int]) -> AbstentionCurve:
    return abstention_curve(block_evidence(*(parts or LADDER)))


def test_threshold_share_and_interval_are_stated() -> None:
    assert abstention_headline([make_curve()], 0.9) == (
        "For an accuracy of 90 %, answer when “confidence in the file” is 0.9 or more: 33.3 % "
        "answered, accuracy 95.0 % (95 % interval 88.8 % to 97.8 %, n = 100). All answered: 55.0 %."
    )


def test_few_rows_are_described_as_few() -> None:
    assert "n = 4, too few to be reliable). All answered" in abstention_headline(
        [make_curve((0.9, 4, 4), (0.5, 100, 50))], 0.9
    )
    for wanted in (0.5, 0.99):  # all can be answered, or none
        assert "n = 5, too few to be reliable)" in abstention_headline([make_curve((0.9, 5, 4))], wanted)


def test_an_accuracy_that_is_never_reached_names_the_nearest() -> None:
    assert abstention_headline([make_curve()], 0.99) == (
        "No method reaches an accuracy of 99 %. “confidence in the file” comes closest: 33.3 % "
        "answered, accuracy 95.0 % (95 % interval 88.8 % to 97.8 %, n = 100)."
    )


def test_where_all_can_be_answered_nothing_need_be_refused() -> None:
    assert abstention_headline([make_curve()], 0.5).startswith(
        "All questions can be answered at an accuracy of 50 % or more: 100.0 % answered"
    )


def good_and_poor_curves() -> list[AbstentionCurve]:
    """One run seen by a good and by a poor confidence."""
    rows = 100
    run = make_answer_run(
        {
            "confidence": [0.9 if at < 50 else 0.2 for at in range(rows)],
            "verbal_confidence": [0.9 if at % 2 else 0.2 for at in range(rows)],
            "correct": [at < 50 for at in range(rows)],
        }
    )
    return [abstention_curve(gather_evidence(run, method)) for method in ("verbal", "given")]


def test_the_method_that_answers_most_is_named() -> None:
    assert abstention_headline(good_and_poor_curves(), 0.9).startswith(
        "For an accuracy of 90 %, answer when “confidence in the file” is 0.9 or more: 50.0 % answered"
    )
    assert abstention_headline(good_and_poor_curves(), 0.4).startswith(
        "By “stated confidence”, all questions can be answered at an accuracy of 40 % or more: "
    )


def test_a_guarantee_is_stated_first() -> None:
    curve = make_curve((0.9, 200, 194), (0.2, 200, 100))
    assert guarantee_headline([guaranteed_threshold(curve, 0.9)]) == (
        "Answer when “confidence in the file” is 0.9 or more: 50.0 % answered, at least 94.1 % right with "
        "95 % confidence."
    )
    assert guarantee_headline([guaranteed_threshold(curve, 0.6)]).startswith(
        "All questions can be answered: at least 69."
    )
    assert guarantee_headline([guaranteed_threshold(curve, 0.96)]) == (
        "No threshold guarantees an accuracy of 96 %. On these rows alone, “confidence in the file” reaches "
        "it from 0.9 on, with 50.0 % answered."
    )
    nowhere = guaranteed_threshold(curve, 1)
    assert guarantee_headline([nowhere]).startswith("No method reaches an accuracy of 100 %. ")
    assert "no number of rows can show that" in (nowhere.reason or "")


def test_the_method_that_answers_most_with_a_guarantee_is_named() -> None:
    good, poor = make_curve((0.9, 200, 194), (0.2, 200, 100)), make_curve((0.9, 100, 97), (0.2, 300, 150))
    thresholds = [guaranteed_threshold(curve, 0.9) for curve in (poor, replace(good, method="verbal"))]
    assert largest_guaranteed(thresholds) is thresholds[1]
    assert "“stated confidence”" in guarantee_headline(thresholds)


def test_a_method_that_lacks_confidences_does_not_answer_most() -> None:
    few = make_curve((0.9, 100, 97))
    lacking = replace(few, method="verbal", n_total=400)
    full = make_curve((0.9, 300, 291), (0.2, 100, 20))
    found = [guaranteed_threshold(curve, 0.9) for curve in (lacking, full)]
    assert largest_guaranteed(found) is found[1]
    assert guarantee_headline(found[:1]).startswith(
        "All questions with a confidence by “stated confidence” can be answered: "
    )


def test_any_target_has_an_answer_and_a_confidence_of_1_has_none() -> None:
    everything = guaranteed_threshold(make_curve(), 0)
    assert everything.point is not None
    assert everything.point.coverage == 1
    with pytest.raises(Unavailable, match="between 0 and 1"):
        guaranteed_threshold(make_curve(), 0.9, 1)


def test_the_caution_quotes_the_measured_misses() -> None:
    page = (
        (ROOT / "benchmarks" / "threshold.md")
        .read_text(encoding="utf-8")
        .split("## Each question asked 5")[0]
    )
    missed = [
        float(cell) for cell in re.findall(r"^\| calibrated (?:\|[^|]+){4}\| ([\d.]+) %", page, re.MULTILINE)
    ]
    assert len(missed) == 6
    assert f"in {min(missed):.0f} to {max(missed):.0f} % of data sets" in EMPIRICAL_CAUTION


def test_a_tie_names_the_other_too() -> None:
    same = [good_and_poor_curves()[1], make_curve((0.9, 50, 50), (0.2, 50, 0))]
    assert ", the same as “confidence in the file”. All answered" in abstention_headline(same, 0.9)
    same.append(replace(same[0], method="p_true"))
    assert ", the same as “confidence in the file” and “p(True)”. All answered" in abstention_headline(
        same, 0.9
    )
    assert abstention_headline(same, 0.4).endswith(", the same as “confidence in the file” and “p(True)”.")


def test_a_threshold_that_answers_nothing_is_reported() -> None:
    assert operating_point_text(make_curve().at_threshold(0.95), ANSWER_TERMS) == "nothing answered"


@pytest.mark.parametrize(
    ("number", "message"), [(0.9375, "0.9375"), (1.0, "1"), (0.123456789, "0.123456789")]
)
def test_thresholds_keep_their_digits(number: float, message: str) -> None:
    assert threshold_text(number) == message


@pytest.mark.parametrize(("share", "message"), [(0.9, "90 %"), (0.925, "92.5 %"), (1, "100 %")])
def test_a_target_accuracy_is_written_as_typed(share: float, message: str) -> None:
    assert target_text(share) == message
