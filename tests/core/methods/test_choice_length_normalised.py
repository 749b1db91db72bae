"""Each choice's log-probability is divided by its own length, and the recipe names the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from core import confidence_oracle as oracle
from core.confidence_runs import TOLERANCE, Row, choice_question, confidences, run_of

METHOD = "choice_length_normalised"


@pytest.mark.parametrize("renormalise", [None, True, False])
@given(rows=st.lists(choice_question(), min_size=1, max_size=6))
def test_it_is_the_exact_probability(*, renormalise: bool | None, rows: list[Row]) -> None:
    lengths = (
        "choice_token_counts" if any("choice_token_counts" in row for row in rows) else "choice_char_counts"
    )
    exact: list[Sequence[Fraction] | None] = [
        oracle.choice_probabilities(row, lengths, renormalise=renormalise is not False) for row in rows
    ]
    used = [at for at, probs in enumerate(exact) if probs and "gold_index" in rows[at]]
    if not used:
        with pytest.raises(Unavailable):
            confidences(METHOD, run_of(rows), renormalise=renormalise)
        return
    result = confidences(METHOD, run_of(rows), renormalise=renormalise)
    assert result.pairs.rows.tolist() == used
    assert result.distribution is not None
    assert result.distribution.normalised is (renormalise is not False)
    flat = [float(value) for at in used for value in exact[at] or ()]
    assert np.max(np.abs(result.distribution.probs - np.array(flat))) <= TOLERANCE


def two_choices(**columns: object) -> Row:
    return {"choice_logprobs": [-2.0, -3.0], "gold_index": 1, **columns}


@pytest.mark.parametrize(
    ("columns", "phrase", "lengths"),
    [
        ({"choice_token_counts": [1, 2], "choice_char_counts": [9, 9]}, "by token counts", (1, 2)),
        ({"choice_char_counts": [4, 8], "choice_byte_counts": [9, 9]}, "by character counts", (4, 8)),
        (
            {"choices": ["café", "a bridge"], "choice_byte_counts": [9, 9]},
            "by characters of the choices",
            (4, 8),
        ),
        ({"choice_byte_counts": [5, 8]}, "by byte counts", (5, 8)),
    ],
)
def test_lengths_are_tokens_else_characters_else_bytes(
    columns: dict[str, object], phrase: str, lengths: tuple[int, int]
) -> None:
    result = confidences(METHOD, run_of([two_choices(**columns)]))
    weights = [math.exp(log / length) for log, length in zip((-2.0, -3.0), lengths, strict=True)]
    assert result.pairs.confidence.tolist() == pytest.approx([max(weights) / sum(weights)], abs=TOLERANCE)
    assert result.recipe == (phrase, "renormalised")


def test_logits_are_not_divided_by_lengths() -> None:
    row = {"choice_logits": [2.0, -3.0], "choice_token_counts": [1, 2], "gold_index": 1}
    with pytest.raises(Unavailable, match=r"no column choice_logprobs: .*a logit cannot be divided"):
        confidences(METHOD, run_of([row]))


def test_the_top_label_is_its_own_and_may_differ_from_the_raw_one() -> None:
    row = two_choices(choice_token_counts=[1, 3], correct=False)
    assert confidences("choice_softmax", run_of([row])).pairs.correct.tolist() == [False]
    result = confidences(METHOD, run_of([row]))
    assert result.pairs.correct.tolist() == [True]
    assert result.judged == "its own top label"


def test_unrenormalised_choices_are_not_a_distribution() -> None:
    result = confidences(METHOD, run_of([two_choices(choice_token_counts=[1, 2])]), renormalise=False)
    assert result.distribution is not None
    assert result.distribution.probs.tolist() == pytest.approx([math.exp(-2), math.exp(-1.5)], abs=1e-15)
    assert not result.distribution.normalised
    assert result.recipe == ("by token counts", "not renormalised")


def test_a_row_of_tiny_probabilities_does_not_underflow() -> None:
    row: Row = {
        "choice_logprobs": [-4000.0, -4000.0 - math.log(3)],
        "choice_token_counts": [1, 1],
        "gold_index": 0,
    }
    assert confidences(METHOD, run_of([row])).pairs.confidence.tolist() == pytest.approx([0.75], abs=1e-11)


def test_a_row_without_usable_lengths_is_missing() -> None:
    counts = ([1, 2], None, [1], [1, None], [0, 2])
    rows = [two_choices(choice_token_counts=count, choice_char_counts=[1, 1]) for count in counts]
    result = confidences(METHOD, run_of(rows))
    assert result.pairs.rows.tolist() == [0]
    assert dict(result.missing) == {
        "a choice's length is unknown": 2,
        "a choice is of length 0": 1,
        "no length of the choices": 1,
    }


def test_runs_without_lengths_are_refused() -> None:
    with pytest.raises(Unavailable, match=r"^no column choice_token_counts or choice_char_counts: "):
        confidences(METHOD, run_of([two_choices()]))
    with pytest.raises(Unavailable, match=r"^no column choice_logprobs: "):
        confidences(METHOD, run_of([{"choice_probs": [0.5, 0.5], "gold_index": 0}]))
