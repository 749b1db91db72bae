"""Which runs are at hand, and how does each look at first sight?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from calib_core.edges import DEFAULT_SCHEME
from calib_core.inference.verdict import (
    VERDICT_WORDS,
    VerdictKind,
    count_verdicts,
    judge_calibration,
    verdict_phrase,
)
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.recipe import scheme_text
from calib_core.results.reliability import bin_table
from calib_core.wording import ROUNDING_TOLERANCE, both_or_all, format_percent, plural

# MERGED overview_look: How does one run look at first sight: how sure, how often right, over- or under-confident?


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
    """One run seen by one method, by its top label.

    run: as it was given; rows, used: in the file, and with a confidence and an outcome; confidence: the
    mean; accuracy, brier, ece: None where there is no row; kind: judged for all runs and methods together;
    curve: one row a non-empty bin: bin (from 1), count, confidence, accuracy, thin, as in `Reliability`.
    """

    run: str
    method: str
    title: str
    rows: int
    used: int
    unit: str
    confidence: float | None
    accuracy: float | None
    brier: float | None
    ece: float | None
    verdict: VerdictKind
    curve: pl.DataFrame


def run_summary(name: str, evidence: Evidence, n_verdicts: int) -> RunSummary:
    """The evidence by its top label; among: of how many verdicts it is one that are judged together."""
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    return RunSummary(
        run=name,
        method=evidence.method.id,
        title=evidence.method.title,
        rows=evidence.n_total,
        used=evidence.n_used,
        unit=evidence.unit,
        confidence=evidence.mean_confidence,
        accuracy=evidence.accuracy,
        brier=evidence.brier,
        ece=METRICS["ece"].compute(evidence.top_label_sums, DEFAULT_SCHEME),
        verdict=judge_calibration(binned, n_verdicts, evidence.design_effect).kind,
        curve=bin_table(binned, with_intervals=False).select(
            "bin", "count", "confidence", "accuracy", "thin"
        ),
    )


# MERGED overview_reading: What do the runs at hand come to, in a headline and a sentence or two?


def overview_headline(summaries: Sequence[RunSummary]) -> tuple[str, str]:
    """What can be said of how many runs, and which is furthest off, nearest, and most often right.

    looks: one a run. The second is "" where the first says it all.
    """
    judged = sorted((look for look in summaries if look.verdict != "few"), key=lambda look: look.ece or 0.0)
    if not judged:
        return _too_few_rows_text(summaries), ""
    if len(summaries) == 1:
        return _single_run_headline(judged[0]), ""
    return _verdicts_sentence([look.verdict for look in summaries]), _extremes_sentence(judged, summaries)


def _verdicts_sentence(kinds: Sequence[VerdictKind]) -> str:
    """ "Of 3 runs, 2 are over-confident and 1 is under-confident.", or "Both runs are over-confident."."""
    if len(set(kinds)) == 1:
        return f"{both_or_all(len(kinds)).capitalize()} runs {verdict_phrase(kinds[0], len(kinds))}."
    return f"Of {len(kinds)} runs, {count_verdicts(kinds)}."


def _too_few_rows_text(summaries: Sequence[RunSummary]) -> str:
    if not summaries:
        return "There is no run here."
    if len(summaries) == 1:
        return f"The one run here, {summaries[0].run}, has too few {summaries[0].unit} to be judged."
    which = "Neither" if len(summaries) == 2 else "None"
    return f"{which} of the {len(summaries)} runs here has rows enough to be judged."


def _single_run_headline(summary: RunSummary) -> str:
    """ "model · quiz says 71.2 % on average and is right 60.0 % of the time: over-confident."."""
    by = f" with {summary.used:,} {summary.unit}" if summary.verdict == "neither" else ""
    return f"{summary.run} {_stated_and_observed(summary)}: {VERDICT_WORDS[summary.verdict]}{by}."


def _extremes_sentence(judged: Sequence[RunSummary], summaries: Sequence[RunSummary]) -> str:
    """The lowest ECE and the highest accuracy; answers and texts are not compared with one another.

    judged: those of `looks` with rows enough, the lowest ECE first.
    """
    answers = [look for look in judged if look.unit == "rows"]
    own = answers or judged
    said = ["answers"] if len(own) < len(judged) else []
    if len(own) == 1:
        return f"{own[0].run} {_stated_and_observed(own[0])}."
    honest, right = own[0], max(own, key=lambda look: look.accuracy or 0.0)
    if any(_beats(look, honest, right) for look in summaries if look.verdict == "few"):
        said.append("rows enough")
    which = f"Of the {len(own)} with {' and '.join(said)}, the" if said else "The"
    lowest = f"{honest.ece or 0.0:.4f}"
    equal = sum((look.ece or 0.0) - (honest.ece or 0.0) <= ROUNDING_TOLERANCE for look in own) - 1
    whose = f"{honest.run}{_ties_clause(equal, 'of ')}"
    opening = f"{which} lowest ECE, {lowest}, is that of {whose}, which {_stated_and_observed(honest)}"
    equal = [look.accuracy for look in own].count(right.accuracy) - 1
    if right.accuracy == honest.accuracy:
        return f"{opening}, {'as often as any' if equal else 'the most of all'}."
    return f"{opening}. Right most often is {right.run}{_ties_clause(equal)}, which {_stated_and_observed(right)}."


def _ties_clause(others: int, preposition: str = "") -> str:
    """Of how many others that is true as well."""
    return f" (and {preposition}{plural(others, 'other')})" if others else ""


def _beats(summary: RunSummary, lowest_ece: RunSummary, most_accurate: RunSummary) -> bool:
    """Whether one with too few rows has a lower ECE or a higher accuracy than those that are named."""
    if summary.ece is None or summary.accuracy is None:
        return False
    return summary.ece < (lowest_ece.ece or 0.0) or summary.accuracy > (most_accurate.accuracy or 0.0)


def _stated_and_observed(summary: RunSummary) -> str:
    """ "says 71.2 % on average and is right 60.0 % of the time"."""
    return (
        f"says {format_percent(summary.confidence or 0.0)} on average and is right {format_percent(summary.accuracy or 0.0)} of "
        "the time"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """Every run at first sight.

    first: each run by its first method, the highest ECE first; every: each run by each of its methods,
    likewise; headline, more: what the first ones come to, `more` "" where that is all; recipe: how
    the numbers are made.
    """

    by_default_method: tuple[RunSummary, ...]
    by_every_method: tuple[RunSummary, ...]
    headline: str
    subheadline: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """One row a run and method.

        run, method, title, rows, used, confidence, accuracy, brier, ece, verdict, recipe.
        """
        return overview_frame(self.by_every_method).with_columns(recipe=pl.lit(self.recipe))


def summarise_runs(runs: Mapping[str, Sequence[Evidence]]) -> Overview:
    """Runs by name, each by the methods it gives, of which the first is the one that is shown first."""
    # All that may be shown is judged together, so that a verdict stays what it is where less is shown.
    judged = sum(map(len, runs.values()))
    looks = {name: [run_summary(name, one, judged) for one in own] for name, own in runs.items()}
    first = _worst_first([look for own in looks.values() for look in own[:1]])
    told, more = overview_headline(first)
    return Overview(
        by_default_method=first,
        by_every_method=_worst_first([look for own in looks.values() for look in own]),
        headline=told,
        subheadline=more,
        recipe=_overview_recipe(judged),
    )


def overview_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """One row a look, without its curve; accuracy, brier, ece: null where not defined."""
    return pl.DataFrame([_overview_row(look) for look in summaries], schema=_OVERVIEW_SCHEMA)


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
    }
)


def _overview_row(summary: RunSummary) -> dict[str, object]:
    named: dict[str, object] = {
        name: getattr(summary, name) for name in _OVERVIEW_SCHEMA if name != "verdict"
    }
    return named | {"verdict": VERDICT_WORDS[summary.verdict]}


def _worst_first(summaries: Sequence[RunSummary]) -> tuple[RunSummary, ...]:
    return tuple(sorted(summaries, key=lambda look: -(look.ece or 0.0)))


def _overview_recipe(n_verdicts: int) -> str:
    """ "ECE-L1, equal width, M=10, right-closed, top label; over- or under-confident: …"."""
    together = "" if n_verdicts < 2 else f", {both_or_all(n_verdicts)} verdicts together (Bonferroni)"
    return (
        f"accuracy; Brier; {METRICS['ece'].recipe_name}, {scheme_text(DEFAULT_SCHEME)}, top label; over- or under-confident: "
        f"mean gap beyond chance at 95 %{together}"
    )
