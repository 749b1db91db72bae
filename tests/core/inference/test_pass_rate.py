"""The pass rate by each method, compared with ppi-python and with sums by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app_server import ROOT
from calib_core.inference.intervals import Z_975, share_interval
from calib_core.inference.pass_rate import (
    PassRate,
    lang_reiczigel,
    pass_rates,
    prediction_powered,
    rogan_gladen,
    shortest,
)

PPI_PYTHON: Final[list[dict[str, Any]]] = json.loads(
    (ROOT / "tests" / "fixtures" / "judge.json").read_text(encoding="utf-8")
)["pass_rate"]

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def labels(case: dict[str, Any]) -> tuple[Bools, Bools, Bools]:
    """Judge, people and which rows are labelled."""
    judge = np.array(case["judge"], bool)
    labelled = np.arange(judge.size) < len(case["human"])
    human = np.zeros(judge.size, bool)
    human[labelled] = case["human"]
    return judge, human, labelled


def drawn(
    n: int, n_labelled: int, rate: float, sensitivity: float, specificity: float, seed: int = 0
) -> tuple[Bools, Bools, Bools]:
    random = np.random.default_rng(seed)
    human = random.random(n) < rate
    judge = np.where(human, random.random(n) < sensitivity, random.random(n) >= specificity)
    return judge, human, np.arange(n) < n_labelled


@pytest.mark.parametrize("case", PPI_PYTHON, ids=lambda case: str(len(case["judge"])))
def test_ppi_is_ppi_pythons(case: dict[str, Any]) -> None:
    judge, human, labelled = labels(case)
    rate = prediction_powered(judge, human, labelled)
    assert rate.value == pytest.approx(case["value"], abs=1e-9)
    assert rate.weight is not None
    # Its interval, from the same λ: what Calib's is Wilson's form of.
    said, truth, rest = judge[labelled] * 1.0, human[labelled] * 1.0, judge[~labelled] * 1.0
    variance = rate.weight**2 * rest.var() / rest.size + (truth - rate.weight * said).var() / truth.size
    half = Z_975 * variance**0.5
    assert rate.value is not None
    assert [rate.value - half, rate.value + half] == pytest.approx(case["interval"], abs=1e-9)
    assert rate.interval is not None
    assert rate.interval[0] <= rate.value <= rate.interval[1]
    assert rate.width == pytest.approx(2 * half, rel=0.2)


def test_ppi_without_use_for_the_judge_is_the_labelled_rows_alone() -> None:
    judge, human, labelled = drawn(400, 80, 0.7, 0.5, 0.5, seed=4)
    judge[labelled] = ~human[labelled]  # a judge that is always wrong: λ is cut at 0
    found = prediction_powered(judge, human, labelled)
    assert (found.weight, found.value) == (0.0, pytest.approx(human[labelled].mean()))
    whole = prediction_powered(judge, human, np.ones(400, bool))
    assert (whole.value, whole.interval) == (pytest.approx(human.mean()), share_interval(human))


def test_a_few_labels_without_an_error_do_not_show_that_there_is_none() -> None:
    judge, human, labelled = drawn(1000, 50, 0.8, 1.0, 1.0)
    rate = prediction_powered(judge, human, labelled)
    assert rate.value == pytest.approx(judge.mean(), abs=0.01)
    standard = 2 * Z_975 * (0.8 * 0.2 / 1000) ** 0.5
    assert rate.width > 1.5 * standard


def test_lang_and_reiczigels_interval_in_fractions() -> None:
    """The formulas of the paper, with z = 2: 30 of 100 positive, 18 of 20 and 27 of 30 right."""
    z = 2
    rate, hit, rejected = Fraction(30 + 2, 104), Fraction(19, 22), Fraction(28, 32)
    gain = hit + rejected - 1
    value = (rate + rejected - 1) / gain
    of_hit, of_rejected = hit * (1 - hit) / 22, rejected * (1 - rejected) / 32
    shift = 2 * z**2 * (value * of_hit - (1 - value) * of_rejected)
    variance = rate * (1 - rate) / 104 + value**2 * of_hit + (1 - value) ** 2 * of_rejected
    half = z * float(variance) ** 0.5 / float(gain)
    low, high = lang_reiczigel((0.3, 100), (0.9, 20), (0.9, 30), 2.0)
    assert (low, high) == pytest.approx((float(value + shift) - half, float(value + shift) + half), abs=1e-12)


def test_rogan_gladen_by_hand() -> None:
    judge, human, labelled = drawn(900, 200, 0.6, 0.85, 0.9, seed=5)
    passes, fails = labelled & human, labelled & ~human
    sensitivity, false_pass = judge[passes].mean(), judge[fails].mean()
    found = rogan_gladen(judge, human, labelled, None)
    assert found.value == pytest.approx((judge.mean() - false_pass) / (sensitivity - false_pass), abs=1e-12)
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_rogan_gladen_of_all_rows_labelled_is_what_people_say() -> None:
    judge, human, labelled = drawn(100, 100, 0.6, 0.85, 0.9)
    found = rogan_gladen(judge, human, labelled, None)
    assert (found.value, found.interval) == (human.mean(), share_interval(human))


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "reason"),
    [
        (0.6, 0.5, 0.5, "sensitivity + specificity − 1 is not clearly above 0"),
        (0.6, 0.2, 0.2, "sensitivity + specificity − 1 is not clearly above 0"),
        (0.97, 0.9, 0.9, "people fail 4 rows, but 5 are needed"),
        (0.02, 0.9, 0.9, "people pass 2 rows, but 5 are needed"),
    ],
)
def test_the_corrected_rate_is_withheld(
    rate: float, sensitivity: float, specificity: float, reason: str
) -> None:
    found = rogan_gladen(*drawn(500, 60, rate, sensitivity, specificity, seed=6), None)
    assert (found.value, found.interval, found.reason) == (None, None, reason)


@given(st.integers(0, 10**6), st.sampled_from((0.05, 0.5, 0.95)), st.sampled_from((0.3, 0.8, 1.0)))
def test_every_interval_holds_its_value_within_0_and_1(seed: int, rate: float, sensitivity: float) -> None:
    rates = pass_rates(*drawn(120, 40, rate, sensitivity, 0.9, seed), None)
    assert [one.method for one in rates] == ["judged", "rogan_gladen", "ppi", "labelled"]
    for one in rates:
        if one.interval is not None:
            assert one.value is not None
            assert 0 <= one.interval[0] <= one.value + 1e-12
            assert one.value - 1e-12 <= one.interval[1] <= 1
        else:
            assert one.reason
            assert one.width == np.inf


def test_the_shorter_of_two_is_chosen_never_rogan_gladen() -> None:
    def rate(method: Any, low: float, high: float) -> PassRate:
        return PassRate(method, 0.5, (low, high), 100, 50)

    rogan, ppi, alone = rate("rogan_gladen", 0.5, 0.5), rate("ppi", 0.4, 0.6), rate("labelled", 0.3, 0.7)
    assert shortest((rogan, ppi, alone)) is ppi
    assert shortest((rogan, rate("ppi", 0.2, 0.9), alone)) is alone
    assert shortest((rogan, rate("ppi", 0.3, 0.7), alone)) is alone


def test_repeated_questions_count_once() -> None:
    judge, human, labelled = drawn(300, 100, 0.6, 0.85, 0.9, seed=7)
    question = np.repeat(np.arange(300), 4)
    once = pass_rates(judge, human, labelled, None)
    repeated = pass_rates(judge[question], human[question], labelled[question], question)
    naive = pass_rates(judge[question], human[question], labelled[question], None)
    for one, of_four, short in zip(once[1:], repeated[1:], naive[1:], strict=True):
        assert of_four.value == pytest.approx(one.value, abs=0.01)
        assert of_four.width == pytest.approx(one.width, rel=0.1)
        assert short.width < 0.6 * one.width


def test_few_questions_leave_the_labelled_rows_alone() -> None:
    judge, human, labelled = drawn(400, 80, 0.6, 0.85, 0.9, seed=8)
    rates = pass_rates(judge, human, labelled, np.arange(400) // 4)
    assert [one.interval is None for one in rates] == [True, True, True, False]
    assert "20 different questions" in rates[2].reason
    assert shortest(rates) is rates[3]
