"""Is a whole column written on another scale: percentages where probabilities are meant?

One such value is a slip, and its row is bad. Where most are above 1, leaving those rows out would
keep the lowest percentages and take them for probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from calib_core.files.tables.judged import JudgedColumn
from calib_core.files.tables.numbers import OUT_OF_RANGE, parse_numbers


@dataclass(slots=True)
class PercentCheck:
    """The numbers met so far in a column of probabilities: how many in all, above 1, above 100.

    example: the first of them that is out of range, as it stands.
    """

    n_numbers: int = 0
    n_above_one: int = 0
    n_above_hundred: int = 0
    example: str = ""

    def add_slice(self, raw: pl.Series, judged: JudgedColumn) -> None:
        """Takes one slice of the column."""
        self.n_numbers += judged.values.len() - judged.values.null_count()
        for fault in judged.faults:
            if fault.kind == OUT_OF_RANGE:
                far, _ = parse_numbers(raw.gather(fault.positions))
                self.n_numbers += far.len()
                self.n_above_one += int((far > 1).sum())
                self.n_above_hundred += int((far > 100).sum())
                self.example = self.example or fault.examples[0]

    @property
    def looks_like_percentages(self) -> bool:
        """Whether most numbers are above 1, and none above 100."""
        return 2 * self.n_above_one > self.n_numbers and not self.n_above_hundred
