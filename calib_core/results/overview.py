"""Which runs are loaded, and how well calibrated is each at a glance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from calib_core.edges import DEFAULT_SCHEME
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import (
    SIGNIFICANCE_LEVEL,
    VERDICT_RECIPE,
    Verdict,
    VerdictKind,
    counted_kind,
    verdicts_sentence,
)
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.recipe import scheme_text
from calib_core.results.reliability import bin_table
from calib_core.wording import ROUNDING_TOLERANCE, format_p_value, format_percent, plural


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
    """One run as seen by one method, by top label.

    Attributes
    ----------
    run, method, method_title : str
        Name of the run; id and title of the method.
    n_total, n_used : int
        Rows in the file, and those with a confidence and an outcome.
    unit : {"rows", "positions"}
    mean_confidence : float or None
        None, like accuracy, brier and ece, without rows.
    accuracy, brier, ece : float or None
    verdict : Verdict
        The verdict on this run and method alone.
    q : float or None
        q-value of the verdict among those of the list it is shown in (Benjamini–Hochberg); None if it has no
        p-value.
    curve : pl.DataFrame
        One row for each non-empty bin: bin (from 1), count, confidence, accuracy and thin, as in
        `Reliability`.
    """

    run: str
    method: str
    method_title: str
    n_total: int
    n_used: int
    unit: str
    mean_confidence: float | None
    accuracy: float | None
    brier: float | None
    ece: float | None
    verdict: Verdict
    q: float | None
    curve: pl.DataFrame

    @property
    def q_text(self) -> str | None:
        """Q with three digits, or "< 0.001"; None if there is no q."""
        return None if self.q is None else format_p_value(self.q, None)

    @property
    def counted_kind(self) -> VerdictKind:
        """The verdict as headlines count it: none where q is not clear among all verdicts of the list."""
        return counted_kind(self.verdict, self.q)


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """Every run at a glance.

    Attributes
    ----------
    by_default_method : tuple[RunSummary, ...]
        Each run by its first method, highest ECE first.
    by_every_method : tuple[RunSummary, ...]
        Each run by each of its methods, highest ECE first.
    headline, subheadline : str
        On the runs by their first method; the subheadline may be "".
    recipe : str
        How the numbers were made.
    """

    by_default_method: tuple[RunSummary, ...]
    by_every_method: tuple[RunSummary, ...]
    headline: str
    subheadline: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """One row for each run and method.

        Columns: run, method, title, rows, used, confidence, accuracy, brier, ece, verdict, p, q, recipe.
        """
        return overview_frame(self.by_every_method).with_columns(recipe=pl.lit(self.recipe))


def summarise_runs(runs: Mapping[str, Sequence[Evidence]]) -> Overview:
    """Summarise every run by every method it supports; a run's first method is its default."""
    summaries = {name: [run_summary(name, evidence) for evidence in group] for name, group in runs.items()}
    by_default_method = _worst_first([summary for group in summaries.values() for summary in group[:1]])
    headline, subheadline = overview_headline(by_default_method)
    return Overview(
        by_default_method=by_default_method,
        by_every_method=_worst_first([summary for group in summaries.values() for summary in group]),
        headline=headline,
        subheadline=subheadline,
        recipe=_OVERVIEW_RECIPE,
    )


def run_summary(name: str, evidence: Evidence) -> RunSummary:
    """The summary of one evidence by itself."""
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    return RunSummary(
        run=name,
        method=evidence.method.id,
        method_title=evidence.method.title,
        n_total=evidence.n_total,
        n_used=evidence.n_used,
        unit=evidence.unit,
        mean_confidence=evidence.mean_confidence,
        accuracy=evidence.accuracy,
        brier=evidence.brier,
        ece=METRICS["ece"].compute(evidence.top_label_sums, DEFAULT_SCHEME),
        verdict=evidence.verdict,
        q=evidence.verdict.p,
        curve=bin_table(binned, with_intervals=False).select(
            "bin", "count", "confidence", "accuracy", "thin"
        ),
    )


def _worst_first(summaries: Sequence[RunSummary]) -> tuple[RunSummary, ...]:
    """The summaries of one list, highest ECE first, each with its q-value in that list."""
    q_values = benjamini_hochberg([summary.verdict.p for summary in summaries])
    with_q = [replace(summary, q=q) for summary, q in zip(summaries, q_values, strict=True)]
    return tuple(sorted(with_q, key=lambda summary: -(summary.ece or 0.0)))


_OVERVIEW_RECIPE: Final = (
    f"accuracy; Brier; {METRICS['ece'].recipe_name}, {scheme_text(DEFAULT_SCHEME)}, top label; verdict: "
    f"{VERDICT_RECIPE}; q: Benjamini–Hochberg over the verdicts of the list, counted up to "
    f"{SIGNIFICANCE_LEVEL}"
)


def overview_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """One row for each summary, without its curve; accuracy, brier and ece are null where not defined."""
    return pl.DataFrame([_overview_row(summary) for summary in summaries], schema=_OVERVIEW_SCHEMA)


_OVERVIEW_SCHEMA: Final = pl.Schema(
    {
        "run": pl.String(),
        "method": pl.String(),
        "title": pl.String(),
        "rows": pl.Int64(),
        "used": pl.Int64(),
        "confidence": pl.Float64(),
        "accuracy": pl.Float64(),
        "brier": pl.Float64(),
        "ece": pl.Float64(),
        "verdict": pl.String(),
        "p": pl.Float64(),
        "q": pl.Float64(),
    }
)


def _overview_row(summary: RunSummary) -> dict[str, object]:
    return {
        "run": summary.run,
        "method": summary.method,
        "title": summary.method_title,
        "rows": summary.n_total,
        "used": summary.n_used,
        "confidence": summary.mean_confidence,
        "accuracy": summary.accuracy,
        "brier": summary.brier,
        "ece": summary.ece,
        "verdict": summary.verdict.words,
        "p": summary.verdict.p,
        "q": summary.q,
    }


# --- The overview in words ------------------------------------------------------------------------


def overview_headline(summaries: Sequence[RunSummary]) -> tuple[str, str]:
    """Count the verdicts, and name the runs with the lowest ECE and the highest accuracy.

    Parameters
    ----------
    summaries : sequence of RunSummary
        One for each run.

    Returns
    -------
    headline, subheadline : str
        The second is "" if the first is enough.
    """
    judged = sorted(
        (summary for summary in summaries if summary.verdict.kind != "few"),
        key=lambda summary: summary.ece or 0.0,
    )
    if not judged:
        return _too_few_rows_text(summaries), ""
    if len(summaries) == 1:
        return _single_run_headline(judged[0]), ""
    kinds: list[VerdictKind] = [summary.counted_kind for summary in summaries]
    return verdicts_sentence(kinds, "run"), _extremes_sentence(judged, summaries)


def _too_few_rows_text(summaries: Sequence[RunSummary]) -> str:
    if not summaries:
        return "There is no run here."
    if len(summaries) == 1:
        return f"The one run here, {summaries[0].run}, has too few {summaries[0].unit} to be judged."
    which = "Neither" if len(summaries) == 2 else "None"
    return f"{which} of the {len(summaries)} runs here has rows enough to be judged."


def _single_run_headline(summary: RunSummary) -> str:
    """The headline of one run: its mean confidence, its accuracy and its verdict."""
    rows_text = f" in {summary.n_used:,} {summary.unit}" if summary.verdict.kind == "none" else ""
    return f"{summary.run} {_stated_and_observed(summary)}: {summary.verdict.words}{rows_text}."


def _extremes_sentence(judged: Sequence[RunSummary], summaries: Sequence[RunSummary]) -> str:
    """Name the lowest ECE and the highest accuracy; answers and texts are not compared with each other.

    `judged` holds the summaries with enough rows, lowest ECE first.
    """
    answers = [summary for summary in judged if summary.unit == "rows"]
    compared = answers or judged
    qualifiers = ["answers"] if len(compared) < len(judged) else []
    if len(compared) == 1:
        return f"{compared[0].run} {_stated_and_observed(compared[0])}."
    best, most_accurate = compared[0], max(compared, key=lambda summary: summary.accuracy or 0.0)
    if any(_beats(summary, best, most_accurate) for summary in summaries if summary.verdict.kind == "few"):
        qualifiers.append("rows enough")
    opening_words = f"Of the {len(compared)} with {' and '.join(qualifiers)}, the" if qualifiers else "The"
    lowest = f"{best.ece or 0.0:.4f}"
    n_ties = sum((summary.ece or 0.0) - (best.ece or 0.0) <= ROUNDING_TOLERANCE for summary in compared) - 1
    subject = f"{best.run}{_ties_clause(n_ties, 'of ')}"
    opening = (
        f"{opening_words} lowest ECE, {lowest}, is that of {subject}, which {_stated_and_observed(best)}"
    )
    n_ties = [summary.accuracy for summary in compared].count(most_accurate.accuracy) - 1
    if most_accurate.accuracy == best.accuracy:
        return f"{opening}, {'as often as any' if n_ties else 'the most of all'}."
    return (
        f"{opening}. Right most often is {most_accurate.run}{_ties_clause(n_ties)}, which "
        f"{_stated_and_observed(most_accurate)}."
    )


def _ties_clause(others: int, preposition: str = "") -> str:
    """The number of tied runs, in brackets; "" if there is none."""
    return f" (and {preposition}{plural(others, 'other')})" if others else ""


def _beats(summary: RunSummary, lowest_ece: RunSummary, most_accurate: RunSummary) -> bool:
    """Whether a run with too few rows has a lower ECE or a higher accuracy than the runs named."""
    if summary.ece is None or summary.accuracy is None:
        return False
    return summary.ece < (lowest_ece.ece or 0.0) or summary.accuracy > (most_accurate.accuracy or 0.0)


def _stated_and_observed(summary: RunSummary) -> str:
    """Mean confidence and accuracy, as in "says 71.2 % on average and is right 60.0 % of the time"."""
    return (
        f"says {format_percent(summary.mean_confidence or 0.0)} on average and is right "
        f"{format_percent(summary.accuracy or 0.0)} of the time"
    )
