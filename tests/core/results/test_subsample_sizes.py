"""Which N' are drawn, from which questions, and which are greyed."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.errors import Unavailable
from calib_core.results.sampling import subsample_sizes


def sizes_of(counted: list[int], asked: tuple[int, ...] | None = None, usable: list[int] | None = None):  # noqa: ANN201
    rows = np.arange(len(counted)) if usable is None else np.array(usable, np.intp)
    return subsample_sizes(np.array(counted), rows, asked)


@pytest.mark.parametrize(
    ("counted", "sizes", "against"),
    [
        ([64] * 5, (4, 8, 16, 32, 64), 32),
        ([16] * 5, (4, 8, 16), 8),
        ([40] * 3, (4, 8, 16, 32), 16),
        ([3] * 3, (3,), None),
        ([7], (2, 4), 2),
        ([8], (2, 4, 8), 4),
    ],
)
def test_default_sizes(counted: list[int], sizes: tuple[int, ...], against: int) -> None:
    found = sizes_of(counted)
    assert (found.sizes, found.reference_size, found.unavailable) == (sizes, against, {})
    assert all(2 * size > counted[0] for size in found.spread_caveats)


def test_half_of_the_samples_is_not_greyed_and_more_is() -> None:
    found = sizes_of([9, 8, 9], (4, 5))
    assert (found.sample_range, found.reference_size, set(found.spread_caveats)) == ((8, 9), 4, {5})
    assert found.spread_caveats[5].startswith("N' = 5 is more than half of 8 samples: subsets overlap")


def test_every_sample_of_every_question_is_distinguished() -> None:
    assert "uses all samples: there is only one subset" in sizes_of([8, 8], (8,)).spread_caveats[8]
    assert "more than half of 8" in sizes_of([8, 9], (8,)).spread_caveats[8]


def test_a_size_that_fewer_than_half_have_is_refused() -> None:
    found = sizes_of([16, 16, 64], (8, 64))
    assert (found.sizes, found.question_rows.tolist()) == ((8,), [0, 1, 2])
    why = "N' = 64: 1 of 3 questions has that many samples; choose up to 16."
    assert found.unavailable == {64: why}
    assert sizes_of([16, 64, 64], (64,)).question_rows.tolist() == [1, 2]
    assert sizes_of([16, 64], (64,)).question_rows.tolist() == [1]
    assert (
        "no question has that many samples; choose up to 64." in sizes_of([16, 64], (8, 65)).unavailable[65]
    )


def test_only_usable_questions_count() -> None:
    found = sizes_of([64, 16, 16], usable=[1, 2])
    assert (found.sizes, found.question_rows.tolist()) == ((4, 8, 16), [1, 2])


@pytest.mark.parametrize("asked", [(1,), (65,), ()])
def test_nothing_left_is_refused_with_the_reason(asked: tuple[int, ...]) -> None:
    with pytest.raises(Unavailable, match="N'"):
        sizes_of([64, 64], asked)
    with pytest.raises(Unavailable, match="No question"):
        sizes_of([64], usable=[])
