"""The two pages that a report is by default: verdict, number, one diagram, one table, what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from calib_core.errors import Unavailable, shorten
from calib_core.inference.verdict import verdict_recipe
from calib_core.metrics import METRICS
from calib_core.results.classwise import is_classwise
from calib_core.results.evidence import Evidence
from calib_core.results.lines import MAX_LINES, ReliabilityLines, reliability_lines
from calib_core.results.overview import Overview, summarise_runs
from calib_core.results.recipe import scheme_text
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import Score, effective_scheme
from calib_core.results.uncertainty import no_interval_reason, score_with_interval
from calib_core.views import files as files_page
from calib_core.views import overview as overview_page
from calib_core.views import reliability
from calib_core.views.inputs import ReportInput, ReportRun, runs_by_dataset
from calib_core.views.view import Fact, ProgressCallback, Section, Tile, View, ViewTable
from calib_core.wording import (
    NO_VALUE,
    bad_rows_phrase,
    format_interval,
    format_number,
    format_percent,
    plural,
)

ID, TITLE, QUESTION = "summary", "Summary", "Can the confidence be believed?"

MAX_RUN_ROWS: Final = 12
"""Longest table of runs that leaves the rest of the summary room on its second page."""

MAX_BIN_ROWS: Final = 20
"""Longest table of bins; of more bins, those with the largest parts of the gap are shown."""

LEFT_OUT_HEADING: Final = "What was left out"

MAX_LEFT_OUT: Final = 5
"""At most this many lines say what was left out; the others are counted."""

_MAX_REASON_LENGTH: Final = 160
"""Longest reason in these lines, in characters."""


@dataclass(frozen=True, slots=True, eq=False)
class _ScoredRun:
    """One run by one method, with its number."""

    run: ReportRun
    evidence: Evidence
    score: Score

    @property
    def number_text(self) -> str:
        """The number, or the bounds where only those are known."""
        if self.score.value is None and self.score.low is not None and self.score.high is not None:
            return format_interval(self.score.low, self.score.high)
        return format_number(self.score.value)

    @property
    def interval_text(self) -> str:
        """The 95 % interval; "" where there is none."""
        interval = self.score.interval
        return format_interval(interval.low, interval.high) if interval else ""


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the summary; it is never unavailable, since it also says why nothing could be computed."""
    scored: list[_ScoredRun] = []
    reasons: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / (len(report_input.runs) + 1), run.title)
        if not run.usable:
            reasons.append(f"{run.title}: no confidence can be computed{_first_reason(run)}.")
            continue
        for method in report_input.methods_for(run):
            try:
                scored.append(_score_run(report_input, run, method))
            except Unavailable as reason:
                reasons.append(f"{run.title}: {shorten(str(reason), _MAX_REASON_LENGTH)}")
    left_out = _left_out_lines(report_input, scored, reasons)
    left_out_view = View(LEFT_OUT_HEADING, left_out=left_out)
    if not scored:
        lead = ("No number can be computed from these files.",)
        return Section(ID, TITLE, QUESTION, (left_out_view,), lead)
    overview = _overview(scored)
    lead = tuple(text for text in (overview.headline, _number_sentence(scored), overview.subheadline) if text)
    if len(scored) == 1:
        return Section(ID, TITLE, QUESTION, (_single_view(report_input, scored[0]), left_out_view), lead)
    progress(len(report_input.runs) / (len(report_input.runs) + 1), "the diagram")
    runs_view = _runs_view(report_input, scored, overview)
    return Section(ID, TITLE, QUESTION, (runs_view, _diagram_view(report_input, scored), left_out_view), lead)


def _score_run(report_input: ReportInput, run: ReportRun, method: str) -> _ScoredRun:
    """Raises Unavailable where the run does not support the method or the metric."""
    evidence = report_input.evidence(run, method)
    metric, scheme = report_input.settings.metric, report_input.settings.scheme
    return _ScoredRun(run, evidence, score_with_interval(evidence, metric, scheme))


def _overview(scored: Sequence[_ScoredRun]) -> Overview:
    evidences: dict[str, list[Evidence]] = {}
    for one in scored:
        evidences.setdefault(one.run.title, []).append(one.evidence)
    return summarise_runs(evidences)


def _number_sentence(scored: Sequence[_ScoredRun]) -> str:
    """The number of a single run with its interval, M and n: "ECE 0.1293 (95 % interval …), …"."""
    if len(scored) > 1:
        return ""
    one = scored[0]
    metric = METRICS[one.score.metric]
    interval = f" (95 % interval {one.interval_text})" if one.interval_text else ""
    bins = f", M = {one.score.bins}" if one.score.bins is not None else ""
    return (
        f"{metric.title} {one.number_text}{interval}, {one.evidence.method.title}{bins}, "
        f"n = {one.score.n_used:,} of {plural(one.score.n_total, one.evidence.unit.removesuffix('s'))}."
    )


# --- One run ------------------------------------------------------------------------------------------------


def _single_view(report_input: ReportInput, one: _ScoredRun) -> View:
    """The diagram of the only run and method, and its bins, unless the page Reliability shows both below."""
    evidence, settings = one.evidence, report_input.settings
    recipes = (one.score.recipe, *_interval_recipe([one]))
    reason = no_interval_reason(evidence, settings.metric, settings.scheme)
    remarks = [text for text in (reason if one.score.interval is None else None, one.score.remark) if text]
    try:
        result = reliability_diagram(evidence, settings.metric, settings.scheme)
    except Unavailable as why:
        tiles = (_metric_tile(one),)
        return View(
            one.run.title, evidence.method.title, tiles=tiles, recipes=recipes, left_out=(*remarks, str(why))
        )
    is_shown_below = reliability.ID in report_input.pages and not is_classwise(settings.metric)
    view = reliability.reliability_view(result, evidence=evidence, title=one.run.title)
    return replace(
        view,
        tiles=(_metric_tile(one), *view.tiles[1:]),
        recipes=recipes,
        figures=() if is_shown_below else view.figures,
        tables=() if is_shown_below else tuple(map(_largest_parts, view.tables)),
        how_to_read="" if is_shown_below else view.how_to_read,
        facts=tuple(Fact("Remark", text) for text in dict.fromkeys((*remarks, *result.remarks))),
    )


def _metric_tile(one: _ScoredRun) -> Tile:
    metric = METRICS[one.score.metric]
    return Tile(
        metric.title, one.number_text, metric.help, f"95 %: {one.interval_text}" if one.interval_text else ""
    )


def _largest_parts(table: ViewTable) -> ViewTable:
    """All bins, or those with the largest parts of the gap, in order of confidence."""
    n_bins = table.frame.height
    if n_bins <= MAX_BIN_ROWS:
        return table
    largest = table.frame.sort("share", descending=True, nulls_last=True, maintain_order=True).head(
        MAX_BIN_ROWS
    )
    title = f"The {MAX_BIN_ROWS} of {n_bins} bins with the largest parts of the gap"
    return replace(table, title=title, frame=largest.sort("bin"))


# --- Several runs or methods --------------------------------------------------------------------------------


def _runs_view(report_input: ReportInput, scored: Sequence[_ScoredRun], overview: Overview) -> View:
    """Every run in a row, and the recipe of the numbers."""
    metric, scheme = METRICS[report_input.settings.metric], report_input.settings.scheme
    bins = f", {scheme_text(effective_scheme(metric, scheme))}" if metric.binned else ""
    recipe = (
        f"{metric.recipe_name}{bins}, n: as in the table",
        *_interval_recipe(scored),
        f"verdict: {verdict_recipe(scored[0].evidence.tolerance)}",
        "q: Benjamini–Hochberg over the verdicts of the table",
    )
    return View(title="", recipes=("; ".join(recipe),), tables=(_runs_table(report_input, scored, overview),))


def _diagram_view(report_input: ReportInput, scored: Sequence[_ScoredRun]) -> View:
    """A reliability diagram with a line for each run, a few at most."""
    lines, drawn = _lines(report_input, scored)
    if not lines.lines:
        return View("Reliability diagram", left_out=tuple(dict.fromkeys(lines.unavailable.values())))
    n_others = len(scored) - len(lines.lines)
    not_drawn = (
        f"{plural(n_others, 'line')} of the table: a diagram has runs of one data set, {MAX_LINES} at most."
    )
    view = reliability.lines_view(
        lines,
        style_indices={key: one.run.style_index for key, one in drawn.items()},
        left_out=(not_drawn,) if n_others else (),
    )
    return replace(view, title="Reliability diagram", tables=())


def _lines(
    report_input: ReportInput, scored: Sequence[_ScoredRun]
) -> tuple[ReliabilityLines, dict[str, _ScoredRun]]:
    """The lines of the first data set with several runs, as only these answer the same questions."""
    groups = runs_by_dataset(list(dict.fromkeys(one.run for one in scored))).values()
    same_questions = next((group for group in groups if len(group) > 1), None)
    chosen = [one for one in scored if same_questions is None or one.run in same_questions][:MAX_LINES]
    drawn = {str(index): one for index, one in enumerate(chosen)}
    lines = reliability_lines(
        {key: one.evidence for key, one in drawn.items()},
        report_input.settings.metric,
        report_input.settings.scheme,
        titles={key: one.run.title for key, one in drawn.items()},
    )
    return lines, drawn


def _runs_table(report_input: ReportInput, scored: Sequence[_ScoredRun], overview: Overview) -> ViewTable:
    metric = METRICS[report_input.settings.metric]
    summaries = {(each.run, each.method): each for each in overview.by_every_method}
    methods = {one.evidence.method.id: one.evidence.method.title for one in scored}
    rows: list[dict[str, object]] = []
    for one in scored[:MAX_RUN_ROWS]:
        summary = summaries[one.run.title, one.evidence.method.id]
        rows.append(
            {
                "Run": one.run.title,
                **({"Confidence method": summary.method_title} if len(methods) > 1 else {}),
                "Verdict": summary.marked_verdict,
                "q": summary.q_text or NO_VALUE,
                metric.title: one.number_text,
                "95 %": one.interval_text or NO_VALUE,
                "Accuracy": format_percent(summary.accuracy),
                "Mean confidence": format_percent(summary.mean_confidence),
                "Rows used / total": f"{summary.n_used:,} / {summary.n_total:,}",
            }
        )
    more = len(scored) - len(rows)
    note = (
        f"{plural(more, 'further row')}: {_elsewhere(report_input, overview_page.ID, overview_page.TITLE)}."
        if more
        else ""
    )
    by = f", by {next(iter(methods.values()))}" if len(methods) == 1 else ""
    return ViewTable.from_rows(f"The first {MAX_RUN_ROWS} runs{by}" if more else f"Every run{by}", rows, note)


def _interval_recipe(scored: Sequence[_ScoredRun]) -> tuple[str, ...]:
    texts = dict.fromkeys(one.score.interval.interval_method for one in scored if one.score.interval)
    return tuple(f"interval: {text}" for text in texts)


# --- What was left out --------------------------------------------------------------------------------------


def _left_out_lines(
    report_input: ReportInput, scored: Sequence[_ScoredRun], reasons: Sequence[str]
) -> tuple[str, ...]:
    """Files that were not loaded, bad rows, runs without a number, rows without a confidence."""
    lines = [
        f"{file.name}: not loaded. {shorten(file.refusal.splitlines()[0], _MAX_REASON_LENGTH)}"
        for file in report_input.files
        if file.refusal
    ]
    lines += [
        f"{file.name}: {bad_rows_phrase(file.report.n_bad_rows, file.report.n_rows)} and left out."
        for file in report_input.files
        if file.refusal is None and file.report is not None and file.report.n_bad_rows
    ]
    lines += reasons
    for one in scored:
        missing = {reason: count for reason, count in one.evidence.missing.items() if count}
        if missing:
            causes = "; ".join(f"{count:,} {reason}" for reason, count in missing.items())
            lines.append(
                f"{one.run.title}, {one.evidence.method.title}: {sum(missing.values()):,} of "
                f"{plural(one.score.n_total, one.evidence.unit.removesuffix('s'))} not used "
                f"({shorten(causes, _MAX_REASON_LENGTH)})."
            )
    lines = list(dict.fromkeys(lines))
    if (more := len(lines) - MAX_LEFT_OUT) > 0:
        lines[MAX_LEFT_OUT:] = [
            f"And {more:,} more: {_elsewhere(report_input, files_page.ID, files_page.TITLE)}."
        ]
    return tuple(lines or ["Nothing: every file is loaded and every row used."])


def _elsewhere(report_input: ReportInput, page: str, title: str) -> str:
    """Where the rest is: on a page of this report, or on one that could be added to it."""
    if page in report_input.pages:
        return f"see {title}"
    return f"not in this report; add the page {title} to list them"


def _first_reason(run: ReportRun) -> str:
    """Why the first of its methods is not available, in brackets."""
    reason = next(iter(run.report.survey.unavailable.values()), "")
    return f" ({shorten(reason.rstrip('.'), _MAX_REASON_LENGTH)})" if reason else ""
