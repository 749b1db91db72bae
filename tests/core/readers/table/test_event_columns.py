"""The probability of an event and whether it happened are asked about, beside a confidence and an outcome."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from calib_core.readers.table.candidates import find_candidates
from calib_core.readers.table.plans import Plan, plans

N = 40
SHARES = pl.Series([f"0.{10 + at}" for at in range(N)])
FLAGS = pl.Series([str(int(at % 3 > 0)) for at in range(N)])
LABELS = pl.Series(["spam" if at % 3 else "ham" for at in range(N)])


def asked(columns: Mapping[str, pl.Series], read_as: Mapping[str, str] | None = None) -> list[Plan]:
    known = read_as or {}
    return plans(find_candidates(columns, known), known)


def readings(columns: Mapping[str, pl.Series], read_as: Mapping[str, str] | None = None) -> list[list[str]]:
    """What the columns are read as in each plan, in the order of the columns."""
    return [[plan.columns.get(name, "") for name in columns] for plan in asked(columns, read_as)]


@pytest.mark.parametrize(
    ("probability", "outcome"),
    [
        ("p_yes", "outcome"),
        ("forecast", "resolution"),
        ("p_fraud", "is_fraud"),
        ("p_pass", "passed"),
        ("p_yes", "hit"),
    ],
)
def test_a_name_that_says_neither_is_asked_about_as_both(probability: str, outcome: str) -> None:
    columns = {probability: SHARES, outcome: FLAGS}
    assert readings(columns) == [["confidence", "correct"], ["event_prob", "event"]]
    assert all(plan.unsaid for plan in asked(columns))


def test_an_outcome_whose_name_says_what_is_wrong_is_never_read_as_right() -> None:
    """Beside "risk", "is_hallucination" was once asked about as "correct": accuracy .21 for .79."""
    assert readings({"risk": SHARES, "is_hallucination": FLAGS}) == [
        ["confidence", "correct:not"],
        ["confidence:inverted", "correct:not"],
        ["event_prob", "event"],
    ]
    assert readings({"risk": SHARES, "is_correct": FLAGS})[:2] == [
        ["confidence", "correct"],
        ["confidence:inverted", "correct"],
    ]


def test_an_outcome_that_abstains_is_asked_about_before_one_that_only_could_be_one() -> None:
    graded = pl.Series(["correct", "incorrect", "abstain"]).gather([at % 3 for at in range(len(SHARES))])
    (plan, *_) = asked({"risk": SHARES, "grade": graded, "cached": FLAGS})
    assert plan.columns == {"risk": "confidence", "grade": "correct"}


@pytest.mark.parametrize("probability", ["prob_yes", "probability", "prob", "score"])
def test_what_may_be_a_confidence_by_its_name_is_asked_about_in_each_direction(probability: str) -> None:
    assert readings({probability: SHARES, "outcome": FLAGS}) == [
        ["confidence", "correct"],
        ["confidence", "correct:not"],
        ["event_prob", "event"],
    ]


def test_a_column_that_has_its_own_name_may_be_read_otherwise() -> None:
    found = readings({"p_true": SHARES, "outcome": FLAGS}, {"p_true": "p_true"})
    assert found == [["", "correct"], ["", "correct:not"], ["event_prob", "event"]]


def test_a_right_answer_without_the_models_may_be_whether_the_event_happened() -> None:
    alone = ["confidence", "gold"]  # which does not load
    assert readings({"prob_1": SHARES, "y_true": FLAGS}) == [alone, ["event_prob", "event"]]


def test_which_of_two_labels_is_the_event_is_asked_unless_the_name_says_it() -> None:
    _, *of_either = readings({"prob_yes": SHARES, "label": LABELS})
    assert of_either == [["event_prob", "event:ham"], ["event_prob", "event:spam"]]
    assert readings({"p_spam": SHARES, "label": LABELS}) == [["event_prob", "event:spam"]]


@pytest.mark.parametrize(
    "columns",
    [
        {"p_true": SHARES, "is_correct": FLAGS},
        {"prob": SHARES, "correct": FLAGS},
        {"confidence": SHARES, "outcome": FLAGS},
        {"top_prob": SHARES, "outcome": FLAGS},
        {"prob_low": SHARES, "outcome": FLAGS},
        {"faithfulness_score": SHARES, "is_hallucination": FLAGS},
        {"p_hallucination": SHARES, "outcome": FLAGS},
        {"elapsed": SHARES, "outcome": FLAGS},
        {"prob_yes": SHARES, "prediction": LABELS, "label": LABELS},
        {"event_prob": SHARES, "event": FLAGS},
    ],
    ids=" ".join,
)
def test_what_is_said_otherwise_is_no_event(columns: Mapping[str, pl.Series]) -> None:
    assert not [plan for plan in asked(columns) if plan.unsaid and "event_prob" in plan.columns.values()]
