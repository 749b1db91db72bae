"""By what, of which runs and which number does the person want to see groups?  The Groups page's controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groupings import GroupBy, group_by_choices, row_groups
from calib_core.analysis.groups import GroupOrder
from calib_core.analysis.score import metric_availability
from calib_core.bins import Scheme
from calib_core.confidence.method import Method
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections import groups as section
from pages.parts import picking
from pages.parts.address import UrlState
from pages.parts.binning import pick_binning
from pages.parts.choice import pick_metric
from pages.parts.many import RunSelection, pick_run_selection, short_names_by_id
from pages.parts.runs import LoadedRun, slug
from pages.parts.several import multiselect
from pages.parts.switches import pick_method_options

MAX_DIAGRAMS: Final = 9
SORT_TITLES: Final[Mapping[str, str]] = {"value": "Value", "name": "Name", "n": "Rows"}
MMLU_PRESET: Final[Mapping[str, str]] = {
    "method": "choice_length_normalised", "labels": "all", "renormalise": "no",
}
"""How the MMLU replication reads choices; M = 10 and equal width are the defaults."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupsChoice:
    """Runs seen by one method, sorted by one grouping.

    against: the level that others are compared with; panels: of what reliability diagrams are wanted, by
    `Groups.key`; () where nobody has chosen.
    """

    selection: RunSelection
    evidences: Mapping[str, AnswerEvidence]
    grouping: GroupBy
    metric: str
    scheme: Scheme
    sort: GroupOrder
    against: str | None
    diagram_keys: tuple[str, ...]

    @property
    def method(self) -> Method:
        """The one that all runs are seen by."""
        return next(iter(self.evidences.values())).method

    @property
    def style_indices(self) -> dict[str, int]:
        """Series → place of the run among all at hand; by facts of runs no series is a run."""
        return {run.id: run.style_index for run in self.selection.runs} if self.grouping.target == "rows" else {}

    def cache_key(self) -> tuple[object, ...]:
        """What tells its numbers from any other's, for keeping them; their order is none of it."""
        return (*self.selection.cache_key(), tuple(self.evidences), self.grouping.id, self.metric, self.scheme)


def choose_groups(url_state: UrlState, runs: Sequence[LoadedRun]) -> GroupsChoice:
    """The controls of the page Groups; raises Unavailable where nothing can be grouped."""
    answers = [run for run in runs if isinstance(run.report.run, AnswerRun)]
    methods, most = picking.most_common_method(answers)
    if not methods:
        raise Unavailable(section.NO_GROUPS)
    _preset_button(methods)
    method = picking.pick_method(url_state, methods, most)
    able = [run for run in answers if method in run.report.survey.usable]
    many = pick_run_selection(
        url_state, able, methods=(method,), prefer_most="runs",
        options=pick_method_options(url_state, able[0].report.survey.usable[method]),
        run_limit=lambda runs: _run_limit(url_state, runs),
    )
    seen = {
        one.run.id: one.evidence for one in many.run_evidences if isinstance(one.evidence, AnswerEvidence)
    }
    ways = group_by_choices({id_: evidence.run for id_, evidence in seen.items()})
    if not ways:
        raise Unavailable(section.NO_GROUPS)
    by = url_state.pick("by", list(ways), next(iter(ways)))
    st.selectbox(
        "Group by", list(ways), key="by", format_func=lambda id_: ways[id_].title,
        help="A column of the file, or what the runs say of themselves; each value is a group.",
    )
    return _pick_numbers(url_state, many, seen, ways[by])


def _run_limit(url_state: UrlState, runs: Sequence[LoadedRun]) -> tuple[int, str] | None:
    """How many runs can be shown, by what they are sorted by; asked before that has its control."""
    ways = group_by_choices({run.id: run.report.run for run in runs if isinstance(run.report.run, AnswerRun)})
    by = url_state.requested("by", "")
    way = ways.get(by) or next(iter(ways.values()), None)
    return (section.MAX_SERIES, section.TOO_MANY_RUNS) if way and way.target == "rows" else None


def _pick_numbers(
    url_state: UrlState, selection: RunSelection, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> GroupsChoice:
    """The controls below the grouping: which number, in which order, which diagrams."""
    evidence = next(iter(evidences.values()))
    against = _pick_baseline_level(url_state, evidences, grouping)
    above_the_bins = st.container()
    scheme = pick_binning(url_state, evidence)
    with above_the_bins:
        metric = pick_metric(url_state, metric_availability(evidence, scheme))
    sort = picking.pick_segment(
        url_state, "sort", SORT_TITLES, label="Sorted by",
        help_="The largest number first, by name, or the most rows first.",
    )
    keys, names = _diagram_options(selection, evidences, grouping)
    chosen = multiselect(
        url_state, "groups", list(names), label="Reliability diagrams", title_of=lambda id_: names[id_],
        placeholder="the highest",
        help_=f"Up to {MAX_DIAGRAMS} small ones stand below; none chosen: those of the highest number.",
    )
    return GroupsChoice(
        selection, evidences, grouping, metric, scheme, cast("Sort", sort), against,
        tuple(keys[id_] for id_ in chosen),
    )


def _preset_button(methods: Sequence[str]) -> None:
    st.button(
        "As in the MMLU replication", key="mmlu", on_click=_use_preset, width="stretch",
        icon=":material/auto_awesome_motion:", disabled=MMLU_PRESET["method"] not in methods,
        help="All labels, length-normalised, not renormalised, M = 10: how Kadavath et al. and the MMLU "
        "replication read multiple choice. It needs log-probabilities of the choices and their lengths.",
    )


def _use_preset() -> None:
    """All at once, so that one step back undoes it."""
    kept = {
        key: value for key, value in st.query_params.to_dict().items()
        if key not in ("m", "binning", "metric")
    }
    st.query_params.from_dict({**kept, **MMLU_PRESET})


def _pick_baseline_level(
    url_state: UrlState, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> str | None:
    """The level that the others are compared with, where there is a choice."""
    levels = section.comparable_levels(evidences, grouping)
    if not levels:
        return None
    against = url_state.pick("against", levels, levels[0])
    st.selectbox(
        "Compared with", levels, key="against",
        help="The others less this one, on the same questions, of runs alike in everything else.",
    )
    return against


def _diagram_options(
    selection: RunSelection, evidences: Mapping[str, AnswerEvidence], grouping: GroupBy
) -> tuple[dict[str, str], dict[str, str]]:
    """Id → what a diagram is drawn of, as `Groups.key` has it; id → what that is called."""
    if grouping.target == "runs":
        names = short_names_by_id([run for run in selection.runs if run.id in evidences])
        return {id_: id_ for id_ in names}, names
    found = dict.fromkeys(
        str(name) for evidence in evidences.values()
        for name in row_groups(evidence.run, grouping).drop_nulls().unique().to_list()
    )
    ids: dict[str, str] = {}
    for name in sorted(found, key=str.casefold):
        id_ = slug(name)
        ids[id_ if id_ not in ids else f"{id_}-{len(ids)}"] = name
    return ids, ids
