"""What a report is by default: each run's diagram, verdict and numbers, one table, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from calib_core.errors import Unavailable, shorten
from calib_core.figures.reliability import small_reliability_figure
from calib_core.inference.verdict import verdict_recipe
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.overview import Overview, RunSummary, summarise_runs
from calib_core.results.recipe import scheme_text
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import Score, effective_scheme
from calib_core.results.uncertainty import no_interval_reason, score_with_interval
from calib_core.terms import common_terms
from calib_core.views import files as files_page
from calib_core.views import reliability
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import Fact, ProgressCallback, Section, Tile, View, ViewTable, text_lines
from calib_core.wording import (
    NO_VALUE,
    bad_rows_phrase,
    format_interval,
    format_number,
    format_percent,
    plural,
)

ID, TITLE, QUESTION = "summary", "Summary", "Can the confidence be believed?"
EVENT_QUESTION: Final = "Can the probability be believed?"

MAX_LARGE_DIAGRAMS: Final = 4
"""Up to this many diagrams have a panel of counts; more are drawn small, without."""

LEFT_OUT_HEADING: Final = "What was left out"
COMPUTED_HEADING: Final = "How the numbers are computed"

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
    def key(self) -> tuple[str, str]:
        """The run's title and the method's id."""
        return self.run.title, self.evidence.method.id

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
            reasons.append(f"{run.title}: no probability can be computed{_first_reason(run)}.")
            continue
        for method in report_input.methods_for(run):
            try:
                scored.append(_score_run(report_input, run, method))
            except Unavailable as reason:
                reasons.append(f"{run.title}: {shorten(str(reason), _MAX_REASON_LENGTH)}")
    left_out = View(LEFT_OUT_HEADING, left_out=_left_out_lines(report_input, scored, reasons))
    if not scored:
        lead = ("No number can be computed from these files.",)
        return Section(ID, TITLE, QUESTION, (left_out,), lead)
    overview = _overview(scored)
    summaries = {(each.run, each.method): each for each in overview.by_every_method}
    views = [
        _run_view(report_input, one, summaries[one.key], is_small=len(scored) > MAX_LARGE_DIAGRAMS)
        for one in scored
    ]
    table = _runs_table(report_input, scored, summaries)
    computed = View(COMPUTED_HEADING, recipes=_recipes(report_input, scored), facts=tuple(_facts(views)))
    cards = [replace(view, facts=()) for view in views]
    lead = (overview.headline,) if len(scored) > 1 else ()
    return Section(ID, TITLE, QUESTION, (*cards, View(tables=(table,)), left_out, computed), lead)


def _facts(views: Sequence[View]) -> Iterator[Fact]:
    """Yield the facts that hold for every run, once, then those of each run under its name."""
    counts = Counter(fact for view in views for fact in dict.fromkeys(view.facts))
    yield from (fact for fact, n in counts.items() if n == len(views))
    has_several_methods = len({view.method_title for view in views}) > 1
    for view in views:
        own = dict.fromkeys(fact.text for fact in view.facts if counts[fact] < len(views))
        if own:
            name = f"{view.title}, {view.method_title}" if has_several_methods else view.title
            yield Fact(name, " ".join(own))


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


def _run_view(report_input: ReportInput, one: _ScoredRun, summary: RunSummary, *, is_small: bool) -> View:
    """One run by one method: its diagram, the verdict in a sentence, three numbers, and its facts."""
    settings, metric, terms = report_input.settings, one.score.worded_metric, one.evidence.terms
    tiles = (
        Tile(
            metric.title,
            one.number_text,
            metric.help,
            f"95 %: {one.interval_text}" if one.interval_text else "",
        ),
        Tile(terms.accuracy_title, format_percent(summary.accuracy)),
        Tile(f"Mean {terms.confidence}", format_percent(summary.mean_confidence)),
    )
    reason = no_interval_reason(one.evidence, settings.metric, settings.scheme)
    remarks = text_lines(None if one.score.interval else reason, one.score.remark)
    facts = tuple(Fact("Remark", text) for text in remarks)
    view = View(one.run.title, one.evidence.method.title, tiles=tiles, facts=facts, terms=terms)
    try:
        result = reliability_diagram(one.evidence, settings.metric, settings.scheme)
    except Unavailable as why:
        return replace(view, left_out=(str(why),))
    full = reliability.reliability_view(result, evidence=one.evidence, title=one.run.title)
    (figure,) = full.figures
    if is_small:
        figure = replace(figure, draw=partial(small_reliability_figure, result))
    return replace(
        view,
        headline=full.headline,
        caveat=full.caveat,
        figures=(replace(figure, title=""),),
        facts=(*facts, *full.facts),
    )


def _runs_table(
    report_input: ReportInput, scored: Sequence[_ScoredRun], summaries: Mapping[tuple[str, str], RunSummary]
) -> ViewTable:
    """Every run and method in a row."""
    terms = common_terms(one.evidence.terms for one in scored)
    metric = METRICS[report_input.settings.metric].worded(terms)
    methods = {one.evidence.method.id: one.evidence.method.title for one in scored}
    rows: list[dict[str, object]] = []
    for one in scored:
        summary = summaries[one.key]
        rows.append(
            {
                "Run": one.run.title,
                **({"Method": METHODS[summary.method].heading} if len(methods) > 1 else {}),
                "Verdict": summary.marked_verdict,
                "q": summary.q_text or NO_VALUE,
                metric.title: one.number_text,
                "95 %": one.interval_text or NO_VALUE,
                terms.accuracy_title: format_percent(summary.accuracy),
                f"Mean {terms.confidence}": format_percent(summary.mean_confidence),
                "Rows used / total": f"{summary.n_used:,} / {summary.n_total:,}",
            }
        )
    by = f", by {next(iter(methods.values()))}" if len(methods) == 1 else ""
    return ViewTable.from_rows(f"Every run{by}", rows)


def _recipes(report_input: ReportInput, scored: Sequence[_ScoredRun]) -> tuple[str, ...]:
    """How the numbers of the summary are computed."""
    terms = common_terms(one.evidence.terms for one in scored)
    metric, scheme = METRICS[report_input.settings.metric].worded(terms), report_input.settings.scheme
    bins = f", {scheme_text(effective_scheme(metric, scheme))}" if metric.binned else ""
    recipe = (
        f"{metric.recipe_name}{bins}, n: as in the table",
        *_interval_recipe(scored),
        f"verdict: {verdict_recipe(scored[0].evidence.tolerance, terms)}",
        "q: Benjamini–Hochberg over the verdicts of the table",
    )
    return ("; ".join(recipe),) if len(scored) > 1 else (scored[0].score.recipe, *_interval_recipe(scored))


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
