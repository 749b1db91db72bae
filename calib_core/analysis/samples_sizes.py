"""Which N' can be drawn, from which questions, and of which is the spread to be believed?

All sizes stand on the same questions: those with as many samples as the largest size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.problems import Unavailable
from calib_core.wording import plural

PAPER_SIZES: Final = (4, 8, 16, 32, 64)
"""The N of the self-consistency paper's Figure 2."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsampleSizes:
    """What is drawn.

    sizes: N', ascending; rows: the questions drawn from, ascending positions in the run, shape (n,); samples:
    the fewest and the most samples of these; greyed: size → why its spread is not to be believed; refused:
    size asked for → why it is not among `sizes`; against: the largest size not greyed, None where all are.
    """

    sizes: tuple[int, ...]
    question_rows: NDArray[np.intp]
    sample_range: tuple[int, int]
    spread_caveats: Mapping[int, str]
    unavailable: Mapping[int, str]
    reference_size: int | None


def subsample_sizes(
    n_samples: NDArray[np.int64], usable: NDArray[np.intp], requested: Sequence[int] | None = None
) -> SubsampleSizes:
    """The sizes that at least half of the usable questions have samples for, and those questions.

    counted: samples of each row, shape (rows,); usable: rows that may be drawn from; asked: sizes, None:
    `usual` ones. Raises Unavailable where no size is left.
    """
    held = n_samples[usable]
    if not held.size:
        raise Unavailable("Not one question has samples that are all judged.")
    common = int(np.sort(held)[::-1][(held.size - 1) // 2])
    if requested is None:
        requested = default_sizes(common)
    refused = {size: why for size in requested if (why := _size_unavailable_reason(size, held, common))}
    sizes = tuple(sorted({int(size) for size in requested} - refused.keys()))
    if not sizes:
        reasons = " ".join(dict.fromkeys(refused.values()))
        raise Unavailable(reasons or "At least one number of samples N' is needed.")
    rows = usable[held >= sizes[-1]]
    fewest, most = int(n_samples[rows].min()), int(n_samples[rows].max())
    greyed = {size: _overlap_caveat(size, fewest, most) for size in sizes if 2 * size > fewest}
    clear = [size for size in sizes if size not in greyed]
    return SubsampleSizes(sizes, rows, (fewest, most), greyed, refused, clear[-1] if clear else None)


def default_sizes(n_samples: int) -> tuple[int, ...]:
    """Those of PAPER_SIZES that there are; 2 besides where 8 is greyed, to have something to compare 4 with.

    All samples where there are fewer than four.
    """
    least = (2,) if PAPER_SIZES[0] <= n_samples < 2 * PAPER_SIZES[1] else ()
    return (*least, *(size for size in PAPER_SIZES if size <= n_samples)) or (n_samples,)


def _size_unavailable_reason(size: int, n_samples: NDArray[np.int64], common: int) -> str | None:
    if size < 2:
        return f"N' = {size}: one sample agrees with itself and gives no self-consistency."
    if size <= common:
        return None
    have = int((n_samples >= size).sum())
    of = plural(n_samples.size, "question")
    whom = f"{have:,} of {of} {'has' if have == 1 else 'have'}" if have else "no question has"
    return f"N' = {size}: {whom} so many samples; up to {common} can be drawn here."


def _overlap_caveat(size: int, fewest: int, most: int) -> str:
    if size == fewest == most:
        return f"N' = {size} is every sample: there is one subset only, and no spread."
    return (
        f"N' = {size} is more than half of {fewest} samples: subsets overlap, "
        "so they differ less than new samples would."
    )
