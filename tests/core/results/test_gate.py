"""Rules hold or break by values, or by intervals where only what is clear may break them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.inference.intervals import unpaired_difference_interval, wilson_interval
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.gate import (
    Measurement,
    Rule,
    check_limit,
    check_no_worse,
    check_size,
    gate_summary,
    match_runs,
    measure,
)
from calib_core.results.uncertainty import metric_interval
from core.run_builders import block_evidence, given_evidence, make_answer_run
from core.token_run_builders import dense_evidence, random_rows


def measured(
    value: float | None,
    interval: tuple[float, float] | None,
    metric: str = "ece",
    evidence: Evidence | None = None,
) -> Measurement:
    return Measurement(evidence or block_evidence((0.9, 40, 30)), metric, Scheme(), value, interval)


@pytest.mark.parametrize(
    ("kind", "limit", "value", "interval", "held", "held_unless_clear"),
    [
        ("max", 0.05, 0.05, (0.01, 0.09), True, True),
        ("max", 0.05, 0.06, (0.01, 0.09), False, True),
        ("max", 0.05, 0.06, (0.051, 0.09), False, False),
        ("max", 0.05, 0.06, None, False, False),
        ("min", 0.7, 0.7, (0.6, 0.8), True, True),
        ("min", 0.7, 0.65, (0.6, 0.8), False, True),
        ("min", 0.7, 0.65, (0.6, 0.69), False, False),
        ("max", 0.05, None, None, False, False),
        ("max", 0.05, None, (0.01, 0.05), True, True),
        ("max", 0.05, None, (0.01, 0.06), False, True),
        ("max", 0.05, None, (0.06, 0.07), False, False),
        ("min", 0.5, None, (0.4, 0.6), False, True),
        ("min", 0.5, None, (0.3, 0.4), False, False),
        ("max", 0.05, float("inf"), None, False, False),
    ],
)
def test_limits(
    kind: str,
    limit: float,
    value: float | None,
    interval: tuple[float, float] | None,
    held: bool,  # noqa: FBT001  a column
    held_unless_clear: bool,  # noqa: FBT001
) -> None:
    rule = Rule("max" if kind == "max" else "min", "ece", limit)
    assert check_limit(rule, measured(value, interval)).held is held
    assert check_limit(rule, measured(value, interval), significant=True).held is held_unless_clear


def test_sizes_count_usable_rows() -> None:
    evidence = given_evidence([0.9, None, 0.8], [1, 1, 0])
    assert check_size(Rule("min-n", None, 2), evidence).held
    check = check_size(Rule("min-n", None, 3), evidence)
    assert (check.held, check.value, check.n_used, check.n_total) == (False, 2, 2, 3)


def test_a_measurement_is_what_score_prints() -> None:
    evidence = block_evidence((0.9, 60, 40), (0.6, 60, 30))
    found = measure(evidence, "ece", Scheme())
    interval = metric_interval(evidence, "ece")
    assert interval is not None
    assert (found.value, found.interval) == (pytest.approx(1 / 6), (interval.low, interval.high))


def pair(n: int, n_worse: int, ids: tuple[str, str] = ("q", "q")) -> tuple[Evidence, Evidence]:
    """Two runs on the same questions, the second wrong on some more; ids begin with these letters."""
    right = np.arange(n) % 5 > 0
    worse = right & ~np.isin(np.arange(n), np.flatnonzero(right)[:n_worse])
    first, second = (
        given_evidence(np.full(n, 0.8), list(outcome), id=[f"{letter}{at}" for at in range(n)])
        for outcome, letter in zip((right, worse), ids, strict=True)
    )
    return first, second


def compared(
    metric: str, sides: tuple[Evidence, Evidence], limit: float, *, significant: bool = False
) -> tuple[float, tuple[float, float], bool | None, str]:
    old, new = (measure(side, metric, Scheme()) for side in sides)
    check = check_no_worse(Rule("worse-by", metric, limit), new, old, significant=significant)
    assert check.value is not None
    assert check.interval is not None
    return check.value, check.interval, check.held, check.reason


def test_paired_differences_say_how_much_worse() -> None:
    sides = pair(200, 10)
    accuracy, interval, held, reason = compared("accuracy", sides, 0.04)
    brier, brier_interval, *_ = compared("brier", sides, 0.04)
    assert accuracy == pytest.approx(0.05)
    # A wrong answer at .8 costs .64 instead of .04.
    assert brier == pytest.approx(0.05 * 0.6)
    assert (held, reason) == (False, "paired on 200 questions")
    assert interval[0] < accuracy < interval[1]
    assert 0 < brier_interval[0] < brier < brier_interval[1]
    assert interval[0] < 0.04
    *_, held, reason = compared("accuracy", sides, 0.04, significant=True)
    assert held
    assert "not clearly" in reason
    assert not compared("accuracy", sides, 0.001, significant=True)[2]
    better = compared("accuracy", (sides[1], sides[0]), 0)
    assert (better[0], better[2]) == (pytest.approx(-0.05), True)


def test_without_common_questions_all_rows_are_compared() -> None:
    sides = pair(200, 10, ("p", "q"))
    value, interval, _, reason = compared("accuracy", sides, 0.04)
    assert value == pytest.approx(0.05)
    assert "on all rows of each: " in reason
    assert "no question in common" in reason
    paired = compared("accuracy", pair(200, 10), 0.04)[1]
    assert interval[1] - interval[0] > paired[1] - paired[0]
    few = pair(20, 2)
    assert "20 questions in common" in compared("accuracy", few, 0.04)[3]


def test_the_interval_of_a_difference_is_newcombes_for_shares() -> None:
    # Newcombe (1998), table II, method 10, a: 56/70 − 48/80 has 0.0524 to 0.3339.
    low, high = wilson_interval(np.array([56, 48]), np.array([70, 80]))
    ends = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    found = unpaired_difference_interval(56 / 70, ends[0], 48 / 80, ends[1])
    assert found == (pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5))
    assert unpaired_difference_interval(0.5, None, 0.5, (0.4, 0.6)) is None


def test_a_metric_best_at_0_is_compared_by_its_distance() -> None:
    old, new = measured(-0.1, None, "bias"), measured(0.08, None, "bias")
    check = check_no_worse(Rule("worse-by", "bias", 0), new, old)
    assert (check.value, check.held) == (pytest.approx(-0.02), True)


def test_a_vanished_value_breaks_and_a_new_one_does_not() -> None:
    rule = Rule("worse-by", "auroc", 0.5)
    none, some = measured(None, None, "auroc"), measured(0.7, None, "auroc")
    gone, new = check_no_worse(rule, none, some), check_no_worse(rule, some, none)
    assert (gone.held, new.held) == (False, True)
    assert "no value in the run" in gone.reason


def test_infinite_values_have_an_answer() -> None:
    rule = Rule("worse-by", "nll", 0.1)
    sums = dense_evidence(*random_rows(30, 4))
    infinite, finite = (measured(value, None, "nll", sums) for value in (float("inf"), 1.0))
    assert check_no_worse(rule, infinite, infinite).held
    assert not check_no_worse(rule, infinite, finite).held
    assert check_no_worse(rule, finite, infinite).held


def test_runs_match_by_label_or_alone() -> None:
    run = make_answer_run({"confidence": [0.5], "correct": [True]})
    red, green, blue = (replace(run, label=name) for name in ("red", "green", "blue"))
    assert match_runs([red, blue, red], [red, red, green, red]) == [
        (red, red),
        (red, red),
        (green, None),
        (red, None),
    ]
    assert match_runs([green], [red]) == [(red, green)]
    assert match_runs([], [red]) == [(red, None)]


def test_every_metric_can_be_in_a_rule() -> None:
    for id_ in METRICS:
        assert Rule("max", id_, 0.1).text == f"max {id_}=0.1"
        assert Rule("worse-by", id_, 0.1).words.endswith("at most 0.1 worse")
    assert [Rule("min-n", None, 1500).text, Rule("min-n", None, 1500).words] == ["min-n 1500", "rows ≥ 1,500"]


def test_the_summary_counts() -> None:
    held, broken = (check_limit(Rule("max", "ece", 0.1), measured(value, None)) for value in (0, 1))
    assert gate_summary([]) == "Nothing was checked."
    assert gate_summary([held]) == "The check passed."
    assert gate_summary([held, held]) == "All 2 checks passed."
    assert gate_summary([held, broken]) == "1 of 2 checks failed."


def test_what_could_not_be_checked_has_not_passed() -> None:
    held, broken = (check_limit(Rule("max", "ece", 0.1), measured(value, None)) for value in (0, 1))
    assert gate_summary([], 2) == "Nothing was checked: 2 refusals."
    assert gate_summary([held], 1) == "Not passed: 1 refusal. The check held."
    assert gate_summary([held, held], 2) == "Not passed: 2 refusals. All 2 checks held."
    assert gate_summary([held, broken], 1) == "1 of 2 checks failed, and there was 1 refusal."
    assert gate_summary([held, broken], 2) == "1 of 2 checks failed, and there were 2 refusals."
