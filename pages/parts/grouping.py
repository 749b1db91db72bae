"""By what, of which runs and which number does the person want to see groups?  The Groups page's controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groupings import Grouping, groupings, row_groups
from calib_core.analysis.groups import Sort
from calib_core.analysis.score import available_metrics
from calib_core.bins import Scheme
from calib_core.confidence.method import Method
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections import groups as section
from pages.parts import picking
from pages.parts.address import Address
from pages.parts.binning import binning_of
from pages.parts.choice import metric_of
from pages.parts.many import Many, choose_many, names_of
from pages.parts.runs import Run, slug
from pages.parts.several import several
from pages.parts.switches import options

MOST_PANELS: Final = 9
SORT: Final[Mapping[str, str]] = {"value": "Value", "name": "Name", "n": "Rows"}
PRESET: Final[Mapping[str, str]] = {
    "method": "choice_length_normalised", "labels": "all", "renormalise": "no",
}
"""How the MMLU replication reads choices; M = 10 and equal width are the defaults."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Runs seen by one method, sorted by one grouping.

    against: the level that others are compared with; panels: of what reliability diagrams are wanted, by
    `Groups.key`; () where nobody has chosen.
    """

    many: Many
    seen: Mapping[str, AnswerEvidence]
    grouping: Grouping
    metric: str
    scheme: Scheme
    sort: Sort
    against: str | None
    panels: tuple[str, ...]

    @property
    def method(self) -> Method:
        """The one that all runs are seen by."""
        return next(iter(self.seen.values())).method

    @property
    def places(self) -> dict[str, int]:
        """Series → place of the run among all at hand; by facts of runs no series is a run."""
        return {run.id: run.place for run in self.many.runs} if self.grouping.of == "rows" else {}

    def key(self) -> tuple[object, ...]:
        """What tells its numbers from any other's, for keeping them; their order is none of it."""
        return (*self.many.key(), tuple(self.seen), self.grouping.id, self.metric, self.scheme)


def choose_groups(address: Address, runs: Sequence[Run]) -> Choice:
    """The controls of the page Groups; raises Unavailable where nothing can be grouped."""
    answers = [run for run in runs if isinstance(run.report.run, AnswerRun)]
    methods, most = picking.most_given(answers)
    if not methods:
        raise Unavailable(section.NOTHING_SORTS)
    _preset(methods)
    method = picking.method(address, methods, most)
    able = [run for run in answers if method in run.report.survey.usable]
    many = choose_many(
        address, able, methods=(method,), most_of="runs",
        options=options(address, able[0].report.survey.usable[method]),
        room=lambda runs: _room(address, runs),
    )
    seen = {
        one.run.id: one.evidence for one in many.seen if isinstance(one.evidence, AnswerEvidence)
    }
    ways = groupings({id_: evidence.run for id_, evidence in seen.items()})
    if not ways:
        raise Unavailable(section.NOTHING_SORTS)
    by = address.pick("by", list(ways), next(iter(ways)))
    st.selectbox(
        "Group by", list(ways), key="by", format_func=lambda id_: ways[id_].title,
        help="A column of the file, or what the runs say of themselves; each value is a group.",
    )
    return _numbers(address, many, seen, ways[by])


def _room(address: Address, runs: Sequence[Run]) -> tuple[int, str] | None:
    """How many runs can be shown, by what they are sorted by; asked before that has its control."""
    ways = groupings({run.id: run.report.run for run in runs if isinstance(run.report.run, AnswerRun)})
    by = address.wanted("by", "")
    way = ways.get(by) or next(iter(ways.values()), None)
    return (section.MOST_SERIES, section.TOO_MANY) if way and way.of == "rows" else None


def _numbers(
    address: Address, many: Many, seen: Mapping[str, AnswerEvidence], grouping: Grouping
) -> Choice:
    """The controls below the grouping: which number, in which order, which diagrams."""
    evidence = next(iter(seen.values()))
    against = _against(address, seen, grouping)
    above_the_bins = st.container()
    scheme = binning_of(address, evidence)
    with above_the_bins:
        metric = metric_of(address, available_metrics(evidence, scheme))
    sort = picking.segments(
        address, "sort", SORT, label="Sorted by",
        help_="The largest number first, by name, or the most rows first.",
    )
    keys, names = _panels(many, seen, grouping)
    chosen = several(
        address, "groups", list(names), label="Reliability diagrams", titled=lambda id_: names[id_],
        placeholder="the highest",
        help_=f"Up to {MOST_PANELS} small ones stand below; none chosen: those of the highest number.",
    )
    return Choice(
        many, seen, grouping, metric, scheme, cast("Sort", sort), against,
        tuple(keys[id_] for id_ in chosen),
    )


def _preset(methods: Sequence[str]) -> None:
    st.button(
        "As in the MMLU replication", key="mmlu", on_click=_use_preset, width="stretch",
        icon=":material/auto_awesome_motion:", disabled=PRESET["method"] not in methods,
        help="All labels, length-normalised, not renormalised, M = 10: how Kadavath et al. and the MMLU "
        "replication read multiple choice. It needs log-probabilities of the choices and their lengths.",
    )


def _use_preset() -> None:
    """All at once, so that one step back undoes it."""
    kept = {
        key: value for key, value in st.query_params.to_dict().items()
        if key not in ("m", "binning", "metric")
    }
    st.query_params.from_dict({**kept, **PRESET})


def _against(
    address: Address, seen: Mapping[str, AnswerEvidence], grouping: Grouping
) -> str | None:
    """The level that the others are compared with, where there is a choice."""
    levels = section.levels_against(seen, grouping)
    if not levels:
        return None
    against = address.pick("against", levels, levels[0])
    st.selectbox(
        "Compared with", levels, key="against",
        help="The others less this one, on the same questions, of runs alike in everything else.",
    )
    return against


def _panels(
    many: Many, seen: Mapping[str, AnswerEvidence], grouping: Grouping
) -> tuple[dict[str, str], dict[str, str]]:
    """Id → what a diagram is drawn of, as `Groups.key` has it; id → what that is called."""
    if grouping.of == "runs":
        names = names_of([run for run in many.runs if run.id in seen])
        return {id_: id_ for id_ in names}, names
    found = dict.fromkeys(
        str(name) for evidence in seen.values()
        for name in row_groups(evidence.run, grouping).drop_nulls().unique().to_list()
    )
    ids: dict[str, str] = {}
    for name in sorted(found, key=str.casefold):
        id_ = slug(name)
        ids[id_ if id_ not in ids else f"{id_}-{len(ids)}"] = name
    return ids, ids
