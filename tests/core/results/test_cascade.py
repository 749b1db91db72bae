"""A cascade is right where the first run is confident and right, or else the second is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.results.abstention import abstention_curve, guaranteed_threshold
from calib_core.results.cascade import (
    Cascade,
    Costs,
    cascade,
    cascade_headline,
    cascade_table,
    cascade_threshold,
)
from calib_core.results.evidence import AnswerEvidence
from calib_core.runs import Corrections
from core.run_builders import block_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows

ROWS = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.booleans()), min_size=1, max_size=30)


def runs_of(rows: list[tuple[int, bool, bool]]) -> tuple[AnswerEvidence, AnswerEvidence]:
    """Confidence of the first in eighths, and both outcomes; the second run has its rows in reverse."""
    ids = [f"q{at}" for at in range(len(rows))]
    first = given_evidence([c / 8 for c, _, _ in rows], [one for _, one, _ in rows], id=ids)
    second = given_evidence([0.5] * len(rows), [two for _, _, two in rows][::-1], id=ids[::-1])
    return first, second


@given(ROWS, st.integers(0, 9))
def test_every_threshold_is_what_counting_gives(rows: list[tuple[int, bool, bool]], eighths: int) -> None:
    found = cascade(*runs_of(rows))
    point = found.at_threshold(eighths / 8)
    assert point.n_correct == sum(one if c >= eighths else two for c, one, two in rows)
    assert point.share_handed == pytest.approx(sum(c < eighths for c, _, _ in rows) / len(rows))
    assert found.first_alone.n_correct == sum(one for _, one, _ in rows)
    assert found.second_alone.n_correct == sum(two for _, _, two in rows)
    for step, least in enumerate(sorted({c for c, _, _ in rows}, reverse=True)):
        assert found.n_correct[step] == sum(one if c >= least else two for c, one, two in rows)
        assert found.at_step(step) == found.at_threshold(least / 8)


def fifty() -> Cascade:
    """Confident and right, or not and wrong, where the second run is right on all but ten."""
    rows = [(8, True, at >= 10) for at in range(25)] + [(2, False, True) for _ in range(25)]
    return cascade(*runs_of(rows))


def test_gains_are_paired() -> None:
    found = fifty()
    over_first, over_second = found.gain_over(0.5, "first"), found.gain_over(0.5, "second")
    assert over_first is not None
    assert over_second is not None
    assert (over_first.difference, over_second.difference) == (0.5, 0.2)
    assert over_first.low > 0
    assert over_second.low > 0
    assert over_first.n_clusters == 50
    same = found.gain_over(0, "first")
    assert same is not None
    assert (same.low, same.high) == (0, 0)
    other = found.gain_over(1.1, "first")
    assert other is not None
    assert other.difference == pytest.approx(40 / 50 - 0.5)
    nothing = found.gain_over(1.1, "second")
    assert nothing is not None
    assert (nothing.low, nothing.high) == (0, 0)
    few = cascade(*runs_of([(8, True, False), (2, False, True)]))
    assert few.gain_over(0.5, "first") is None


def test_the_recipe_names_the_corrections_of_both_runs() -> None:
    first, second = runs_of([(8, True, at >= 10) for at in range(25)] + [(2, False, True) for _ in range(25)])
    assert "corrections" not in cascade(first, second).recipe
    runs = [
        replace(one, run=replace(one.run, corrections=Corrections(file, n, 0, one.run.rows, one.run.rows)))
        for one, file, n in ((first, "one.csv", 1), (second, "two.csv", 2))
    ]
    recipe = cascade(*runs).recipe
    assert recipe.index("two.csv") < recipe.index("one.csv")


def test_only_common_usable_questions_count() -> None:
    first = given_evidence([0.9, 0.9, None, 0.2], [1, 0, 1, 1], id=["a", "b", "c", "d"])
    second = given_evidence([0.5, 0.5, 0.5, 0.5], [0, 1, 1, None], id=["a", "b", "c", "d"])
    found = cascade(first, second)
    assert (found.n_common, found.first_alone.n_correct, found.second_alone.n_correct) == (2, 1, 1)


def test_repeated_questions_are_clusters() -> None:
    columns = {"id": [f"t{at}" for at in range(120)], "trial_of": [f"q{at // 2}" for at in range(120)]}
    first = given_evidence(np.tile([0.9, 0.2], 60), np.tile([1, 0], 60), **columns)
    second = given_evidence([0.5] * 120, np.tile([0, 1], 60), **columns)
    gain = cascade(first, second).gain_over(0.5, "first")
    assert gain is not None
    assert (gain.n_rows, gain.n_clusters) == (120, 60)


def test_what_cannot_be_joined_is_refused() -> None:
    first, _ = runs_of([(8, True, True), (2, False, True)])
    others = given_evidence([0.5], [1], id=["elsewhere"])
    with pytest.raises(Unavailable, match="no question in common"):
        cascade(first, others)
    with pytest.raises(Unavailable, match="need an id"):
        cascade(first, block_evidence((0.5, 3, 1)))
    with pytest.raises(Unavailable, match="sums only"):
        cascade(first, dense_evidence(*random_rows(30, 4)))


def test_the_first_run_is_always_paid() -> None:
    assert Costs(1, 10).cascade(0.25) == 3.5
    table = cascade_table(fifty(), 0.5, ("small", "large"), Costs(1, 10))
    assert table["cost"].to_list() == [1, 10, 6]
    assert table["accuracy"].to_list() == [0.5, 0.8, 1.0]
    assert table["gain"].to_list() == [0.5, pytest.approx(0.2), None]
    assert table["gain_low"][0] > 0
    assert cascade_table(fifty(), 0.5, ("small", "large"))["cost"].to_list() == [None] * 3


def test_the_headline_names_both() -> None:
    assert cascade_headline(fifty(), 0.5, ("small", "large")) == (
        "Hand questions with a confidence below 0.5 to large: accuracy 100.0 %, with 50.0 % of the questions "
        "handed on. Alone, small reaches 50.0 % and large 80.0 %."
    )
    first = given_evidence([0.9, 0.2], [True, False], id=["a", "b"])
    second = given_evidence([0.5, 0.5], [False, False], id=["a", "b"])
    assert cascade_headline(cascade(first, second), 0.5, ("small", "large")).startswith(
        "Handing questions with a confidence below 0.5 to large gains nothing over small alone: accuracy 50"
    )
    assert "small answers all" in cascade_headline(fifty(), 0.1, ("small", "large"))
    assert "large answers all" in cascade_headline(fifty(), 1.1, ("small", "large"))


def test_the_threshold_is_typed_guaranteed_or_empirical() -> None:
    curve = abstention_curve(block_evidence((0.9, 200, 190), (0.5, 200, 100)))
    found = guaranteed_threshold(curve, 0.9)
    assert cascade_threshold(found, 0.7)[0] == 0.7
    assert cascade_threshold(found, None) == (0.9, "the guaranteed threshold")
    empirical = cascade_threshold(guaranteed_threshold(curve, 0.95), None)
    assert empirical[0] == 0.9
    assert "empirical" in empirical[1]
    assert cascade_threshold(guaranteed_threshold(curve, 0.99), None)[0] == 0.9


def test_the_frame_has_a_row_for_each_threshold() -> None:
    frame = fifty().to_frame()
    assert frame["threshold"].to_list() == [1.0, 0.25]
    assert frame["handed_on"].to_list() == [0.5, 0.0]
    assert frame["accuracy"].to_list() == [1.0, 0.5]
    assert "on 50 questions of both" in frame["recipe"][0]
