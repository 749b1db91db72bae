"""What thresholds cost, against fractions, and the sentence on what believing the confidence costs."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from app_server import ROOT
from calib_core.errors import Unavailable
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.results.evidence import gather_evidence
from calib_core.results.threshold_cost import COVERAGE_NOTE, threshold_cost
from core.run_builders import block_evidence, make_answer_run

BLOCKS = ((0.95, 200, 190), (0.8, 100, 77), (0.3, 100, 20))
TEN_TO_ONE = ErrorCosts(10, 1)


def test_every_step_costs_what_its_rows_cost() -> None:
    found = threshold_cost(block_evidence(*BLOCKS), TEN_TO_ONE)
    exact = [
        (
            10 * sum(Fraction(rows - right) for _, rows, right in BLOCKS[:n])
            + sum(rows for _, rows, _ in BLOCKS[n:])
        )
        / 400
        for n in (1, 2, 3)
    ]
    assert found.cost.tolist() == pytest.approx([float(cost) for cost in exact], abs=1e-15)
    assert found.cost_at(0.96) == 1  # nothing is answered
    assert found.cost_at(0.8) == found.cost[1]
    assert found.believed == 0.9
    assert (found.believed_cost, found.cheapest_step) == (found.cost[0], 0)
    steps = found.steps()
    assert steps["cost"].to_list() == found.cost.tolist()
    assert steps["threshold"].to_list() == [0.95, 0.8, 0.3]


def test_handing_everything_on_may_be_cheapest() -> None:
    found = threshold_cost(block_evidence((0.95, 100, 60), (0.3, 100, 20)), TEN_TO_ONE)
    assert found.cheapest_step is None
    row = found.row()
    assert (row["cheapest"], row["cheapest_share"], row["cheapest_cost"]) == (None, 0, 1)
    assert found.price is not None
    assert found.price.value == pytest.approx(found.believed_cost - 1)


def test_rows_without_a_confidence_are_handed_on_at_every_threshold() -> None:
    confidence = [0.95] * 100 + [0.5] * 100 + [None] * 50
    correct = [at % 100 < (60 if at < 100 else 50) for at in range(250)]
    run = make_answer_run({"confidence": confidence, "correct": correct})
    found = threshold_cost(gather_evidence(run, "given"), TEN_TO_ONE)
    assert found.cost.tolist() == pytest.approx([(400 + 150) / 250, (900 + 50) / 250])
    assert found.price is not None
    assert found.price.value == pytest.approx(found.believed_cost - 1)


def test_the_price_is_clear_or_may_be_none() -> None:
    clear = threshold_cost(block_evidence((0.95, 300, 150), (0.5, 100, 50)), TEN_TO_ONE)
    assert clear.price is not None
    assert clear.price.low > 0
    low, high = f"{clear.price.low:.3g}", f"{clear.price.high:.3g}"
    assert clear.headline == (
        "Believing “confidence in the file” means answering from 90.0 % on. That costs 4 per question, 3 "
        f"more than the best threshold (95 % interval {low} to {high})."
    )
    none = threshold_cost(block_evidence((0.95, 200, 190), (0.5, 200, 100)), TEN_TO_ONE)
    assert none.price is not None
    assert ", not clearly more than the best threshold (at most " in none.headline


def test_few_questions_have_no_price() -> None:
    few = threshold_cost(block_evidence((0.95, 40, 30), (0.5, 19, 10)), TEN_TO_ONE)
    assert few.price is None
    accurate = threshold_cost(block_evidence((0.9, 300, 291)), TEN_TO_ONE)
    assert accurate.price is None, "9 wrong answers say too little of what is saved"
    assert threshold_cost(block_evidence((0.9, 300, 290)), TEN_TO_ONE).price is not None
    trials = make_answer_run(
        {"confidence": [0.9] * 300, "correct": [at >= 27 for at in range(300)]}
        | {"trial_of": [f"q{at // 3}" for at in range(300)]}
    )
    repeated = threshold_cost(gather_evidence(trials, "given"), TEN_TO_ONE)
    assert repeated.price is None, "27 wrong answers to 9 questions are 9"
    assert few.row()["price"] is None
    assert few.headline.endswith("per question.")
    assert threshold_cost(block_evidence((0.95, 40, 30), (0.5, 20, 10)), TEN_TO_ONE).price is not None


@pytest.mark.parametrize("costs", [ErrorCosts(0, 1), ErrorCosts(1, -1), ErrorCosts(float("inf"), 1)])
def test_costs_that_are_none_are_refused(costs: ErrorCosts) -> None:
    with pytest.raises(Unavailable, match="more than 0"):
        threshold_cost(block_evidence(*BLOCKS), costs)


def test_the_note_quotes_the_measured_coverage() -> None:
    page = (ROOT / "benchmarks" / "threshold_cost.md").read_text(encoding="utf-8")
    held = [float(share) for share in re.findall(r"\| ([\d.]+) % \| [\d.]+ % \|$", page, re.MULTILINE)]
    assert len(held) == 36
    assert f"It held the true price in {min(held):.0f} % or more of simulated data sets." == COVERAGE_NOTE
