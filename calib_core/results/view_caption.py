"""A one-sentence caption of the current view: which runs, methods, metric and rows it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.edges import Scheme
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.run_names import full_name
from calib_core.results.score import effective_scheme
from calib_core.runs import AnswerRun
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import format_count, join_names, plural

MAX_NAMED: Final = 2
"""Up to this number, names are listed; beyond it they are counted."""


@dataclass(frozen=True, slots=True)
class ViewCaption:
    """What a page shows.

    Attributes
    ----------
    view : str
        The picture or table, such as "Reliability diagram".
    runs, methods : sequence of str
        Titles, each once; a run's real name follows the one that the user gave it.
    metric_text : str
        Metric and bins; "" where the picture has no metric of its own.
    rows_text : str
        As of `rows_caption`.
    run_noun : str
        What to call `runs` where they are counted.
    missing_note : str
        Why numbers shown have no interval or p-value, in one line; "" where none is missing.
    """

    view: str
    runs: Sequence[str]
    methods: Sequence[str]
    metric_text: str = ""
    rows_text: str = ""
    run_noun: str = "runs"
    missing_note: str = ""

    @property
    def sentence(self) -> str:
        """ "Reliability diagram of A by p(True): ECE, 10 bins of equal width, 90 of 100 rows."."""
        by = f" by {names_or_count(self.methods, 'methods')}" if self.methods else ""
        parts = ", ".join(part for part in (self.metric_text, self.rows_text) if part)
        runs = names_or_count([full_name(run) for run in self.runs], self.run_noun)
        return f"{self.view} of {runs}{by}{f': {parts}' if parts else ''}."


def view_caption(
    view: str, runs: Sequence[str], evidences: Sequence[Evidence], metric_text: str = ""
) -> ViewCaption:
    """The caption of a view of these evidences; duplicate names appear once."""
    methods = dict.fromkeys(evidence.method.title for evidence in evidences)
    return ViewCaption(view, tuple(dict.fromkeys(runs)), tuple(methods), metric_text, rows_caption(evidences))


def rows_caption(evidences: Sequence[Evidence]) -> str:
    """Rows used, such as "1,300 of 1,319 rows" or, for several evidences, "200 to 1,300 rows each".

    It goes on with the tables by which rows were corrected, and how rows are weighted.
    """
    units = sorted({evidence.unit for evidence in evidences}, reverse=True)
    rows = rows_used_text([(evidence.n_used, evidence.n_total) for evidence in evidences], " or ".join(units))
    runs = (evidence.run for evidence in evidences)
    tables = dict.fromkeys(
        run.corrections.file for run in runs if isinstance(run, AnswerRun) and run.corrections
    )
    if tables:
        rows += f", corrected by {join_names([*tables])}"
    weighted = [evidence for evidence in evidences if evidence.weight is not None]
    if len(weighted) == 1 == len(evidences):
        return f"{rows}, weighted (effective n = {format_count(weighted[0].n_effective)})"
    return f"{rows}, weighted by the column weight" if weighted else rows


def rows_used_text(counts: Sequence[tuple[int, int]], unit: str) -> str:
    """As `rows_caption`, for pairs of (rows used, rows in the file) and a plural unit."""
    if not counts:
        return ""
    used, totals = [n_used for n_used, _ in counts], {total for _, total in counts}
    if len(totals) > 1:
        used_range = f"{min(used):,} to {max(used):,}" if len(set(used)) > 1 else f"{used[0]:,}"
        return f"{used_range} {unit} each"
    total = next(iter(totals))
    if len(set(used)) > 1:
        return f"{min(used):,} to {max(used):,} of {total:,} {unit}"
    return f"{used[0]:,} of {plural(total, unit.removesuffix('s'))}{' each' if len(counts) > 1 else ''}"


def metric_caption(metric_id: str, scheme: Scheme, terms: Terms = ANSWER_TERMS) -> str:
    """ "ECE, 10 bins of equal width", by the bins the metric really uses; the metric alone without bins."""
    metric = METRICS[metric_id].worded(terms)
    bins = bins_caption(effective_scheme(metric, scheme))
    return f"{metric.title}, {bins}" if metric.binned else metric.title


def bins_caption(scheme: Scheme) -> str:
    """ "10 bins of equal width", "1 bin of equal mass", "one bin per distinct value"."""
    if scheme.binning == "natural":
        return "one bin per distinct value"
    return f"{plural(scheme.bins, 'bin')} of equal {scheme.binning}"


def method_titles(ids: Sequence[str]) -> tuple[str, ...]:
    """The titles of methods, each once."""
    return tuple(dict.fromkeys(METHODS[id_].title for id_ in ids))


def names_or_count(names: Sequence[str], noun: str) -> str:
    """ "A and B", "3 runs"."""
    return join_names(names) if 0 < len(names) <= MAX_NAMED else f"{len(names)} {noun}"
