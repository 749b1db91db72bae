"""Which rows of probabilities are in order, and which of their entries have to be listed?

Spec: a value outside [0, 1] by at most 1e-6 is clipped; one farther out, NaN, or a sum that is off by more
than 1e-3 makes a bad row. A row in order is used as stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.faults import Kind
from calib_core.tokens.halves import HalfScratch
from calib_core.tokens.positions import Look, group_size
from calib_core.tokens.scratch import Found, Scratch, WideScratch
from calib_core.tokens.stored import bits, one, widened

SLACK: Final = 1e-6
"""How far outside [0, 1] a value is clipped, and how far from 1 a sum is not worth a word."""

SUM_SLACK: Final = 1e-3
"""How far from 1 the sum of a row may be."""

NOT_FINITE: Final = Kind("not finite", "finite numbers", "Write the file again, or leave these rows out.")
OUTSIDE: Final = Kind(
    "outside [0, 1]",
    "probabilities from 0 to 1",
    "Say whether these are log-probabilities or logits, or leave these rows out.",
)
SUM: Final = Kind(
    "sum not 1",
    f"probabilities that add up to 1 within {SUM_SLACK}",
    "Store the whole distribution, or leave these rows out.",
)

MANY: Final = 4096
"""From so many classes on, a row is long: few of its entries are listed."""

Report = Callable[[int, Kind, str], None]
"""Is told of a bad row: which one, in what way, what was found."""


class Looker(Protocol):
    """Looks rows through, all of one K and dtype."""

    def look(self, rows: NDArray[Any], bad: Report) -> Look:
        """What is to be known of the rows in order; the others are reported. rows: shape (n, K)."""
        ...


def looker(classes: int, dtype: np.dtype[Any]) -> Looker:
    """The way that suits so many classes in that dtype."""
    if classes < MANY:
        return ShortRows(classes)
    return LongRows(HalfScratch(classes) if dtype == np.float16 else WideScratch(classes, dtype), dtype)


class ShortRows:
    """Few classes: every entry is listed, many rows at once."""

    def __init__(self, classes: int) -> None:
        self._classes = classes

    def look(self, rows: NDArray[Any], bad: Report) -> Look:
        """See `Looker`."""
        usable = np.ones(rows.shape[0], np.bool_)
        clipped = np.zeros(rows.shape[0], np.int64)
        wrong = np.flatnonzero(bits(rows).max(axis=1) > one(rows.dtype))
        if wrong.size:
            rows = rows.copy()
            for row in wrong.tolist():
                usable[row], clipped[row] = mend(rows[row], row, bad)
        total = np.add.reduce(widened(rows), axis=1)
        for row in np.flatnonzero(usable & ~(np.abs(total - 1) <= SUM_SLACK)).tolist():
            usable[row] = False
            bad(row, SUM, f"{total[row]:.6g}")
        kept = np.flatnonzero(usable)
        values = rows if kept.size == rows.shape[0] else rows[kept]
        return Look(
            kept=kept,
            values=values,
            start=np.arange(kept.size + 1) * self._classes,
            column=np.tile(np.arange(self._classes), kept.size),
            prob=widened(values).ravel(),
            rest=np.zeros(kept.size),
            squares=np.zeros(kept.size),
            groups=None,
            limit=-1,
            clipped=int(clipped[kept].sum()),
        )


class LongRows:
    """Many classes: row by row in one small scratch, few entries listed."""

    def __init__(self, scratch: Scratch, dtype: np.dtype[Any]) -> None:
        self._scratch = scratch
        self._dtype = dtype
        self._one = one(dtype)

    def look(self, rows: NDArray[Any], bad: Report) -> Look:
        """See `Looker`."""
        found = self._scratch.find(rows)
        clipped = np.zeros(found.count.size, np.int64)
        usable = np.ones(found.count.size, np.bool_)
        row_of = np.repeat(np.arange(usable.size), found.count)
        wrong = np.unique(row_of[found.bits > self._one])
        if wrong.size:
            rows = rows.copy()
            for row in wrong.tolist():
                usable[row], clipped[row] = mend(rows[row], row, bad)
            rows[~usable] = 0
            found = self._scratch.find(rows)
        look = self._with_top(rows, found)
        for row in np.flatnonzero(usable & (np.abs(look.total - 1) > SUM_SLACK)).tolist():
            usable[row] = False
            bad(row, SUM, f"{look.total[row]:.6g}")
        return look if usable.all() and not wrong.size else _only(look, usable, clipped)

    def _with_top(self, rows: NDArray[Any], found: Found) -> Look:
        """Every row has a listed entry: where none is large, its top label."""
        start = np.concatenate([np.zeros(1, np.intp), np.cumsum(found.count)])
        none = np.flatnonzero(found.count == 0)
        column, stored = found.column, found.bits
        if none.size:
            top = np.argmax(bits(rows[none]), axis=1)
            stored = np.insert(stored, start[none], bits(rows)[none, top])
            column = np.insert(column, start[none], top)
            prob = widened(rows[none, top])
            found.groups[none, top // group_size(rows.shape[1])] -= prob
            found.squares[none] -= prob * prob
            start += np.searchsorted(none, np.arange(start.size))
        return Look(
            kept=np.arange(found.count.size),
            values=rows,
            start=start,
            column=column,
            prob=widened(stored.view(self._dtype)),
            rest=np.maximum(0, found.groups).sum(axis=1),
            squares=np.maximum(0, found.squares),
            groups=np.maximum(0, found.groups),
            limit=self._scratch.limit,
            clipped=0,
        )


def _only(look: Look, usable: NDArray[np.bool_], clipped: NDArray[np.int64]) -> Look:
    """The usable ones of the rows of a look."""
    listed = usable[look.row]
    return Look(
        kept=np.flatnonzero(usable),
        values=look.values[usable],
        start=np.concatenate([np.zeros(1, np.intp), np.cumsum(np.diff(look.start)[usable])]),
        column=look.column[listed],
        prob=look.prob[listed],
        rest=look.rest[usable],
        squares=look.squares[usable],
        groups=None if look.groups is None else look.groups[usable],
        limit=look.limit,
        clipped=int(clipped[usable].sum()),
    )


def mend(values: NDArray[Any], row: int, bad: Report) -> tuple[bool, int]:
    """Clips a row, shape (K,), in place: whether it can be used, and how many values were moved."""
    wide = widened(values)
    for kind, wrong in (
        (NOT_FINITE, ~np.isfinite(wide)),
        (OUTSIDE, (wide < -SLACK) | (wide > 1 + SLACK)),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            bad(row, kind, f"class {at}: {values[at]!s}")
            return False, 0
    values[wide <= 0] = 0  # -0.0 too
    values[wide > 1] = 1
    return True, int(np.count_nonzero((wide < 0) | (wide > 1)))
