"""The page Groups: on which subjects, shots, sizes or tunings is calibration off?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.reliability import (
    describe_reliability,
    reliability_figure,
)
from calib_core.methods.method import Method
from calib_core.metrics import METRICS
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.groups import (
    GroupBy,
    GroupOrder,
    GroupResults,
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
    CHOSEN_HEADING,
    MAX_SERIES,
    NO_GROUPS,
    TOO_MANY_RUNS,
    comparable_levels,
    default_diagram_keys,
    diagrams_heading,
    group_diagrams,
    groups_view,
    hidden_groups_view,
)
from calib_core.views.view import View
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import progress_bar
from pages.state.runs import LoadedRun, cached_groupings, slug
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import show_figure, side_by_side
from pages.widgets.mmlu_preset import mmlu_preset_button
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import (
    methods_and_default,
    pick_method,
    pick_method_options,
    pick_segment,
    select_box,
    select_point,
    selected_point,
)
from pages.widgets.published import published_area, show_published
from pages.widgets.run_choice import pick_metric
from pages.widgets.run_selection import (
    RunSelection,
    pick_one_dataset,
    pick_run_selection,
    runs_to_start_with,
    short_names_by_id,
)
from pages.widgets.shell import shell
from pages.widgets.summary import show_recipe, show_warnings_of_runs
from pages.widgets.view import show_part, show_small_figures, show_view

MAX_DIAGRAMS: Final = 9
SORT_TITLES: Final[Mapping[str, str]] = {"gap": "Gap", "value": "Value", "name": "Name", "n": "Rows"}

HIDDEN_KEY: Final = "hidden"
"""Key of the address that holds the hidden group whose diagram is open."""

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
    def titles(self) -> dict[str, str]:
        """Title by run id."""
        return {run.id: run.title for run in self.selection.runs}

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
    methods, _ = methods_and_default(answer_runs)
    _, default = methods_and_default(runs_to_start_with(url_state, answer_runs))
    if not methods:
        raise Unavailable(NO_GROUPS)
    mmlu_preset_button(methods)
    method = pick_method(url_state, methods, default)
    usable_runs = [run for run in answer_runs if method in run.report.survey.usable]
    selection = pick_run_selection(
        url_state,
        usable_runs,
        methods=(method,),
        pick_dataset=partial(pick_one_dataset, prefer_most="runs"),
        options=pick_method_options(url_state, usable_runs[0].report.survey.usable[method]),
        run_limit=lambda runs: _run_limit(url_state, runs),
    )
    evidences = {
        scored.run.id: scored.evidence
        for scored in selection.run_evidences
        if isinstance(scored.evidence, AnswerEvidence)
    }
    groupings = cached_groupings([run for run in selection.runs if run.id in evidences])
    if not groupings:
        raise Unavailable(NO_GROUPS)
    by = select_box(
        url_state,
        "by",
        "Group by",
        list(groupings),
        next(iter(groupings)),
        title_of=lambda id_: groupings[id_].title,
        help_="A column of the file or a property of the runs. Each value is a group.",
    )
    return _pick_numbers(url_state, selection, evidences, groupings[by])


def _run_limit(url_state: UrlState, runs: Sequence[LoadedRun]) -> tuple[int, str] | None:
    """Return how many runs fit the grouping, and why; the address holds it before its control is drawn."""
    groupings = cached_groupings(runs)
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
        metric = pick_metric(url_state, metric_availability(evidence, scheme), terms=evidence.terms)
    sort = pick_segment(
        url_state,
        "sort",
        SORT_TITLES,
        label="Sort by",
        help_="Largest gap first, with the groups that chance explains last; largest value; name; most rows.",
    )
    keys, names = _diagram_options(selection, evidences, grouping)
    selected = multiselect(
        url_state,
        "groups",
        list(names),
        label="Reliability diagrams",
        title_of=lambda id_: names[id_],
        placeholder="the worst",
        help_=f"Choose up to {MAX_DIAGRAMS} groups. If none is chosen, the worst are shown.",
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
    return select_box(
        url_state,
        "against",
        "Compare with",
        levels,
        levels[0],
        help_="The difference of each other group from this one, on the same questions.",
    )


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

    def compute() -> GroupResults:
        arguments = (choice.evidences, choice.grouping, choice.metric, choice.scheme)
        with progress_bar(_DRAWING_MESSAGE) as show:

            def report_progress(share: float) -> None:
                show(share, _DRAWING_MESSAGE)

            if choice.grouping.target == "rows":
                return groups_of_rows(*arguments, titles=choice.titles, progress=report_progress)
            return groups_of_runs(
                *arguments, titles=choice.titles, reference=choice.baseline_level, progress=report_progress
            )

    return cached_result(("groups", *choice.cache_key(), choice.baseline_level), compute).sorted_by(
        choice.sort
    )


def groups_view_caption(choice: GroupsChoice, result: GroupResults) -> ViewCaption:
    """Return the caption that says which runs and method the groups are of."""
    title = result.worded_metric.title
    by = result.group_by.title
    evidences = list(choice.evidences.values())
    caption = view_caption(
        f"{title} by {by}",
        [choice.titles[id_] for id_ in choice.evidences],
        evidences,
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )
    missing = missing_statistics_note(evidences, [result.metric], choice.scheme, intervals=True)
    return replace(caption, missing_note=missing)


def current_view(choice: GroupsChoice, result: GroupResults) -> View:
    """Return the view of the groups, with the chosen diagrams, else those of the worst groups."""
    wanted_keys = choice.diagram_keys or default_diagram_keys(result, len(choice.evidences))
    keys = [key for group in result.groups if (key := result.group_key(group)) in wanted_keys]
    shown = list(dict.fromkeys(keys))[:MAX_DIAGRAMS]
    names = short_names_by_id([run for run in choice.selection.runs if run.id in choice.evidences])
    diagrams = cached_result(
        ("panels", *choice.cache_key(), tuple(sorted(shown))),
        lambda: group_diagrams(choice.evidences, result, names, choice.scheme, shown),
    )
    diagrams = sorted(diagrams, key=lambda diagram: shown.index(diagram.group.key))[:MAX_DIAGRAMS]
    return groups_view(
        result,
        method=choice.method.id,
        titles=choice.titles,
        style_indices={run.id: run.style_index for run in choice.selection.runs},
        diagrams=diagrams,
        diagrams_heading=CHOSEN_HEADING if choice.diagram_keys else diagrams_heading(result, shown),
        left_out={choice.titles[run]: why for (run, _), why in choice.selection.unavailable.items()},
        notes=[f"The first {MAX_DIAGRAMS} of {len(keys)} diagrams are drawn."]
        if len(keys) > MAX_DIAGRAMS
        else [],
    )


def cached_hidden_groups(choice: GroupsChoice) -> HiddenGroups:
    """Return the scan over columns and pairs of them, computed once, with a progress bar meanwhile."""

    def compute() -> HiddenGroups:
        with progress_bar(_SCANNING_MESSAGE) as show:
            return hidden_groups(
                choice.evidences, titles=choice.titles, progress=lambda share: show(share, _SCANNING_MESSAGE)
            )

    return cached_result(("hidden_groups", *choice.selection.cache_key(), tuple(choice.evidences)), compute)


def show_hidden_groups(choice: GroupsChoice, result: HiddenGroups) -> None:
    """Draw the groups that the scan found; a click on a row opens its diagram, a second click closes it."""
    groups = {group.key: group for group in result.groups}
    chosen = selected_point(groups, HIDDEN_KEY)
    view = hidden_groups_view(result, method=choice.method.id, titles=choice.titles)
    st.subheader(escape_markdown(view.title), anchor=False)
    st.markdown(escape_markdown(view.headline))
    show_part(
        view,
        HIDDEN_KEY,
        chosen=chosen,
        select=partial(select_point, url_key=HIDDEN_KEY),
        detail=None if chosen is None else lambda: show_hidden_group_diagram(choice, groups[chosen]),
    )
    if groups and chosen is None and st.query_params.get(HIDDEN_KEY):
        st.caption(":material/block: The group in the link is not in this list.")


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
    view = current_view(choice, result)
    show_view(
        view,
        groups_view_caption(choice, result),
        controls=lambda: show_warnings_of_runs(
            (choice.titles[id_], evidence) for id_, evidence in choice.evidences.items()
        ),
    )
    if choice.grouping.target == "rows":
        st.divider()
        show_hidden_groups(choice, cached_hidden_groups(choice))
    st.divider()
    show_small_figures(view)
    show_paper(choice)


if __name__ == "__main__":
    page()
