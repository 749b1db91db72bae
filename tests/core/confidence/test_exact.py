"""Is F_PC the double nearest to the exact quotient, however many samples there are?"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.confidence import exact
from calib_core.confidence.exact import distinct_rows, pairwise_of
from calib_core.confidence.method import Unparseable


def quotient(sizes: list[int], unparsed: int, rule: Unparseable) -> float:
    others = sorted(size for size in sizes if size)
    largest = others.pop()
    others += {"own": [1] * unparsed, "one": [unparsed] if unparsed else [], "drop": []}[rule]
    return float(math.prod((Fraction(largest, largest + one) for one in others), start=Fraction(1)))


@pytest.mark.parametrize("rule", ["own", "one", "drop"])
@given(
    rows=st.lists(
        st.tuples(st.lists(st.integers(0, 64), min_size=5, max_size=5).filter(any), st.integers(0, 64)),
        min_size=1,
        max_size=8,
    )
)
def test_each_is_the_nearest_double(rule: Unparseable, rows: list[tuple[list[int], int]]) -> None:
    sizes = np.sort(np.array([sizes for sizes, _ in rows]), axis=1)
    unparsed = np.array([count for _, count in rows])
    expected = [quotient(sizes, count, rule) for sizes, count in rows]
    assert pairwise_of(sizes, unparsed, rule).tolist() == expected


def test_sixty_four_different_answers_do_not_overflow() -> None:
    none = np.zeros(1, np.int64)
    assert pairwise_of(np.ones((1, 64), np.int32), none, "own").tolist() == [2.0**-63]
    assert pairwise_of(np.ones((1, 1), np.int32), none + 63, "own").tolist() == [2.0**-63]
    sizes = np.array([[1] * 30 + [34]])
    assert pairwise_of(sizes, none, "own").tolist() == [float(Fraction(34, 35) ** 30)]


def test_a_row_without_clusters_has_none() -> None:
    values = pairwise_of(np.array([[0, 0], [0, 2]]), np.array([3, 0]), "own")
    assert np.isnan(values).tolist() == [True, False]
    assert np.isnan(pairwise_of(np.empty((2, 0), np.int64), np.zeros(2, np.int64), "own")).all()


def test_few_at_a_time_are_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.sort(np.random.default_rng(0).integers(0, 9, (50, 7)), axis=1) + 1
    at_once = pairwise_of(sizes, np.zeros(50, np.int64), "own")
    monkeypatch.setattr(exact, "CELLS", 21)
    assert pairwise_of(sizes, np.zeros(50, np.int64), "own").tolist() == at_once.tolist()


@given(
    st.lists(
        st.lists(st.integers(0, 2**40), min_size=4, max_size=4)
        | st.lists(st.integers(0, 1), min_size=4, max_size=4),
        min_size=1,
        max_size=12,
    )
)
def test_distinct_rows_are_told_apart_however_wide(rows: list[list[int]]) -> None:
    first, which = distinct_rows(np.array(rows))
    assert [rows[first[one]] for one in which] == rows
    assert len({tuple(row) for row in rows}) == first.size
