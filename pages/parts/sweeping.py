"""Over which M, of which metrics and runs, does the person want to see the number?  Controls → one sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.sweep import PAPER_BINS, SWEPT
from calib_core.bins import MAX_BINS
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.robustness import SWEEPABLE
from pages.parts import cache
from pages.parts.address import Address
from pages.parts.literal import literal
from pages.parts.picking import segments
from pages.parts.runs import Run
from pages.parts.several import several
from pages.parts.whole import Numbers, whole_numbers

PAPER: Final = ", ".join(map(str, PAPER_BINS))
MOST: Final = 24
"""So many M at once: more could not be told apart."""
DDOF: Final = {"0": "all M (ddof 0)", "1": "sample (ddof 1)"}


@dataclass(frozen=True, slots=True, eq=False)
class Sweeping:
    """bins: the set of M, ascending; beside: other runs seen by the same method."""

    bins: tuple[int, ...]
    metrics: tuple[str, ...]
    ddof: int
    beside: tuple[tuple[Run, Evidence], ...]


def sweeping(address: Address, run: Run, evidence: Evidence, runs: Sequence[Run]) -> Sweeping:
    """The controls of the Robustness page below run and method."""
    beside = _beside(address, run, evidence, runs)
    metrics = several(
        address, "metrics", SWEEPABLE, label="Metrics", titled=lambda id_: METRICS[id_].title, default=SWEPT,
        help_="A curve each: those that count bins of equal width.",
    )
    bins = _set_of_m(address)
    ddof = segments(
        address, "ddof", DDOF, label="Spread for the RSD",
        help_="Divide the squared differences from the mean by the number of M, or by one less.",
    )
    return Sweeping(bins, tuple(metrics), int(ddof), beside)


def _beside(
    address: Address, run: Run, evidence: Evidence, runs: Sequence[Run]
) -> tuple[tuple[Run, Evidence], ...]:
    """Other runs that the same method can be read off, under the same switches."""
    method = evidence.method.id
    able = {other.id: other for other in runs if other is not run and method in other.report.survey.usable}
    chosen = several(
        address, "runs", list(able), label="Side by side with", titled=lambda id_: able[id_].title,
        placeholder="other runs",
        help_="Other runs that give the same confidence, each with curves of its own.",
    )
    seen: list[tuple[Run, Evidence]] = []
    for other in (able[id_] for id_ in chosen):
        try:
            own = cache.seen(other.report, other.file.stamp, method, evidence.options)
        except Unavailable as reason:
            st.caption(f"**{literal(other.title)}**: {literal(str(reason))}")
        else:
            seen.append((other, own))
    return tuple(seen)


def _set_of_m(address: Address) -> tuple[int, ...]:
    """The set of M."""
    return whole_numbers(address, "ms", Numbers(
        "Set of M", "a number of bins", MAX_BINS, MOST,
        f"Whole numbers from 1 to {MAX_BINS}, with commas. The Full-ECE paper's seven: {PAPER}.", PAPER_BINS,
    ))
