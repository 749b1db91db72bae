"""The page Groups: calibration by subject, shots, size or tuning, one block for each data set with groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from calib_core.errors import Unavailable, shorten
from calib_core.figures.groups import describe_groups, groups_figure
from calib_core.figures.reliability import describe_reliability, small_reliability_figure
from calib_core.inference.intervals import coverage_note
from calib_core.inference.verdict import MIN_ROWS, Q_TEXT
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.ece import ECE_DEBIASED_SQ
from calib_core.results.changes import correction_note
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.groups import (
    Group,
    GroupBy,
    GroupResults,
    RestDifference,
    clear_first,
    group_by_choices,
    groups_of_rows,
    groups_of_runs,
    ordered_levels,
    split_by_group,
)
from calib_core.results.hidden_groups import HiddenGroups, format_points, hidden_groups
from calib_core.results.published import compare_mmlu
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.run_names import short_run_names
from calib_core.views.inputs import (
    ReportInput,
    ReportRun,
    ReportSettings,
    most_common_method,
    runs_by_dataset,
)
from calib_core.views.published_table import published_view
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    named_reasons,
    text_lines,
)
from calib_core.wording import (
    NO_VALUE,
    as_cell,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_signed,
    plural,
)

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
    "With few rows, a binned metric is larger by chance alone, so groups are ranked by their verdicts"
)
NULL_MARK_CAUTION: Final = ". Compare each dot with its stroke, the value of a perfectly calibrated model"
HIDDEN_TITLE: Final = "Hidden groups"
HIDDEN_HELP: Final = (
    "Accuracy minus that of the other rows of the run at the same confidence, in percentage points. Below 0, "
    "the group is right less often than its confidence suggests, compared with the rest."
)
PAIRED_TITLE: Final = "Paired differences, everything else equal, on the same questions"

MAX_SMALL_DIAGRAMS: Final = 6
"""At most this many diagrams are drawn, but at least one for every run."""


class GroupEvidence(NamedTuple):
    """The data of one small diagram.

    Attributes
    ----------
    key : str
        As in `GroupResults.clearest_groups`.
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
    """Builds a block for every data set with groups; raises Unavailable if there is none."""
    by_dataset = runs_by_dataset(report_input.answer_runs)
    blocks: list[View] = []
    for index, (dataset, runs) in enumerate(by_dataset.items()):
        block = _block(
            report_input,
            dataset,
            runs,
            lambda share, text, index=index: progress((index + share) / len(by_dataset), text),
        )
        blocks += [block] if block else []
    if not blocks:
        raise Unavailable(NO_GROUPS)
    return Section(ID, TITLE, QUESTION, (*blocks, _paper_block(report_input)))


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


def _block(
    report_input: ReportInput, dataset: str | None, runs: Sequence[ReportRun], progress: ProgressCallback
) -> View | None:
    """The groups of one data set; None if nothing groups its runs or the metric is unavailable."""
    method = most_common_method(runs, report_input.settings.methods)
    if method is None:
        return None
    keyed = {str(index): run for index, run in enumerate(runs) if method in run.usable}
    evidences: dict[str, AnswerEvidence] = {}
    for key, run in keyed.items():
        evidence = report_input.evidence(run, method)
        if isinstance(evidence, AnswerEvidence):
            evidences[key] = evidence
    groupings = group_by_choices({key: evidence.run for key, evidence in evidences.items()})
    if not groupings:
        return None
    grouping, *others = groupings.values()
    shown = dict(list(evidences.items())[:MAX_SERIES]) if grouping.target == "rows" else evidences

    def share_progress(share: float) -> None:
        progress(min(share, 1.0), dataset or "")

    result = _compute_groups(report_input, shown, grouping, share_progress)
    if not result.groups:
        return None
    notes = (runs_shown_note(len(shown), len(evidences)), other_groupings_note(others))
    title = " · ".join(part for part in (dataset, f"by {grouping.title}") if part)
    block = _result_block((title, METHODS[method].title), shown, result, keyed, notes)
    block = _with_hidden_groups(block, shown, grouping, {key: keyed[key].title for key in shown})
    names = short_run_names(
        {key: evidence.run.info for key, evidence in shown.items()}, {key: keyed[key].title for key in shown}
    )
    diagrams = group_diagrams(shown, result, names, report_input.settings)
    return replace(
        block,
        small_figures=diagrams,
        small_figures_heading=diagrams_heading(result, default_diagram_keys(result, len(shown))),
    )


def _with_hidden_groups(
    block: View, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy, titles: Mapping[str, str]
) -> View:
    """The block with the table of hidden groups, if rows are grouped and a group can be compared."""
    if grouping.target != "rows":
        return block
    hidden = hidden_groups(evidences, titles=titles)
    if not hidden.groups:
        return block
    table = ViewTable.from_rows(
        HIDDEN_TITLE, hidden_group_rows(hidden), f"{hidden.headline} {hidden.caption}"
    )
    return replace(block, tables=(*block.tables, table), recipes=(*block.recipes, hidden.recipe))


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


def _result_block(
    titles: tuple[str, str],
    evidences: Mapping[str, AnswerEvidence],
    result: GroupResults,
    runs: Mapping[str, ReportRun],
    notes: Sequence[str],
) -> View:
    differences = paired_difference_rows(result)
    style_indices = (
        {key: run.style_index for key, run in runs.items()} if result.group_by.target == "rows" else None
    )
    return View(
        title=titles[0],
        method_title=titles[1],
        headline=result.headline,
        tiles=tuple(groups_tiles(evidences, result)),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(lambda theme: groups_figure(result, theme, style_indices), describe_groups(result)),
        ),
        tables=(
            *([ViewTable.from_rows(PAIRED_TITLE, differences)] if differences else []),
            ViewTable.from_rows("", group_rows(result)),
        ),
        captions=(
            *([result.subheadline] if result.subheadline else []),
            groups_caption(result),
            verdicts_caption(result),
        ),
        remarks=(
            *groups_remarks(result, {key: run.title for key, run in runs.items()}),
            *(text for text in notes if text),
        ),
    )


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
    """A note on the other groupings that the app offers."""
    if not others:
        return ""
    return (
        f"In Calib the page Groups sorts them by {', '.join(grouping.title for grouping in others)} as well."
    )


def groups_tiles(evidences: Mapping[str, AnswerEvidence], result: GroupResults) -> list[Tile]:
    """The tiles: number of groups, how many are miscalibrated, the clearest one, rows used."""
    if not any(group.value is not None for group in result.groups):
        return []
    n_small = sum(group.has_few_rows for group in result.groups)
    n_used = sum(evidence.n_used for evidence in evidences.values())
    n_total = sum(evidence.n_total for evidence in evidences.values())
    n_names = len({group.name for group in result.groups})
    label, series_noun = ("Groups", "run") if result.group_by.target == "rows" else ("Runs", "group")
    judged = [group for group in result.groups if group.q is not None]
    clear = [group for group in judged if group.counted_kind != "none"]
    breakdown, count_help = "", f"Each value of {result.group_by.title} is a group."
    if len(result.series) > 1:
        breakdown = f"{n_names} in {plural(len(result.series), series_noun)}, "
        count_help = (
            f"Each value of {result.group_by.title} in each {series_noun} is a group."
            if result.group_by.target == "rows"
            else "Each run counts once."
        )
    tiles = [
        Tile(
            label,
            f"{len(result.groups):,}",
            f"{count_help} Small: fewer than {MIN_ROWS} rows, drawn hollow.",
            f"{breakdown}{n_small} small",
        )
    ]
    if judged:
        help_ = f"Groups with a clear verdict ({Q_TEXT}), of the {len(judged):,} with enough rows."
        tiles.append(Tile("Miscalibrated", f"{len(clear):,} of {len(judged):,}", help_, Q_TEXT))
    if clear:
        first = clear_first(clear)[0]
        help_ = f"The smallest p-value of all. {first.verdict.reason}"
        tiles.append(Tile("Clearest verdict", first.verdict.words, help_, _group_name(first, result)))
    tiles.append(Tile("Rows used / total", f"{n_used:,} / {n_total:,}", "Of all runs that are drawn."))
    return tiles


def _group_name(group: Group, result: GroupResults) -> str:
    """The group's name, followed by the run's if there are several."""
    run_name = f", {result.series[group.series]}" if len(result.series) > 1 else ""
    return shorten(f"{group.name}{run_name}", 60)


def groups_caption(result: GroupResults) -> str:
    """How to read the figure."""
    interval_method = next((group.interval_method for group in result.groups if group.interval_method), None)
    caption = f"Whiskers: {interval_method}. " if interval_method else "This metric has no interval. "
    if interval_method and (note := coverage_note((result.metric,))):
        caption += f"{note} "
    n_small = sum(group.has_few_rows for group in result.groups)
    caption += f"Hollow: fewer than {MIN_ROWS} rows ({n_small} of {len(result.groups)}). "
    if any(value is not None for value in result.overall.values()):
        caption += "Dashed: the whole run. "
    if METRICS[result.metric].binned:
        has_null_marks = any(group.null_median is not None for group in result.groups)
        caption += f"{FEW_ROWS_CAUTION}{NULL_MARK_CAUTION if has_null_marks else ''}."
    return caption.strip()


def verdicts_caption(result: GroupResults) -> str:
    """What the verdicts and the q-values of the table stand on."""
    thing = "groups" if result.group_by.target == "rows" else "runs"
    n_judged = sum(group.q is not None for group in result.groups)
    caption = (
        f"Verdict: from the {thing[:-1]}'s rows alone, by their top label. q: Benjamini–Hochberg over the "
        f"{n_judged:,} {thing} with enough rows."
    )
    n_compared = sum(group.rest is not None for group in result.groups)
    if n_compared:
        caption += (
            " Against the rest: accuracy minus that of the other rows of the run at the same confidence, in "
            f"percentage points, with its own q over {plural(n_compared, 'group')}."
        )
    return caption


def groups_remarks(result: GroupResults, titles: Mapping[str, str]) -> list[str]:
    """Remarks on rows in no group and on missing runs; `titles` maps run keys to titles."""
    remarks = [
        f"{titles[run]}: {count:,} used rows belong to no group by {result.group_by.title}."
        for run, count in result.n_ungrouped.items()
        if count
    ]
    return remarks + [f"{titles[run]}: {why}" for run, why in result.unavailable.items()]


def paired_difference_rows(result: GroupResults) -> list[dict[str, object]]:
    """One row for each paired difference between two levels."""
    p_heading = "p (Holm)" if correction_note(result.contrasts) else "p"
    return [
        {
            "Difference": f"{contrast.level} − {contrast.reference_level}",
            METRICS[result.metric].title: NO_VALUE
            if contrast.difference is None
            else as_cell(format_signed(contrast.difference.value)),
            "95 %": NO_VALUE
            if contrast.difference is None
            else as_cell(format_interval(contrast.difference.low, contrast.difference.high, "+.4f")),
            p_heading: format_p_value(contrast.p, None),
            "Questions": NO_VALUE if contrast.difference is None else f"{contrast.difference.n_questions:,}",
            "Pairs of runs": f"{len(contrast.run_pairs):,}",
            "Note": contrast.reason or (contrast.difference.interval_method if contrast.difference else ""),
        }
        for contrast in result.contrasts
    ]


def group_rows(result: GroupResults) -> list[dict[str, object]]:
    """One row for each group; what a narrow window may cut off stands last."""
    name_heading, series_heading = ("Group", "Run") if result.group_by.target == "rows" else ("Run", "Group")
    metric_title = METRICS[result.metric].title
    has_null = any(group.null_median is not None for group in result.groups)
    has_rest = any(group.rest is not None for group in result.groups)
    # ECE rises as rows get fewer, so between groups of different size its debiased form is the fair one.
    has_debiased = any(group.debiased is not None for group in result.groups) and (
        len({group.n_used for group in result.groups}) > 1
    )
    return [
        {
            name_heading: group.name,
            **({series_heading: result.series[group.series]} if len(result.series) > 1 else {}),
            "Verdict": group.verdict.words,
            "q": format_p_value(group.q, None),
            metric_title: as_cell(format_number(group.value)),
            "95 %": as_cell(format_interval(group.low, group.high)),
            **(_rest_cells(group.rest) if has_rest else {}),
            "Rows used": f"{group.n_used:,}" + (" (few)" if group.has_few_rows else ""),
            "Accuracy": format_percent(group.accuracy),
            "Mean confidence": format_percent(group.mean_confidence),
            "Gap": as_cell(format_signed(group.bias)),
            **({"If calibrated": format_number(group.null_median)} if has_null else {}),
            **({ECE_DEBIASED_SQ.title: as_cell(format_number(group.debiased))} if has_debiased else {}),
        }
        for group in result.groups
    ]


def _rest_cells(rest: RestDifference | None) -> dict[str, object]:
    """The cells of a group's row on the other rows of its run."""
    text = NO_VALUE
    if rest is not None:
        text = f"{format_points(rest.value)} ({format_points(rest.low)} to {format_points(rest.high)})"
    return {"Against the rest": as_cell(text), "q (rest)": format_p_value(rest and rest.q, None)}


def hidden_group_rows(result: HiddenGroups) -> list[dict[str, object]]:
    """One row for each group that the scan lists."""
    return [
        {
            "Group": group.name,
            **({"Run": result.series[group.run]} if len(result.series) > 1 else {}),
            "Against the rest": as_cell(format_points(group.difference)),
            "95 %": as_cell(f"{format_points(group.low)} to {format_points(group.high)}"),
            "q": format_p_value(group.q, None),
            "Rows": f"{group.n:,}",
            "Accuracy": format_percent(group.accuracy),
            "Mean confidence": format_percent(group.mean_confidence),
            "Verdict": group.verdict.words,
        }
        for group in result.groups
    ]


# --- Small reliability diagrams ------------------------------------------------------------------------


def default_diagram_keys(result: GroupResults, n_runs: int) -> list[str]:
    """Keys of the groups whose diagrams are drawn by default, those with the clearest verdicts."""
    return result.clearest_groups(
        MAX_SMALL_DIAGRAMS if result.group_by.target == "runs" else max(1, MAX_SMALL_DIAGRAMS // n_runs)
    )


def diagrams_heading(result: GroupResults, keys: Collection[str]) -> str:
    """The heading above the diagrams of the groups or runs with these keys."""
    thing = "group" if result.group_by.target == "rows" else "run"
    all_names = {group.name if thing == "group" else group.run for group in result.groups}
    if len(all_names) > 1 and all_names == set(keys):
        return f"Reliability diagrams of every {thing}"
    shown = f"{len(keys)} {thing}s" if len(keys) > 1 else thing
    verdict = "verdicts" if len(keys) > 1 else "verdict"
    return f"Reliability diagrams of the {shown} with the clearest {verdict}"


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
    settings: ReportSettings,
) -> tuple[ViewFigure, ...]:
    """Draws the default diagrams of every run; parameters as in `group_evidences`."""
    figures: list[ViewFigure] = []
    for group in group_evidences(evidences, result, titles, default_diagram_keys(result, len(evidences))):
        try:
            figures.append(
                _diagram_figure(group, reliability_diagram(group.evidence, settings.metric, settings.scheme))
            )
        except Unavailable:
            continue
    return tuple(figures)


def diagram_note(result: Reliability) -> str:
    """The note below a diagram's name: the metric, and the number of rows."""
    small_note = f", fewer than {MIN_ROWS}" if result.score.n_used < MIN_ROWS else ""
    value = f"{METRICS[result.score.metric].title} {format_number(result.score.value)}"
    return f"{value}, n = {result.score.n_used:,}{small_note}"


def _diagram_figure(group: GroupEvidence, result: Reliability) -> ViewFigure:
    return ViewFigure(
        lambda theme: small_reliability_figure(result, theme),
        describe_reliability(result),
        group.name,
        note=f"{group.run}: {diagram_note(result)}" if group.run else diagram_note(result),
    )


def groups_view(result: GroupResults) -> View:
    """The metric of every group."""
    return View(
        title=f"By {result.group_by.title}",
        headline=result.headline,
        recipes=(result.recipe,),
        figures=(ViewFigure(lambda theme: groups_figure(result, theme), describe_groups(result)),),
        tables=(ViewTable.from_rows("", group_rows(result)),),
        captions=text_lines(result.subheadline, groups_caption(result), verdicts_caption(result)),
        remarks=named_reasons(result.unavailable),
    )
