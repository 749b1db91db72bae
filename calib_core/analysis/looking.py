"""What is a person looking at?  Which runs, methods, number and rows: one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.evidence import Evidence
from calib_core.bins import Scheme
from calib_core.confidence import METHODS
from calib_core.metrics import METRICS
from calib_core.wording import count, listed

SAID: Final = 2
"""So many names are said; more are counted."""


@dataclass(frozen=True, slots=True)
class Looking:
    """What a page shows, before it is read.

    shown: the picture or table, as "Reliability diagram"; runs, methods: titles, each once; number: metric
    and bins, "" where the picture has none of its own; rows: as of `counted`; kind: what `runs` are where
    they are too many to be named.
    """

    shown: str
    runs: Sequence[str]
    methods: Sequence[str]
    number: str = ""
    rows: str = ""
    kind: str = "runs"

    @property
    def words(self) -> str:
        """"Reliability diagram of A by p(True): ECE, 10 bins of equal width, 90 of 100 rows."."""
        by = f" by {called(self.methods, 'methods')}" if self.methods else ""
        parts = ", ".join(part for part in (self.number, self.rows) if part)
        return f"{self.shown} of {called(self.runs, self.kind)}{by}{f': {parts}' if parts else ''}."


def looking(shown: str, runs: Sequence[str], evidences: Sequence[Evidence], number: str = "") -> Looking:
    """Methods and rows as they are of this evidence; names that come twice are said once."""
    methods = dict.fromkeys(evidence.method.title for evidence in evidences)
    return Looking(shown, tuple(dict.fromkeys(runs)), tuple(methods), number, counted(evidences))


def counted(evidences: Sequence[Evidence]) -> str:
    """"1,300 of 1,319 rows"; of several with different numbers "200 to 1,300 rows each"; "" of none."""
    units = sorted({evidence.unit for evidence in evidences}, reverse=True)
    return counted_of([(evidence.n_used, evidence.n_total) for evidence in evidences], " or ".join(units))


def counted_of(rows: Sequence[tuple[int, int]], unit: str) -> str:
    """The same of (used, in the file) of each; unit: "rows", "positions"."""
    if not rows:
        return ""
    used, totals = [one for one, _ in rows], {total for _, total in rows}
    if len(totals) > 1:
        span = f"{min(used):,} to {max(used):,}" if len(set(used)) > 1 else f"{used[0]:,}"
        return f"{span} {unit} each"
    total = next(iter(totals))
    if len(set(used)) > 1:
        return f"{min(used):,} to {max(used):,} of {total:,} {unit}"
    return f"{used[0]:,} of {count(total, unit.removesuffix('s'))}{' each' if len(rows) > 1 else ''}"


def number_of(metric: str, scheme: Scheme) -> str:
    """"ECE, 10 bins of equal width"; the metric alone where it needs no bins."""
    named = METRICS[metric]
    return f"{named.title}, {bins_of(scheme)}" if named.binned else named.title


def bins_of(scheme: Scheme) -> str:
    """"10 bins of equal width", "1 bin of equal mass", "one bin a distinct confidence"."""
    if scheme.binning == "natural":
        return "one bin a distinct confidence"
    return f"{count(scheme.bins, 'bin')} of equal {scheme.binning}"


def methods_of(ids: Sequence[str]) -> tuple[str, ...]:
    """The titles of methods, each once."""
    return tuple(dict.fromkeys(METHODS[id_].title for id_ in ids))


def called(names: Sequence[str], kind: str) -> str:
    """"A and B", "3 runs"."""
    return listed(names) if 0 < len(names) <= SAID else f"{len(names)} {kind}"
