"""Which runs are loaded, and how well calibrated is each at a glance?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import polars as pl

from calib_core.edges import DEFAULT_SCHEME
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import (
    DEFAULT_TOLERANCE,
    MIN_ROWS,
    SIGNIFICANCE_LEVEL,
    VERDICT_MARKS,
    Verdict,
    VerdictKind,
    counted_kind,
    uncounted_note,
    verdict_recipe,
    verdicts_sentence,
)
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.defaults import default_method
from calib_core.results.evidence import Evidence, RowUnit
from calib_core.results.recipe import joint_rows_text, scheme_text
from calib_core.results.reliability import bin_table
from calib_core.results.run_names import GivenName, short_run_names
from calib_core.results.run_verdict import verdict_headline
from calib_core.terms import Terms, common_terms
from calib_core.wording import format_p_value, plural


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
    """One run as seen by one method, by top label.

    Attributes
    ----------
    run, method, method_title : str
        Name of the run; id and title of the method.
    dataset : str or None
        Name of the data set; None where the file names none.
    short_name : str
        Name of the run among those of its data set, which it need not repeat.
    n_total, n_used : int
        Rows in the file, and those with a confidence and an outcome.
    weighted : bool
        Whether its rows have weights.
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
    dataset: str | None
    short_name: str
    n_total: int
    n_used: int
    weighted: bool
    unit: RowUnit
    mean_confidence: float | None
    accuracy: float | None
    brier: float | None
    ece: float | None
    verdict: Verdict
    q: float | None
    curve: pl.DataFrame

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def q_text(self) -> str | None:
        """Q with three digits, or "< 0.001"; None if there is no q."""
        return None if self.q is None else format_p_value(self.q, None)

    @property
    def marked_verdict(self) -> str:
        """The verdict after the shape of what headlines count, which it says where that is another one."""
        mark = VERDICT_MARKS[self.counted_kind]
        uncounted = "" if self.counted_kind == self.verdict.kind else f", q > {SIGNIFICANCE_LEVEL:g}"
        return f"{mark} {self.verdict.words}{uncounted}"

    @property
    def counted_kind(self) -> VerdictKind:
        """The verdict as headlines count it: none where q is not clear among all verdicts of the list."""
        return counted_kind(self.verdict, self.q)


@dataclass(frozen=True, eq=False)
class Overview:
    """Every run at a glance.

    Attributes
    ----------
    evidence : Mapping[str, tuple[Evidence, ...]]
        Name of a run → the run as seen by each of its methods.
    by_default_method : tuple[RunSummary, ...]
        Each run by the method that stands for it (`default_method`), in the order given.
    headline, subheadline : str
        On the runs by their default method; the subheadline may be "".
    recipe : str
        How the numbers were made.
    """

    evidence: Mapping[str, tuple[Evidence, ...]]
    by_default_method: tuple[RunSummary, ...]
    headline: str
    subheadline: str
    recipe: str

    @cached_property
    def by_every_method(self) -> tuple[RunSummary, ...]:
        """Each run by each of its methods, in the order given; computed on first use, as it takes longer."""
        summaries: list[RunSummary] = []
        for (name, group), default in zip(self.evidence.items(), self.by_default_method, strict=True):
            shown = _default_evidence(group)
            summaries += [
                default if one is shown else replace(run_summary(name, one), short_name=default.short_name)
                for one in group
            ]
        return _with_q(summaries)

    @property
    def has_several_methods(self) -> bool:
        """Whether a run has more than one method."""
        return any(len(group) > 1 for group in self.evidence.values())

    @property
    def has_judged_run(self) -> bool:
        """Whether a run has rows enough for a verdict by any of its methods."""
        return any(one.n_used >= MIN_ROWS for group in self.evidence.values() for one in group)

    def to_frame(self) -> pl.DataFrame:
        """One row for each run and method.

        Columns: run, dataset, method, title, rows, used, confidence, accuracy, brier, ece, verdict, p, q,
        recipe.
        """
        return overview_frame(self.by_every_method).with_columns(recipe=pl.lit(self.recipe))


def summarise_runs(runs: Mapping[str, Sequence[Evidence]]) -> Overview:
    """Summarise every run by the method that stands for it, and by each one once that is asked for.

    Parameters
    ----------
    runs : Mapping[str, Sequence[Evidence]]
        Name of a run → the run as seen by each of its methods, at least one.
    """
    short_names = _names_by_dataset(runs)
    by_default_method = _with_q(
        [
            replace(run_summary(name, _default_evidence(group)), short_name=short_names[name])
            for name, group in runs.items()
        ]
    )
    headline, subheadline = overview_headline(by_default_method)
    return Overview(
        evidence={name: tuple(group) for name, group in runs.items()},
        by_default_method=by_default_method,
        headline=headline,
        subheadline=subheadline,
        recipe=_overview_recipe(
            next((one.tolerance for group in runs.values() for one in group), DEFAULT_TOLERANCE),
            common_terms(summary.terms for summary in by_default_method),
            joint_rows_text(itertools.chain(*runs.values())),
        ),
    )


def _default_evidence(group: Sequence[Evidence]) -> Evidence:
    """A run as seen by the method that stands for it."""
    method = default_method(one.method.id for one in group)
    return next(one for one in group if one.method.id == method)


def _names_by_dataset(runs: Mapping[str, Sequence[Evidence]]) -> dict[str, str]:
    """Name of a run → its name among the runs of its data set."""
    infos = {name: group[0].run.info for name, group in runs.items()}
    names: dict[str, str] = {}
    for dataset in dict.fromkeys(info.dataset for info in infos.values()):
        members = {name: info for name, info in infos.items() if info.dataset == dataset}
        titles = {name: _without_dataset(name, dataset) for name in members}
        names |= short_run_names(members, titles)
    return names


def _without_dataset(name: str, dataset: str | None) -> str:
    """A name without its data set where that follows the model: "red · quiz (a.csv)" is "red (a.csv)"."""
    if dataset is None or isinstance(name, GivenName):
        return name
    return re.sub(rf" · {re.escape(dataset)}(?= · | \(|$)", "", name, count=1)


def group_by_dataset(summaries: Sequence[RunSummary]) -> dict[str | None, tuple[RunSummary, ...]]:
    """The summaries by data set, data sets and summaries in the order given; None is the key of no name."""
    return {
        dataset: tuple(look for look in summaries if look.dataset == dataset)
        for dataset in dict.fromkeys(look.dataset for look in summaries)
    }


def run_summary(name: str, evidence: Evidence) -> RunSummary:
    """The summary of one evidence by itself."""
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    return RunSummary(
        run=name,
        method=evidence.method.id,
        method_title=evidence.method.title,
        dataset=evidence.run.info.dataset,
        short_name=name,
        n_total=evidence.n_total,
        n_used=evidence.n_used,
        weighted=evidence.weight is not None,
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


def _with_q(summaries: Sequence[RunSummary]) -> tuple[RunSummary, ...]:
    """The summaries of one list, each with its q-value in that list."""
    q_values = benjamini_hochberg([summary.verdict.p for summary in summaries])
    return tuple(replace(summary, q=q) for summary, q in zip(summaries, q_values, strict=True))


def _overview_recipe(tolerance: float, terms: Terms, rows: str) -> str:
    """How the numbers and verdicts of the list were made."""
    label = "" if terms.of == "event" else ", top label"
    return (
        f"{terms.accuracy}; Brier; {METRICS['ece'].recipe_name}, {scheme_text(DEFAULT_SCHEME)}{label}"
        f"{rows and f'; {rows}'}; "
        f"verdict: {verdict_recipe(tolerance, terms)}; q: Benjamini–Hochberg over the verdicts of the list, "
        f"counted up to {SIGNIFICANCE_LEVEL}"
    )


def overview_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """One row for each summary, without its curve; accuracy, brier and ece are null where not defined."""
    return pl.DataFrame([_overview_row(summary) for summary in summaries], schema=_OVERVIEW_SCHEMA)


_OVERVIEW_SCHEMA: Final = pl.Schema(
    {
        "run": pl.String(),
        "dataset": pl.String(),
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
        "dataset": summary.dataset,
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
    """Count the verdicts; nothing is named best or worst, as data sets and methods differ.

    Parameters
    ----------
    summaries : sequence of RunSummary
        One for each run.

    Returns
    -------
    headline, subheadline : str
        The second says what is counted; it is "" if the first is enough.
    """
    judged = [summary for summary in summaries if summary.verdict.is_tested]
    if not judged:
        return _unjudged_text(summaries), ""
    if len(summaries) == 1:
        return _single_run_headline(judged[0]), ""
    kinds: list[VerdictKind] = [summary.counted_kind for summary in summaries]
    n_judged = "both" if len(judged) == 2 else f"all {len(judged)}"
    counted = (
        f"Each run is scored with its default method. A verdict counts if q ≤ {SIGNIFICANCE_LEVEL} over "
        f"{n_judged} runs (Benjamini–Hochberg)."
    )
    uncounted = uncounted_note([(summary.verdict, summary.q) for summary in judged], "run")
    explained = " ".join(filter(None, (counted, uncounted, _partial_note(judged))))
    return verdicts_sentence(kinds, "run"), explained if len(judged) > 1 else ""


def _partial_note(judged: Sequence[RunSummary]) -> str:
    """How many verdicts are about a part of the rows that is no fair sample of them; "" if none is."""
    n = sum(bool(summary.verdict.scope) for summary in judged)
    if not n:
        return ""
    terms = common_terms(summary.terms for summary in judged if summary.verdict.scope)
    lacks, verdicts = ("lacks", "its verdict is") if n == 1 else ("lack", "their verdicts are")
    outcome = terms.right_how_often("more or less often")
    return (
        f"{plural(n, 'run')} {lacks} a {terms.confidence} in rows that {outcome} than the others: "
        f"{verdicts} about rows with a {terms.confidence}."
    )


def _unjudged_text(summaries: Sequence[RunSummary]) -> str:
    if not summaries:
        return "No run is loaded."
    kinds: list[VerdictKind] = [summary.verdict.kind for summary in summaries]
    if set(kinds) != {"few"}:
        return verdicts_sentence(kinds, "run")
    if len(summaries) == 1:
        return f"{summaries[0].run}, the only run loaded, has too few {summaries[0].unit} for a verdict."
    which = "Neither" if len(summaries) == 2 else "None"
    return f"{which} of the {len(summaries)} runs has enough rows for a verdict."


def _single_run_headline(summary: RunSummary) -> str:
    return verdict_headline(
        summary.run,
        summary.verdict,
        summary.mean_confidence,
        summary.accuracy,
        n_used=summary.n_used,
        unit=summary.unit,
        score=METHODS[summary.method].score_name,
    )
