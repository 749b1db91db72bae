"""The page Groups: calibration by subject, shots, size or tuning, one block for each data set with groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.groups import describe_groups, groups_figure
from calib_core.figures.reliability import describe_reliability, small_reliability_figure
from calib_core.inference.intervals import coverage_note
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.groups import (
    SIMULTANEOUS_HELP,
    GroupBy,
    GroupResults,
    group_by_choices,
    groups_of_rows,
    groups_of_runs,
    ordered_levels,
    rest_help,
    split_by_group,
)
from calib_core.results.hidden_groups import (
    MAX_PAIRED_COLUMNS,
    MAX_PAIRED_VALUES,
    HiddenGroups,
    hidden_groups,
)
from calib_core.results.published import compare_mmlu
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.run_names import short_run_names
from calib_core.views.inputs import ReportInput, ReportRun, most_common_method, runs_by_dataset
from calib_core.views.published_table import published_view
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewFigure,
    ViewTable,
    columns_in_order,
    file_parts,
    named_reasons,
    reasons_by_title,
    text_lines,
    varying_columns,
)
from calib_core.wording import format_number, plural

ID, TITLE, QUESTION = "groups", "Groups", "Where is calibration worst?"

MAX_SERIES: Final = 4
"""At most this many runs can be told apart in one row of the figure."""
TOO_MANY_RUNS: Final = "more cannot be told apart in one row."
NO_GROUPS: Final = (
    "These runs have no groups. Groups come from a column of the file (“subject”, or any column of 2 to 100 "
    "different texts, whole numbers or booleans), or from what several runs say of themselves (“shots”, "
    "“params_b”, “tuning”, “model”): choose more runs, or give such a column."
)
FEW_ROWS_CAUTION: Final = (
    "With few rows, a binned metric is larger by chance alone, so groups are sorted by gap, and those "
    "that chance explains come last. Compare each dot with the value of a perfectly calibrated model."
)
HIDDEN_TITLE: Final = "Hidden groups"
PAIRED_TITLE: Final = "Paired differences, everything else equal, on the same questions"
_GROUP_COLUMNS_FIRST: Final = (
    *("name", "series", "bias", "bias_low", "verdict", "q", "value", "low", "n_used"),
    *("against_rest", "against_rest_low", "against_rest_q"),
)
"""What a narrow window must not cut off."""
CHOSEN_HEADING: Final = "Reliability diagrams of the chosen groups"

MAX_SMALL_DIAGRAMS: Final = 6
"""At most this many diagrams are drawn, but at least one for every run."""


class GroupEvidence(NamedTuple):
    """The data of one small diagram.

    Attributes
    ----------
    key : str
        As in `GroupResults.worst_groups`.
    name : str
        The group, or the run where runs are compared.
    run : str
        The run's name if there are several, else "".
    evidence : AnswerEvidence
        The rows of the group.
    """

    key: str
    name: str
    run: str
    evidence: AnswerEvidence

    @property
    def title(self) -> str:
        """The name, with the run if there are several."""
        return " · ".join(text_lines(self.name, self.run))


@dataclass(frozen=True, slots=True, eq=False)
class GroupDiagram:
    """One small diagram, or the reason why there is none.

    Attributes
    ----------
    group : GroupEvidence
        The data of the diagram.
    result : Reliability or str
        The diagram, or why it cannot be drawn.
    """

    group: GroupEvidence
    result: Reliability | str


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the views of every data set with groups; raises Unavailable if there is none."""
    by_dataset = runs_by_dataset(report_input.answer_runs)
    views: list[View] = []
    for index, (dataset, runs) in enumerate(by_dataset.items()):
        views += _views(
            report_input,
            dataset,
            runs,
            lambda share, text, index=index: progress((index + share) / len(by_dataset), text),
        )
    if not views:
        raise Unavailable(NO_GROUPS)
    return Section(ID, TITLE, QUESTION, (*views, _paper_block(report_input)))


def _paper_block(report_input: ReportInput) -> View:
    """What the MMLU replication says of size, shots and tuning, judged on the runs of all data sets."""
    method = most_common_method(report_input.answer_runs, report_input.settings.methods)
    evidences: dict[str, AnswerEvidence] = {}
    for key, run in enumerate(report_input.answer_runs):
        if method is not None and method in run.usable:
            evidence = report_input.evidence(run, method)
            if isinstance(evidence, AnswerEvidence):
                evidences[str(key)] = evidence
    return published_view(compare_mmlu(evidences, report_input.settings.scheme))


def _views(
    report_input: ReportInput, dataset: str | None, runs: Sequence[ReportRun], progress: ProgressCallback
) -> Iterator[View]:
    """The groups of one data set, and its hidden groups; none if nothing groups its runs."""
    method = most_common_method(runs, report_input.settings.methods)
    if method is None:
        return
    keyed = {str(index): run for index, run in enumerate(runs) if method in run.usable}
    evidences: dict[str, AnswerEvidence] = {}
    for key, run in keyed.items():
        evidence = report_input.evidence(run, method)
        if isinstance(evidence, AnswerEvidence):
            evidences[key] = evidence
    groupings = group_by_choices({key: evidence.run for key, evidence in evidences.items()})
    if not groupings:
        return
    grouping, *others = groupings.values()
    shown = dict(list(evidences.items())[:MAX_SERIES]) if grouping.target == "rows" else evidences

    def share_progress(share: float) -> None:
        progress(min(share, 1.0), dataset or "")

    result = _compute_groups(report_input, shown, grouping, share_progress)
    if not result.groups:
        return
    titles = {key: run.title for key, run in keyed.items()}
    names = short_run_names({key: evidence.run.info for key, evidence in shown.items()}, titles)
    diagram_keys = default_diagram_keys(result, len(shown))
    view = groups_view(
        result,
        method=method,
        titles=titles,
        style_indices={key: run.style_index for key, run in keyed.items()},
        diagrams=group_diagrams(shown, result, names, report_input.settings.scheme, diagram_keys),
        diagrams_heading=diagrams_heading(result, diagram_keys),
        notes=(runs_shown_note(len(shown), len(evidences)), other_groupings_note(others)),
    )
    yield replace(view, title=" · ".join(text_lines(dataset, f"by {grouping.title}")))
    if grouping.target == "rows":
        hidden = hidden_groups(shown, titles=titles)
        if hidden.groups:
            yield hidden_groups_view(hidden, method=method, titles=titles)


def _compute_groups(
    report_input: ReportInput,
    evidences: Mapping[str, AnswerEvidence],
    grouping: GroupBy,
    progress: Callable[[float], None],
) -> GroupResults:
    settings = report_input.settings
    if grouping.target == "rows":
        return groups_of_rows(evidences, grouping, settings.metric, settings.scheme, progress=progress)
    reference = next(iter(comparable_levels(evidences, grouping)), None)
    return groups_of_runs(
        evidences, grouping, settings.metric, settings.scheme, reference=reference, progress=progress
    )


def groups_view(
    result: GroupResults,
    *,
    method: str = "",
    titles: Mapping[str, str] | None = None,
    style_indices: Mapping[str, int] | None = None,
    diagrams: Sequence[GroupDiagram] = (),
    diagrams_heading: str = "",
    left_out: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> View:
    """The metric of every group.

    Parameters
    ----------
    result : GroupResults
    method : str
        Id of the confidence method; "" where it is not known.
    titles : Mapping of str to str, optional
        Run key → title; the keys themselves where omitted.
    style_indices : Mapping of str to int, optional
        Run key → position among all runs.
    diagrams : sequence of GroupDiagram
        The small diagrams, in order.
    diagrams_heading : str
    left_out : Mapping of str to str, optional
        Title of a run → why it has no evidence.
    notes : sequence of str
        What else is not shown; empty ones are left out.
    """
    titles = titles or {}
    name = titles.get
    reasons = {**(left_out or {}), **{name(run, run): why for run, why in result.unavailable.items()}}
    method_title = METHODS[method].title if method else ""
    by_rows = result.group_by.target == "rows"
    return View(
        title=f"By {result.group_by.title}",
        method_title=method_title,
        headline=result.headline,
        terms=result.terms,
        recipes=text_lines(result.recipe),
        figures=(
            ViewFigure(
                lambda theme: groups_figure(result, theme, style_indices if by_rows else None),
                describe_groups(result),
                "Groups",
                id="groups_dots",
                numbers=_numbers(result, titles),
            ),
        ),
        tables=tuple(_tables(result, titles)),
        small_figures=tuple(_diagram_figures(diagrams)),
        small_figures_heading=diagrams_heading,
        how_to_read=_how_to_read(result),
        facts=_facts(result),
        left_out=(
            *(
                f"{name(run, run)}: {count:,} used rows belong to no group by {result.group_by.title}."
                for run, count in result.n_ungrouped.items()
                if count
            ),
            *reasons_by_title(reasons),
            *named_reasons({one.group.title: one.result for one in diagrams if isinstance(one.result, str)}),
            *text_lines(*notes),
        ),
        subject=", ".join(
            text_lines(f"{result.worded_metric.title} by {result.group_by.title}", method_title)
        ),
        name=(*file_parts(dict.fromkeys(group.run for group in result.groups), "runs"), *text_lines(method)),
    )


def _numbers(result: GroupResults, titles: Mapping[str, str]) -> Numbers:
    """Every group, with the titles of the runs."""
    bins = (result.scheme.binning, result.scheme.bins) if METRICS[result.metric].binned else ()
    return Numbers(
        lambda: result.to_frame().with_columns(pl.col("run").replace(titles)),
        result.recipe,
        (result.metric, *bins, "by", result.group_by.title),
    )


def _tables(result: GroupResults, titles: Mapping[str, str]) -> Iterator[ViewTable]:
    """The paired differences, where runs are compared, and a row for each group."""
    numbers = _numbers(result, titles)
    if result.contrasts:
        frame = result.contrasts_to_frame()
        yield ViewTable(
            PAIRED_TITLE,
            frame,
            result.contrast_columns,
            id="differences",
            numbers=Numbers(result.contrasts_to_frame, result.recipe, ("differences", *numbers.name)),
        )
    if result.groups:
        frame = result.to_frame()
        columns = columns_in_order(result.columns, *_GROUP_COLUMNS_FIRST)
        yield ViewTable(
            "Every group" if result.group_by.target == "rows" else "Every run",
            frame,
            columns,
            id="groups_table",
            numbers=numbers,
        )


def _how_to_read(result: GroupResults) -> str:
    """What the marks of the figure are."""
    has_interval = any(group.interval_method for group in result.groups)
    return " ".join(
        text_lines(
            "Whiskers: 95 % intervals." if has_interval else "This metric has no interval.",
            f"Hollow: fewer than {MIN_ROWS} rows." if any(one.has_few_rows for one in result.groups) else "",
            "Dashed: the whole run." if any(one is not None for one in result.overall.values()) else "",
            "Stroke: a perfectly calibrated model."
            if any(group.null_median is not None for group in result.groups)
            else "",
        )
    )


def _facts(result: GroupResults) -> tuple[Fact, ...]:
    """What else was found, and what the intervals, verdicts and q-values stand on."""
    thing = "group" if result.group_by.target == "rows" else "run"
    interval_method = next((group.interval_method for group in result.groups if group.interval_method), None)
    note = coverage_note((result.metric,), result.terms)
    n_judged = sum(group.q is not None for group in result.groups)
    n_compared = sum(group.rest is not None for group in result.groups)
    terms = result.terms
    by_label = "" if terms.of == "event" else ", by their top label"
    no_fault = terms.of == "event" and result.metric == ACCURACY.id
    facts = {
        "Also found": result.subheadline,
        "Share of yes": "It may legitimately differ between groups; a gap is what treats a group unfairly."
        if no_fault
        else "",
        "Gap": f"{SIMULTANEOUS_HELP} Each is a t interval of the mean of {terms.confidence} − outcome.",
        "Intervals": f"{interval_method}. {note}".rstrip() if interval_method else "",
        "Few rows": FEW_ROWS_CAUTION if METRICS[result.metric].binned else "",
        "Verdict": f"From the {thing}'s rows alone{by_label}. q: Benjamini–Hochberg over "
        f"{plural(n_judged, thing)} with enough rows.",
        "Against the rest": f"{rest_help(terms)} q and the intervals allow for "
        f"{plural(n_compared, 'group')}, and an interval leaves out 0 where q ≤ 0.05."
        if n_compared
        else "",
    }
    return tuple(Fact(name, text) for name, text in facts.items() if text)


def hidden_groups_view(
    result: HiddenGroups, *, method: str = "", titles: Mapping[str, str] | None = None
) -> View:
    """The groups that the scan found; parameters as of `groups_view`."""
    titles = titles or {}
    frame = result.to_frame()
    columns = columns_in_order(result.table_columns, "group", "run", "difference", "low", "q")
    table = ViewTable(
        "",
        frame,
        varying_columns(columns, frame, "run"),
        id="hidden",
        row_keys=tuple(group.key for group in result.groups),
        numbers=Numbers(result.to_frame, result.recipe),
    )
    reasons = result.unavailable.items() if result.n_tried else ()  # the headline gives the reason
    return View(
        title=HIDDEN_TITLE,
        method_title=METHODS[method].title if method else "",
        headline=result.headline,
        terms=result.terms,
        recipes=(result.recipe,) if result.groups else (),
        tables=(table,) if result.groups else (),
        facts=_hidden_facts(result) if result.groups else (),
        left_out=reasons_by_title({titles.get(run, run): why for run, why in reasons}),
        subject=METHODS[method].title if method else "",
        name=("hidden", "groups", *file_parts(result.series, "runs"), *text_lines(method)),
    )


def _hidden_facts(result: HiddenGroups) -> tuple[Fact, ...]:
    """What was tried, what the test cannot find, and what is not listed."""
    pairs, exception, terms = "", "", result.terms
    if len(result.columns) > 1:
        pairs = ", and every pair of values of two columns"
        exception = ", except pairs that are no clearer than one of their parts"
    facts = {
        "Tested": f"every value of {', '.join(result.columns)}{pairs}, with at least {MIN_ROWS} rows in the "
        f"group and {MIN_ROWS} outside it. q and the intervals allow for all of them.",
        "Limit": f"The test compares only the {terms.accuracy} of groups: one that is too high at some "
        f"{terms.confidences} and too low at others can stay hidden. Groups overlap, and a group that is off "
        "shifts the others slightly the opposite way.",
        "Not paired": f"{', '.join(result.unpaired)} (pairs are made of {MAX_PAIRED_COLUMNS} columns of at "
        f"most {MAX_PAIRED_VALUES} values)."
        if result.unpaired
        else "",
        "Listed": f"the {len(result.groups)} clearest{exception}."
        if len(result.groups) < result.n_tried
        else "",
    }
    return tuple(Fact(name, text) for name, text in facts.items() if text)


def comparable_levels(evidences: Mapping[str, AnswerEvidence], grouping: GroupBy) -> list[str]:
    """The levels that others can be compared with, the default reference first; [] if there are none."""
    if grouping.target == "rows" or grouping.id == "dataset":
        return []
    levels = ordered_levels({key: evidence.run.info for key, evidence in evidences.items()}, grouping.id)
    return levels if len(levels) > 1 else []


def runs_shown_note(n_shown: int, n_runs: int) -> str:
    """A note if not all runs are drawn, else ""."""
    if n_shown == n_runs:
        return ""
    return f"{n_shown} of {n_runs} runs are drawn: {TOO_MANY_RUNS}"


def other_groupings_note(others: Sequence[GroupBy]) -> str:
    """A note on the other groupings that the app offers; "" if there are none."""
    return f"On the page Groups also: by {', '.join(one.title for one in others)}." if others else ""


# --- Small reliability diagrams ------------------------------------------------------------------------


def default_diagram_keys(result: GroupResults, n_runs: int) -> list[str]:
    """Keys of the groups whose diagrams are drawn by default, the worst."""
    return result.worst_groups(
        MAX_SMALL_DIAGRAMS if result.group_by.target == "runs" else max(1, MAX_SMALL_DIAGRAMS // n_runs)
    )


def diagrams_heading(result: GroupResults, keys: Collection[str]) -> str:
    """The heading above the diagrams of the groups or runs with these keys."""
    thing = "group" if result.group_by.target == "rows" else "run"
    all_names = {group.name if thing == "group" else group.run for group in result.groups}
    if len(all_names) > 1 and all_names == set(keys):
        return f"Reliability diagrams of every {thing}"
    return (
        f"Reliability diagrams of the {len(keys)} worst {thing}s"
        if len(keys) > 1
        else f"Reliability diagrams of the worst {thing}"
    )


def group_evidences(
    evidences: Mapping[str, AnswerEvidence],
    result: GroupResults,
    titles: Mapping[str, str],
    selected: Collection[str],
) -> Iterator[GroupEvidence]:
    """Yields the data of each selected diagram.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → evidence.
    result : GroupResults
        The groups, in the order in which diagrams are drawn; the runs of one group follow one another.
    titles : Mapping[str, str]
        Run key → title.
    selected : Collection[str]
        Keys of groups, or of runs where runs are compared.
    """
    if result.group_by.target == "runs":
        keys = [group.run for group in result.groups if group.run in selected]
        yield from (GroupEvidence(key, titles[key], "", evidences[key]) for key in keys)
        return
    groups_by_run = {key: split_by_group(evidence, result.group_by) for key, evidence in evidences.items()}
    for name in dict.fromkeys(group.name for group in result.groups if group.name in selected):
        for key, groups in groups_by_run.items():
            if name in groups:
                yield GroupEvidence(name, name, titles[key] if len(evidences) > 1 else "", groups[name])


def group_diagrams(
    evidences: Mapping[str, AnswerEvidence],
    result: GroupResults,
    titles: Mapping[str, str],
    scheme: Scheme,
    selected: Collection[str],
) -> list[GroupDiagram]:
    """The diagrams of the selected groups in every run; parameters as of `group_evidences`."""
    diagrams: list[GroupDiagram] = []
    for group in group_evidences(evidences, result, titles, selected):
        try:
            diagrams.append(GroupDiagram(group, reliability_diagram(group.evidence, result.metric, scheme)))
        except Unavailable as reason:
            diagrams.append(GroupDiagram(group, str(reason)))
    return diagrams


def _diagram_figures(diagrams: Sequence[GroupDiagram]) -> Iterator[ViewFigure]:
    """The small figure of each diagram that there is."""
    drawn = [(one.group, one.result) for one in diagrams if not isinstance(one.result, str)]
    for number, (group, result) in enumerate(drawn):
        scheme = result.scheme
        yield ViewFigure(
            lambda theme, result=result: small_reliability_figure(result, theme),
            describe_reliability(result),
            group.name,
            note=": ".join(text_lines(group.run, _diagram_note(result))),
            id=f"panel_{number}",
            numbers=Numbers(
                result.to_frame,
                result.recipe,
                (*text_lines(group.name, group.run), result.score.metric, scheme.binning, scheme.bins),
            ),
        )


def _diagram_note(result: Reliability) -> str:
    """The metric, and the number of rows."""
    small_note = f", fewer than {MIN_ROWS}" if result.score.n_used < MIN_ROWS else ""
    value = f"{result.score.worded_metric.title} {format_number(result.score.value)}"
    return f"{value}, n = {result.score.n_used:,}{small_note}"
