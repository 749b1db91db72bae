"""Where something is more frequent: every group against all rows outside it, p corrected for all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from calib_core.inference.group_contrasts import contrast_groups
from calib_core.inference.multiplicity import holm


def test_p_is_fishers_and_corrected_for_all_groups() -> None:
    random = np.random.default_rng(1)
    group, other = random.integers(0, 3, 200), random.integers(0, 2, 200)
    outcome = random.random(200) < np.where(group == 1, 0.85, 0.5)
    found = contrast_groups(outcome, {"task": (("a", "b", "c"), group), "half": (("x", "y"), other)})
    assert {(one.column, one.group) for one in found} == {
        ("task", "a"), ("task", "b"), ("task", "c"), ("half", "x")
    }  # fmt: skip
    assert [one.p for one in found] == sorted(one.p for one in found)
    assert [one.p_holm for one in found] == pytest.approx(list(holm([one.p for one in found])))
    first = found[0]
    inside = group == 1
    assert (first.group, first.n, first.is_clear) == ("b", int(inside.sum()), True)
    assert first.difference == pytest.approx(outcome[inside].mean() - outcome[~inside].mean())
    table = [[int((outcome & side).sum()), int((~outcome & side).sum())] for side in (inside, ~inside)]
    assert first.p == pytest.approx(scipy.stats.fisher_exact(np.array(table)).pvalue, rel=0.6)


def test_rows_in_no_group_are_outside_every_group() -> None:
    number = np.array([0] * 40 + [-1] * 60)
    outcome = np.array([True] * 30 + [False] * 10 + [True] * 15 + [False] * 45)
    (found,) = contrast_groups(outcome, {"task": (("a",), number)})
    assert (found.n, found.difference) == (40, pytest.approx(0.75 - 0.25))


def test_strata_compare_like_with_like() -> None:
    """A group with more of what passes anyway is not favoured."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 2000)
    group = (random.random(2000) < np.where(truth == 1, 0.8, 0.2)).astype(np.intp)
    passes = random.random(2000) < np.where(truth == 1, 0.9, 0.1)
    groups = {"system": (("a", "b"), group)}
    (crude,) = contrast_groups(passes, groups)
    (fair,) = contrast_groups(passes, groups, truth)
    assert crude.is_clear
    assert not fair.is_clear
    assert abs(fair.difference) < 0.05 < abs(crude.difference)
