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
from calib_core.wording import count

PAPER_SIZES: Final = (4, 8, 16, 32, 64)
"""The N of the self-consistency paper's Figure 2."""


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """What is drawn.

    sizes: N', ascending; rows: the questions drawn from, ascending positions in the run, shape (n,); samples:
    the fewest and the most samples of these; greyed: size → why its spread is not to be believed; refused:
    size asked for → why it is not among `sizes`; against: the largest size not greyed, None where all are.
    """

    sizes: tuple[int, ...]
    rows: NDArray[np.intp]
    samples: tuple[int, int]
    greyed: Mapping[int, str]
    refused: Mapping[int, str]
    against: int | None


def sizes_of(
    counted: NDArray[np.int64], usable: NDArray[np.intp], asked: Sequence[int] | None = None
) -> Sizes:
    """The sizes that at least half of the usable questions have samples for, and those questions.

    counted: samples of each row, shape (rows,); usable: rows that may be drawn from; asked: sizes, None:
    `usual` ones. Raises Unavailable where no size is left.
    """
    held = counted[usable]
    if not held.size:
        raise Unavailable("Not one question has samples that are all judged.")
    common = int(np.sort(held)[::-1][(held.size - 1) // 2])
    if asked is None:
        asked = usual(common)
    refused = {size: why for size in asked if (why := _refusal(size, held, common))}
    sizes = tuple(sorted({int(size) for size in asked} - refused.keys()))
    if not sizes:
        reasons = " ".join(dict.fromkeys(refused.values()))
        raise Unavailable(reasons or "At least one number of samples N' is needed.")
    rows = usable[held >= sizes[-1]]
    fewest, most = int(counted[rows].min()), int(counted[rows].max())
    greyed = {size: _overlap(size, fewest, most) for size in sizes if 2 * size > fewest}
    clear = [size for size in sizes if size not in greyed]
    return Sizes(sizes, rows, (fewest, most), greyed, refused, clear[-1] if clear else None)


def usual(samples: int) -> tuple[int, ...]:
    """Those of PAPER_SIZES that there are; 2 besides where 8 is greyed, to have something to compare 4 with.

    All samples where there are fewer than four.
    """
    least = (2,) if PAPER_SIZES[0] <= samples < 2 * PAPER_SIZES[1] else ()
    return (*least, *(size for size in PAPER_SIZES if size <= samples)) or (samples,)


def _refusal(size: int, held: NDArray[np.int64], common: int) -> str | None:
    if size < 2:
        return f"N' = {size}: one sample agrees with itself and gives no self-consistency."
    if size <= common:
        return None
    have = int((held >= size).sum())
    of = count(held.size, "question")
    whom = f"{have:,} of {of} {'has' if have == 1 else 'have'}" if have else "no question has"
    return f"N' = {size}: {whom} so many samples; up to {common} can be drawn here."


def _overlap(size: int, fewest: int, most: int) -> str:
    if size == fewest == most:
        return f"N' = {size} is every sample: there is one subset only, and no spread."
    return (
        f"N' = {size} is more than half of {fewest} samples: subsets overlap, "
        "so they differ less than new samples would."
    )
