"""Are two parts of a run one run when they are merged?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.tokens.grid import SERVED_BINS
from calib_core.tokens.sums import MAX_EXAMPLES, TokenSums, UnstoredBounds
from core.tokens.made_rows import language
from core.tokens.test_dense import reduced


def part(rows: int, seed: int, classes: int = 4, *, by_class: bool = True, draws: bool = True) -> TokenSums:
    values = language(np.random.default_rng(seed), rows, classes, np.float64)
    return reduced(values, np.arange(rows) % classes, by_class=by_class, draws=draws)


def test_one_k() -> None:
    with pytest.raises(ValueError, match="not 4 and 5"):
        part(3, 1).merge(part(3, 1, 5))


def test_what_one_part_lacks_the_whole_lacks() -> None:
    whole, without = part(5, 1), part(6, 2, by_class=False, draws=False)
    for both in (whole.merge(without), without.merge(whole)):
        assert (both.rows, both.by_class, both.draws) == (11, None, None)
        assert both.no_class_sums_reason == without.no_class_sums_reason
    assert whole.merge(whole).no_class_sums_reason is None


def test_counts_are_added_and_examples_cut() -> None:
    one, other = part(50, 1), part(40, 2)
    both = one.merge(other)
    assert both.rows == both.top_label.rows == both.all_labels.rows == 90
    assert both.occurrences.sum() == 90
    assert both.sum_deviation == one.sum_deviation + other.sum_deviation
    assert both.examples == (*one.examples, *other.examples)[:MAX_EXAMPLES]


def test_what_is_unseen_is_added() -> None:
    mass = {bins: np.full(bins, 0.5) for bins in SERVED_BINS}
    unseen = UnstoredBounds(dict.fromkeys(SERVED_BINS, 2), mass, min_stored=7)
    one, other = part(3, 1), part(3, 2)
    both = replace(one, unstored=unseen).merge(replace(other, unstored=replace(unseen, min_stored=5)))
    assert both.unstored is not None
    assert (both.unstored.n_ambiguous[10], both.unstored.min_stored) == (4, 5)
    assert both.unstored.mass_bounds[10].tolist() == [1.0] * 10
    assert one.merge(replace(other, unstored=unseen)).unstored is unseen
    assert replace(one, unstored=unseen).merge(other).unstored is unseen
