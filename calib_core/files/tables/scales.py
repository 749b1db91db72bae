"""Is a whole column written on another scale: percentages where probabilities are meant?

One such value is a slip, and its row is bad. Where most are above 1, leaving those rows out would
keep the lowest percentages and take them for probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from calib_core.files.tables.judged import Judged
from calib_core.files.tables.numbers import OUT_OF_RANGE, parsed


@dataclass(slots=True)
class Scale:
    """The numbers met so far in a column of probabilities: how many in all, above 1, above 100.

    example: the first of them that is out of range, as it stands.
    """

    numbers: int = 0
    above_one: int = 0
    above_hundred: int = 0
    example: str = ""

    def weigh(self, raw: pl.Series, judged: Judged) -> None:
        """Takes one slice of the column."""
        self.numbers += judged.values.len() - judged.values.null_count()
        for fault in judged.faults:
            if fault.kind == OUT_OF_RANGE:
                far, _ = parsed(raw.gather(fault.at))
                self.numbers += far.len()
                self.above_one += int((far > 1).sum())
                self.above_hundred += int((far > 100).sum())
                self.example = self.example or fault.found[0]

    @property
    def percentages(self) -> bool:
        """Whether most numbers are above 1, and none above 100."""
        return 2 * self.above_one > self.numbers and not self.above_hundred
