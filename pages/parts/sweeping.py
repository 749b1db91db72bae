"""Over which M, of which metrics and runs, does the person want to see the number?  Controls → one sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.sweep import PAPER_BINS, SWEPT_METRICS
from calib_core.bins import MAX_BINS
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.robustness import SWEEPABLE_METRICS
from pages.parts import cache
from pages.parts.address import UrlState
from pages.parts.literal import escape_markdown
from pages.parts.picking import pick_segment
from pages.parts.runs import LoadedRun
from pages.parts.several import multiselect
from pages.parts.whole import NumberListSpec, number_list_input

PAPER_BINS_TEXT: Final = ", ".join(map(str, PAPER_BINS))
MAX_BIN_COUNTS: Final = 24
"""So many M at once: more could not be told apart."""
DDOF_TITLES: Final = {"0": "all M (ddof 0)", "1": "sample (ddof 1)"}


@dataclass(frozen=True, slots=True, eq=False)
class SweepChoice:
    """bins: the set of M, ascending; beside: other runs seen by the same method."""

    bin_counts: tuple[int, ...]
    metrics: tuple[str, ...]
    ddof: int
    other_runs: tuple[tuple[LoadedRun, Evidence], ...]


def pick_sweep(url_state: UrlState, run: LoadedRun, evidence: Evidence, runs: Sequence[LoadedRun]) -> SweepChoice:
    """The controls of the Robustness page below run and method."""
    beside = _pick_other_runs(url_state, run, evidence, runs)
    metrics = multiselect(
        url_state, "metrics", SWEEPABLE_METRICS, label="Metrics", title_of=lambda id_: METRICS[id_].title, default=SWEPT_METRICS,
        help_="A curve each: those that count bins of equal width.",
    )
    bins = _pick_bin_counts(url_state)
    ddof = pick_segment(
        url_state, "ddof", DDOF_TITLES, label="Spread for the RSD",
        help_="Divide the squared differences from the mean by the number of M, or by one less.",
    )
    return SweepChoice(bins, tuple(metrics), int(ddof), beside)


def _pick_other_runs(
    url_state: UrlState, run: LoadedRun, evidence: Evidence, runs: Sequence[LoadedRun]
) -> tuple[tuple[LoadedRun, Evidence], ...]:
    """Other runs that the same method can be read off, under the same switches."""
    method = evidence.method.id
    able = {other.id: other for other in runs if other is not run and method in other.report.survey.usable}
    chosen = multiselect(
        url_state, "runs", list(able), label="Side by side with", title_of=lambda id_: able[id_].title,
        placeholder="other runs",
        help_="Other runs that give the same confidence, each with curves of its own.",
    )
    seen: list[tuple[LoadedRun, Evidence]] = []
    for other in (able[id_] for id_ in chosen):
        try:
            own = cache.run_evidence(other.report, other.file.stamp, method, evidence.options)
        except Unavailable as reason:
            st.caption(f"**{escape_markdown(other.title)}**: {escape_markdown(str(reason))}")
        else:
            seen.append((other, own))
    return tuple(seen)


def _pick_bin_counts(url_state: UrlState) -> tuple[int, ...]:
    """The set of M."""
    return number_list_input(url_state, "ms", NumberListSpec(
        "Set of M", "a number of bins", MAX_BINS, MAX_BIN_COUNTS,
        f"Whole numbers from 1 to {MAX_BINS}, with commas. The Full-ECE paper's seven: {PAPER_BINS_TEXT}.", PAPER_BINS,
    ))
