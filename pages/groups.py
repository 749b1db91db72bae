"""The page Groups: on which subjects, shots, sizes or tunings is calibration off?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.groups import describe_groups, groups_figure
from calib_core.figures.reliability import (
    describe_reliability,
    reliability_figure,
    small_reliability_figure,
)
from calib_core.figures.text import truncate_middle
from calib_core.methods.method import Method
from calib_core.metrics import METRICS
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.groups import (
    GroupBy,
    GroupOrder,
    GroupResults,
    group_by_choices,
    groups_of_rows,
    groups_of_runs,
    row_groups,
)
from calib_core.results.hidden_groups import (
    HiddenGroup,
    HiddenGroups,
    hidden_group_evidence,
    hidden_groups,
)
from calib_core.results.published import compare_mmlu
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import metric_availability
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.runs import AnswerRun
from calib_core.views.groups import (
    HIDDEN_HELP,
    HIDDEN_TITLE,
    MAX_SERIES,
    NO_GROUPS,
    PAIRED_TITLE,
    TOO_MANY_RUNS,
    GroupDiagram,
    GroupEvidence,
    comparable_levels,
    default_diagram_keys,
    diagram_note,
    diagrams_heading,
    group_evidences,
    group_rows,
    groups_caption,
    groups_remarks,
    groups_tiles,
    hidden_group_rows,
    paired_difference_rows,
    verdicts_caption,
)
from calib_core.views.view import file_parts
from calib_core.wording import plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import progress_bar
from pages.state.runs import LoadedRun, slug
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, table_export_menu
from pages.widgets.figure import figure_and_detail, show_figure, side_by_side
from pages.widgets.mmlu_preset import mmlu_preset_button
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import (
    ROW_CLICKS,
    most_common_method,
    pick_method,
    pick_method_options,
    pick_segment,
    rows_key,
    select_box,
    select_point_from_table,
    selected_point,
)
from pages.widgets.published import published_area, show_published
from pages.widgets.run_choice import pick_metric
from pages.widgets.run_selection import (
    RunSelection,
    pick_run_selection,
    runs_to_start_with,
    short_names_by_id,
    show_not_drawn,
)
from pages.widgets.shell import shell
from pages.widgets.summary import (
    show_headline,
    show_provenance,
    show_recipe,
    show_tiles,
    show_warnings_of_runs,
)
from pages.widgets.table import fit_column_widths, show_table

MAX_DIAGRAMS: Final = 9
SORT_TITLES: Final[Mapping[str, str]] = {"q": "Verdict", "value": "Value", "name": "Name", "n": "Rows"}

CHOSEN_DIAGRAMS_HEADING: Final = "Reliability diagrams of the chosen groups"
MAX_NAME_LENGTH: Final = 26
"""Letters of a diagram's name, so that every name takes one line."""

HIDDEN_KEY: Final = "hidden"
"""Key of the address that holds the hidden group whose diagram is open."""

_MAX_CONDITIONS_WIDTH: Final = 400
"""Largest width in pixels of the column that names a hidden group."""

_DRAWING_MESSAGE: Final = "Computing the intervals …"
_SCANNING_MESSAGE: Final = "Comparing every group with the other rows …"


@dataclass(frozen=True, slots=True, eq=False)
class GroupsChoice:
    """What the page Groups shows: runs scored by one method and sorted by one grouping.

    Attributes
    ----------
    selection : RunSelection
    evidences : Mapping of str to AnswerEvidence
        Run id → evidence.
    grouping : GroupBy
    metric : str
    scheme : Scheme
    sort : GroupOrder
    baseline_level : str or None
        Level that the others are compared with.
    diagram_keys : tuple of str
        Groups whose reliability diagrams are drawn, as in `GroupResults.group_key`; empty for the default.
    """

    selection: RunSelection
    evidences: Mapping[str, AnswerEvidence]
    grouping: GroupBy
    metric: str
    scheme: Scheme
    sort: GroupOrder
    baseline_level: str | None
    diagram_keys: tuple[str, ...]

    @property
    def method(self) -> Method:
        """The method that all runs are scored by."""
        return next(iter(self.evidences.values())).method

    @property
    def style_indices(self) -> dict[str, int]:
        """Style index by run id; empty where runs are grouped by their facts, so that a series is no run."""
        return (
            {run.id: run.style_index for run in self.selection.runs} if self.grouping.target == "rows" else {}
        )

    def cache_key(self) -> tuple[object, ...]:
        """Return what determines the numbers; their order does not."""
        return (
            *self.selection.cache_key(),
            tuple(self.evidences),
            self.grouping.id,
            self.metric,
            self.scheme,
        )


def choose_groups(url_state: UrlState, runs: Sequence[LoadedRun]) -> GroupsChoice:
    """Draw the sidebar controls: method, runs, grouping, metric, order and diagrams.

    Raises
    ------
    Unavailable
        Where nothing can be grouped.
    """
    answer_runs = [run for run in runs if isinstance(run.report.run, AnswerRun)]
    methods, _ = most_common_method(answer_runs)
    wanted = url_state.requested("dataset", "")
    of_dataset = [run for run in answer_runs if slug(run.report.run.info.dataset or "") == wanted]
    _, default = most_common_method(of_dataset or runs_to_start_with(answer_runs))
    if not methods:
        raise Unavailable(NO_GROUPS)
    mmlu_preset_button(methods)
    method = pick_method(url_state, methods, default)
    usable_runs = [run for run in answer_runs if method in run.report.survey.usable]
    selection = pick_run_selection(
        url_state,
        usable_runs,
        methods=(method,),
        prefer_most="runs",
        options=pick_method_options(url_state, usable_runs[0].report.survey.usable[method]),
        run_limit=lambda runs: _run_limit(url_state, runs),
    )
    evidences = {
        scored.run.id: scored.evidence
        for scored in selection.run_evidences
        if isinstance(scored.evidence, AnswerEvidence)
    }
    groupings = group_by_choices({id_: evidence.run for id_, evidence in evidences.items()})
    if not groupings:
        raise Unavailable(NO_GROUPS)
    by = url_state.pick("by", list(groupings), next(iter(groupings)))
    select_box(
        "Group by",
        list(groupings),
        by,
        key="by",
        title_of=lambda id_: groupings[id_].title,
        help_="A column of the file or a property of the runs. Each value is a group.",
    )
    return _pick_numbers(url_state, selection, evidences, groupings[by])


def _run_limit(url_state: UrlState, runs: Sequence[LoadedRun]) -> tuple[int, str] | None:
    """Return how many runs fit the grouping, and why; the address holds it before its control is drawn."""
    groupings = group_by_choices(
        {run.id: run.report.run for run in runs if isinstance(run.report.run, AnswerRun)}
    )
    by = url_state.requested("by", "")
    grouping = groupings.get(by) or next(iter(groupings.values()), None)
    return (MAX_SERIES, TOO_MANY_RUNS) if grouping and grouping.target == "rows" else None


def _pick_numbers(
    url_state: UrlState, selection: RunSelection, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> GroupsChoice:
    """Draw the controls below the grouping: baseline, metric, binning, order and diagrams."""
    evidence = next(iter(evidences.values()))
    against = _pick_baseline_level(url_state, evidences, grouping)
    above_the_bins = st.container()
    scheme = pick_binning(url_state, evidence)
    with above_the_bins:
        metric = pick_metric(url_state, metric_availability(evidence, scheme))
    sort = pick_segment(
        url_state,
        "sort",
        SORT_TITLES,
        label="Sort by",
        help_="Order of the groups: clearest verdict, largest value, name, or most rows.",
    )
    keys, names = _diagram_options(selection, evidences, grouping)
    selected = multiselect(
        url_state,
        "groups",
        list(names),
        label="Reliability diagrams",
        title_of=lambda id_: names[id_],
        placeholder="the clearest",
        help_=f"Choose up to {MAX_DIAGRAMS} groups. If none is chosen, the clearest verdicts are shown.",
    )
    return GroupsChoice(
        selection,
        evidences,
        grouping,
        metric,
        scheme,
        cast("GroupOrder", sort),
        against,
        tuple(keys[id_] for id_ in selected),
    )


def _pick_baseline_level(
    url_state: UrlState, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> str | None:
    """Draw the control of the level that the others are compared with, and return the level."""
    levels = comparable_levels(evidences, grouping)
    if not levels:
        return None
    against = url_state.pick("against", levels, levels[0])
    select_box(
        "Compare with",
        levels,
        against,
        key="against",
        help_="The difference of each other group from this one, on the same questions.",
    )
    return against


def _diagram_options(
    selection: RunSelection, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the groups that can have a diagram: URL id → group key, and URL id → name."""
    if grouping.target == "runs":
        names = short_names_by_id([run for run in selection.runs if run.id in evidences])
        return {id_: id_ for id_ in names}, names
    levels = dict.fromkeys(
        str(name)
        for evidence in evidences.values()
        for name in row_groups(evidence.run, grouping).drop_nulls().unique().to_list()
    )
    ids: dict[str, str] = {}
    for name in sorted(levels, key=str.casefold):
        id_ = slug(name)
        ids[id_ if id_ not in ids else f"{id_}-{len(ids)}"] = name
    return ids, ids


def cached_groups(choice: GroupsChoice) -> GroupResults:
    """Return the numbers of the groups, computed once, in the chosen order."""
    titles = {run.id: run.title for run in choice.selection.runs}

    def compute() -> GroupResults:
        arguments = (choice.evidences, choice.grouping, choice.metric, choice.scheme)
        with progress_bar(_DRAWING_MESSAGE) as show:

            def report_progress(share: float) -> None:
                show(share, _DRAWING_MESSAGE)

            if choice.grouping.target == "rows":
                return groups_of_rows(*arguments, titles=titles, progress=report_progress)
            return groups_of_runs(
                *arguments, titles=titles, reference=choice.baseline_level, progress=report_progress
            )

    return cached_result(("groups", *choice.cache_key(), choice.baseline_level), compute).sorted_by(
        choice.sort
    )


def show_groups_summary(choice: GroupsChoice, result: GroupResults) -> None:
    """Draw the headline, the tiles with the highest and lowest group, and the warnings."""
    show_headline(result.headline)
    if tiles := groups_tiles(choice.evidences, result):
        show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in tiles])
    titles = {run.id: run.title for run in choice.selection.runs}
    show_warnings_of_runs((titles[id_], evidence) for id_, evidence in choice.evidences.items())


def _groups_view_caption(choice: GroupsChoice, result: GroupResults) -> ViewCaption:
    """Return the caption that says which runs and method the groups are of."""
    title = METRICS[result.metric].title
    titles = {run.id: run.title for run in choice.selection.runs}
    by = result.group_by.title
    evidences = list(choice.evidences.values())
    caption = view_caption(
        f"{title} by {by}",
        [titles[id_] for id_ in choice.evidences],
        evidences,
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )
    missing = missing_statistics_note(evidences, [result.metric], choice.scheme, intervals=True)
    return replace(caption, missing_note=missing)


def show_groups_figure(choice: GroupsChoice, result: GroupResults) -> None:
    """Draw the figure, what it shows and how to read it."""
    show_figure(
        lambda theme: groups_figure(result, theme, choice.style_indices),
        key="groups_dots",
        alt=describe_groups(result),
        export=groups_export(choice, result, "Groups"),
    )
    recipe = [result.recipe] if result.groups else []
    show_provenance(_groups_view_caption(choice, result), *recipe)
    if result.subheadline:
        st.markdown(escape_markdown(result.subheadline))
    st.caption(escape_markdown(groups_caption(result)))
    for remark in groups_remarks(result, {run.id: run.title for run in choice.selection.runs}):
        st.caption(f":material/info: {escape_markdown(remark)}")


def groups_export(choice: GroupsChoice, result: GroupResults, content: str) -> Export:
    """Return the export of every group's numbers."""
    titles = {run.id: run.title for run in choice.selection.runs}
    scheme = choice.scheme
    bins = (scheme.binning, scheme.bins) if METRICS[result.metric].binned else ()
    return Export(
        make_file_stem(
            *file_parts(choice.evidences, "runs"),
            choice.method.id,
            result.metric,
            *bins,
            "by",
            result.group_by.title,
        ),
        lambda: result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String)),
        result.recipe,
        content,
        f"{METRICS[result.metric].title} by {result.group_by.title}, {choice.method.title}",
        headline=result.headline,
        tiles=groups_tiles(choice.evidences, result),
    )


def show_differences(choice: GroupsChoice, result: GroupResults) -> None:
    """Draw the paired differences of each level from the baseline, on the same questions."""
    if not result.contrasts:
        return
    st.subheader(PAIRED_TITLE, anchor=False)
    rows = paired_difference_rows(result)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    show_table(
        frame,
        key="differences",
        alt=plural(len(rows), "paired difference"),
        export=replace(groups_export(choice, result, "Paired differences"), frame=lambda: frame),
    )


def show_groups_table(choice: GroupsChoice, result: GroupResults) -> None:
    """Draw one row per group."""
    rows = group_rows(result)
    if rows:
        show_table(
            pl.DataFrame(rows, infer_schema_length=None),
            key="groups_table",
            alt=plural(len(rows), "group"),
            export=groups_export(choice, result, "Table of groups"),
        )
        st.caption(escape_markdown(verdicts_caption(result)))


def cached_hidden_groups(choice: GroupsChoice) -> HiddenGroups:
    """Return the scan over columns and pairs of them, computed once, with a progress bar meanwhile."""
    titles = {run.id: run.title for run in choice.selection.runs}

    def compute() -> HiddenGroups:
        with progress_bar(_SCANNING_MESSAGE) as show:
            return hidden_groups(
                choice.evidences, titles=titles, progress=lambda share: show(share, _SCANNING_MESSAGE)
            )

    return cached_result(("hidden_groups", *choice.selection.cache_key(), tuple(choice.evidences)), compute)


def show_hidden_groups(choice: GroupsChoice, result: HiddenGroups, chosen: str | None) -> None:
    """Draw the groups that the scan found; a click on a row opens its diagram, a second click closes it."""
    st.subheader(HIDDEN_TITLE, anchor=False)
    st.markdown(escape_markdown(result.headline))
    for key, reason in result.unavailable.items():
        if result.n_tried:
            title = next(run.title for run in choice.selection.runs if run.id == key)
            st.caption(f":material/info: {escape_markdown(f'{title}: {reason}')}")
    if not result.groups:
        return
    keys = [group.key for group in result.groups]
    shown = pl.DataFrame(hidden_group_rows(result), infer_schema_length=None)
    columns = fit_column_widths(
        {"Against the rest": st.column_config.TextColumn("Against the rest", help=HIDDEN_HELP)},
        shown,
        *({"Run", "Verdict"} & {*shown.columns}),
    )
    columns = fit_column_widths(columns, shown, "Group", max_width=_MAX_CONDITIONS_WIDTH)
    if chosen is None and st.query_params.get(HIDDEN_KEY):
        st.caption(":material/block: The group in the link is not in this list.")
    widget = rows_key("hidden", chosen, *keys)
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height="content" if len(keys) <= 12 else 460,
        on_select=lambda: select_point_from_table(widget, keys, HIDDEN_KEY),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen in keys
        else None,
        alt=plural(len(keys), "hidden group"),
    )
    table_export_menu(hidden_groups_export(choice, result), "hidden", shown=shown, columns=columns)
    st.caption(f"{escape_markdown(result.caption)} Click a row to see its reliability diagram.")


def hidden_groups_export(choice: GroupsChoice, result: HiddenGroups) -> Export:
    """Return the export of every listed group."""
    return Export(
        make_file_stem("hidden", "groups", *file_parts(choice.evidences, "runs"), choice.method.id),
        result.to_frame,
        result.recipe,
        HIDDEN_TITLE,
        choice.method.title,
    )


def show_hidden_group_diagram(choice: GroupsChoice, group: HiddenGroup) -> None:
    """Draw the reliability diagram of one hidden group's rows."""
    evidence = choice.evidences[group.run]
    run = next(run for run in choice.selection.runs if run.id == group.run)
    title = f"{group.name} · {run.title}"
    st.subheader(escape_markdown(title), anchor=False)
    try:
        result = cached_result(
            ("hidden_group", *choice.cache_key(), group.key),
            lambda: reliability_diagram(
                hidden_group_evidence(evidence, group.conditions), choice.metric, choice.scheme
            ),
        )
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    diagram, text = side_by_side()
    with diagram:
        show_figure(
            lambda theme: reliability_figure(result, theme),
            key="hidden_reliability",
            alt=describe_reliability(result),
            export=Export(
                make_file_stem("hidden", "group", group.name, run.id, choice.method.id, choice.metric),
                result.to_frame,
                result.recipe,
                "Reliability diagram",
                f"{title}, {choice.method.title}",
            ),
        )
    with text:
        st.markdown(escape_markdown(result.headline))
        show_recipe(result.recipe)


def show_group_diagrams(choice: GroupsChoice, result: GroupResults) -> None:
    """Draw small reliability diagrams of the chosen groups, else of the highest, in the figure's order."""
    wanted_keys = choice.diagram_keys or default_diagram_keys(result, len(choice.evidences))
    keys = [key for group in result.groups if (key := result.group_key(group)) in wanted_keys]
    shown = list(dict.fromkeys(keys))[:MAX_DIAGRAMS]
    titles = short_names_by_id([run for run in choice.selection.runs if run.id in choice.evidences])
    diagrams = cached_result(
        ("panels", *choice.cache_key(), tuple(sorted(shown))),
        lambda: [
            _group_diagram(choice, part) for part in group_evidences(choice.evidences, result, titles, shown)
        ],
    )
    if not diagrams:
        return
    diagrams = sorted(diagrams, key=lambda diagram: shown.index(diagram.group.key))[:MAX_DIAGRAMS]
    st.subheader(
        CHOSEN_DIAGRAMS_HEADING if choice.diagram_keys else diagrams_heading(result, shown), anchor=False
    )
    if len(keys) > MAX_DIAGRAMS:
        st.caption(f":material/block: The first {MAX_DIAGRAMS} of {len(keys)} are drawn.")
    has_four_columns = len(diagrams) in (4, 7, 8)  # three columns would leave one diagram alone in a row
    cells = side_by_side(
        len(diagrams), 4 if has_four_columns else 3, min_column_width=230 if has_four_columns else 260
    )
    for number, (cell, diagram) in enumerate(zip(cells, diagrams, strict=True)):
        with cell:
            _show_group_diagram(choice, diagram, f"panel_{number}")


def _group_diagram(choice: GroupsChoice, group: GroupEvidence) -> GroupDiagram:
    """Return the diagram of one group, or the reason why there is none."""
    try:
        return GroupDiagram(group, reliability_diagram(group.evidence, choice.metric, choice.scheme))
    except Unavailable as reason:
        return GroupDiagram(group, str(reason))


def _show_group_diagram(choice: GroupsChoice, diagram: GroupDiagram, key: str) -> None:
    name, run = diagram.group.name, diagram.group.run
    st.subheader(escape_markdown(truncate_middle(name, MAX_NAME_LENGTH)), anchor=False)
    result = diagram.result
    if isinstance(result, str):
        st.caption(escape_markdown(result))
        return
    below = [truncate_middle(run, MAX_NAME_LENGTH + 8)] if run else []
    st.caption("  \n".join(map(escape_markdown, [*below, diagram_note(result)])))
    title = f"{name} · {run}" if run else name
    show_figure(
        lambda theme: small_reliability_figure(result, theme),
        key=key,
        alt=describe_reliability(result),
        export=Export(
            make_file_stem(title, choice.method.id, choice.metric, choice.scheme.binning, choice.scheme.bins),
            result.to_frame,
            result.recipe,
            "Reliability diagram",
            f"{title}, {choice.method.title}",
        ),
    )


def show_paper(choice: GroupsChoice) -> None:
    """Draw what the MMLU replication says of size, shots and tuning, judged on these runs."""
    comparison = cached_result(
        ("mmlu", *choice.selection.cache_key(), choice.scheme, tuple(choice.evidences)),
        lambda: compare_mmlu(choice.evidences, choice.scheme),
    )
    with published_area(comparison):
        show_published(comparison, "groups")


def page() -> None:
    """Draw the page."""
    choice = shell("groups", choose_groups).choice
    result = cached_groups(choice)
    show_groups_summary(choice, result)
    show_groups_figure(choice, result)
    show_differences(choice, result)
    show_groups_table(choice, result)
    show_not_drawn(choice.selection)
    if choice.grouping.target == "rows":
        st.divider()
        hidden = cached_hidden_groups(choice)
        groups = {group.key: group for group in hidden.groups}
        chosen = selected_point(groups, HIDDEN_KEY)
        table, diagram = figure_and_detail(has_detail=chosen is not None)
        with table:
            show_hidden_groups(choice, hidden, chosen)
        if chosen is not None:
            with diagram:
                show_hidden_group_diagram(choice, groups[chosen])
    st.divider()
    show_group_diagrams(choice, result)
    show_paper(choice)


if __name__ == "__main__":
    page()
