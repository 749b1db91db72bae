"""Two merged parts of a run equal the whole run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.errors import Refused
from calib_core.tokens.grid import SERVED_BINS
from calib_core.tokens.sums import MAX_EXAMPLES, TokenSums, UnstoredBounds
from core.tokens.distributions import language
from core.tokens.test_dense import reduce_blocks


def make_part(
    rows: int, seed: int, classes: int = 4, *, by_class: bool = True, draws: bool = True
) -> TokenSums:
    values = language(np.random.default_rng(seed), rows, classes, np.float64)
    return reduce_blocks(values, np.arange(rows) % classes, by_class=by_class, draws=draws)


def test_one_k() -> None:
    with pytest.raises(ValueError, match="not 4 and 5"):
        make_part(3, 1).merge(make_part(3, 1, 5))


def test_the_merged_run_lacks_what_one_part_lacks() -> None:
    whole, without = make_part(5, 1), make_part(6, 2, by_class=False, draws=False)
    for both in (whole.merge(without), without.merge(whole)):
        assert (both.n_rows, both.by_class, both.draws) == (11, None, None)
        assert both.no_class_sums_reason == without.no_class_sums_reason
    assert whole.merge(whole).no_class_sums_reason is None


def test_counts_are_added_and_examples_cut() -> None:
    one, other = make_part(50, 1), make_part(40, 2)
    both = one.merge(other)
    assert both.n_rows == both.top_label.n_rows == both.all_labels.n_rows == 90
    assert both.occurrences.sum() == 90
    assert both.sum_deviation == one.sum_deviation + other.sum_deviation
    assert both.examples == (*one.examples, *other.examples)[:MAX_EXAMPLES]


def test_unseen_values_are_added() -> None:
    mass = {bins: np.full(bins, 0.5) for bins in SERVED_BINS}
    unseen = UnstoredBounds(dict.fromkeys(SERVED_BINS, 2), mass, min_stored=7)
    one, other = make_part(3, 1), make_part(3, 2)
    both = replace(one, unstored=unseen).merge(replace(other, unstored=replace(unseen, min_stored=5)))
    assert both.unstored is not None
    assert (both.unstored.n_ambiguous[10], both.unstored.min_stored) == (4, 5)
    assert both.unstored.mass_bounds[10].tolist() == [1.0] * 10
    assert one.merge(replace(other, unstored=unseen)).unstored is unseen
    assert replace(one, unstored=unseen).merge(other).unstored is unseen


def test_more_positions_than_draws_can_count_are_refused() -> None:
    part = replace(make_part(3, 1), n_rows=2**30)
    assert part.merge(replace(part, n_rows=2**30 - 1)).n_rows == 2**31 - 1
    with pytest.raises(
        Refused, match="at most 2,147,483,647 positions, and the parts of this one have 2,147,483,648"
    ):
        part.merge(part)
