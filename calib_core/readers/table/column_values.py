"""The first values of one column, and whether they fit a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from calib_core.readers.table.cells import (
    PLAIN_NUMBER,
    ColumnJudge,
)
from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
)
from calib_core.runs import is_missing, schema_name

MIN_FITTING: Final = 0.95
"""Least share of values that fit what a column is taken for."""
UNKNOWN_NUMBERS: Final = frozenset({"n/a", "na", "none", "null", "nan", "unknown", "-", "?"})
"""What stands in a column of numbers for none."""

NUMBER: Final = re.compile(PLAIN_NUMBER)
_OUT_OF: Final = re.compile(r"[0-9.]+ *(?:/|out of) *([1-9][0-9]{0,2})")
_FRACTION: Final = re.compile(r"[+-]?[0-9]*\.[0-9]+%?")


@dataclass(frozen=True)
class ColumnValues:
    """The first values of one column.

    Attributes
    ----------
    name : str
    raw : pl.Series
        Not nested.
    """

    name: str
    raw: pl.Series

    @cached_property
    def texts(self) -> list[str | None]:
        """The values as stripped texts; None where missing."""
        if isinstance(self.raw.dtype, pl.Binary | pl.Duration | pl.Object):
            return [None] * self.raw.len()
        values = self.raw.cast(pl.String, strict=False).to_list()
        return [None if value is None else value.strip() or None for value in values]

    @cached_property
    def lowered(self) -> list[str | None]:
        """The same in lower case."""
        return [text and text.lower() for text in self.texts]

    @cached_property
    def present(self) -> list[str]:
        """The texts that are there."""
        return [text for text in self.texts if text is not None]

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers, possibly with a percent sign."""
        bare = (text.removesuffix("%").rstrip() for text in self.present)
        return [float(text) for text in bare if NUMBER.match(text)]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The texts that stand for no number."""
        return tuple(sorted({text for text in self.present if text.lower() in UNKNOWN_NUMBERS}))

    @cached_property
    def are_numbers(self) -> bool:
        """Whether nearly all values that are known are numbers."""
        n_known = sum(text not in self.unknown for text in self.present)
        return bool(self.numbers) and len(self.numbers) >= MIN_FITTING * n_known

    @cached_property
    def out_of(self) -> int | None:
        """What all values that are known are out of, as in "8/10"; None where they are not written so."""
        matches = [_OUT_OF.fullmatch(text) for text in self.present if text not in self.unknown]
        tops = {match and match[1] for match in matches}
        top = tops.pop() if len(tops) == 1 else None
        return None if top is None else int(top)

    @cached_property
    def are_letters(self) -> bool:
        """Whether all values are letters of choices, from A to J."""
        return all(len(text) == 1 and "A" <= text.upper() <= "J" for text in self.present)

    @cached_property
    def has_fractions(self) -> bool:
        """Whether values are floats, or one of the texts is a number with a decimal point."""
        return self.raw.dtype.is_float() or any(map(_FRACTION.fullmatch, self.present))

    @cached_property
    def are_shares(self) -> bool:
        """Whether all values are numbers from 0 to 1, and not all 0 or 1."""
        return (
            self.are_numbers
            and min(self.numbers) >= 0
            and max(self.numbers) <= 1
            and not set(self.numbers) <= {0, 1}
            and not self.present[0].endswith("%")
        )

    @cached_property
    def range_text(self) -> str:
        """The range of the numbers, in words."""
        return f"values from {min(self.numbers):.4g} to {max(self.numbers):.4g}"


def fits(raw: pl.Series, name: str, share: float = 0.5) -> bool:
    """Return whether at least a share of the values present can be read as `name`."""
    return share_fitting(raw, COLUMN_JUDGES[schema_name(name)]) >= share


def share_fitting(raw: pl.Series, judge: ColumnJudge) -> float:
    """Return the share of the values present that a judge can read; 1 where none is."""
    n_present = raw.len() - int(is_missing(raw).sum())
    judged = judge(raw).values
    return (judged.len() - judged.null_count()) / n_present if n_present else 1.0
