"""Which runs and methods are lines on one reliability diagram?  The control "Lines" → what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.lines import MAX_LINES, TOO_MANY_LINES, ReliabilityLines, reliability_lines
from calib_core.analysis.preferred import METHOD_PREFERENCE
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.report.subject import applicable_options
from pages.parts import cache, ids
from pages.parts.address import UrlState
from pages.parts.choice import RunChoice, choose_run
from pages.parts.many import RunEvidence, short_names_by_id
from pages.parts.runs import LoadedRun
from pages.parts.several import MultiselectOffer, limited_multiselect

LINES_HELP: Final = (
    f"Up to {MAX_LINES} runs, each by one of its methods, on one diagram: metric, bins and switches as above. "
    "Type to search."
)


@dataclass(frozen=True, slots=True, eq=False)
class LinesChoice:
    """The page's own choice, and lines beside one another: key "run~method" → what is seen.

    refused: key → why it is no line; titles: key → run and method in words, of those too.
    """

    choice: RunChoice
    run_evidences: Mapping[str, RunEvidence]
    unavailable: Mapping[str, str]
    titles: Mapping[str, str]

    @property
    def page_line(self) -> str:
        """The key of the page's own run and method."""
        return line_key(self.choice.run, self.choice.evidence.method.id)

    @property
    def style_indices(self) -> dict[str, int]:
        """Key → place of the line's run among all runs at hand."""
        return {key: one.run.style_index for key, one in self.run_evidences.items()}

    def cached_lines(self) -> ReliabilityLines:
        """The lines, computed once."""
        scheme, metric = self.choice.scheme, self.choice.metric
        shown = tuple(
            (key, one.run.file.name, one.run.file.stamp, one.evidence.options)
            for key, one in self.run_evidences.items()
        )
        return cache.cached_result(("lines", shown, metric, scheme), lambda: reliability_lines(
            {key: one.evidence for key, one in self.run_evidences.items()}, metric, scheme,
            titles={key: one.run.title for key, one in self.run_evidences.items()},
        ))


def line_key(run: LoadedRun, method: str) -> str:
    """"run~method": an id of neither has such a mark."""
    return f"{run.id}~{method}"


def choose_lines(url_state: UrlState, runs: Sequence[LoadedRun]) -> LinesChoice:
    """The page's own choice, and which lines are drawn besides. Raises Unavailable as `choose`."""
    choice = choose_run(url_state, runs)
    called = short_names_by_id(runs)
    pairs = {line_key(run, id_): (run, id_) for run in runs for id_ in run.report.survey.usable}
    titles = {key: f"{called[run.id]} · {METHODS[id_].title}" for key, (run, id_) in pairs.items()}
    with st.expander("Lines on one diagram", key="lines_control", expanded="lines" in st.query_params):
        chosen = limited_multiselect(
            url_state, MultiselectOffer("lines", list(pairs), _url_names(runs), (MAX_LINES, TOO_MANY_LINES)), label="Runs and methods",
            title_of=lambda key: titles[key], help_=LINES_HELP, placeholder="none chosen",
        )
        _quick_choices(choice, runs, list(pairs))
    seen: dict[str, RunEvidence] = {}
    refused: dict[str, str] = {}
    for key in chosen:
        run, method = pairs[key]
        try:
            seen[key] = RunEvidence(run, _line_evidence(choice, run, method))
        except Unavailable as reason:
            refused[key] = str(reason)
    return LinesChoice(choice, seen, refused, titles)


def _url_names(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Key → as in the address: the run alone where the method is the one that it opens with."""
    return {
        line_key(run, id_): line_key(run, id_) if at else run.id
        for run in runs
        for at, id_ in enumerate(run.report.survey.usable)
    }


def _line_evidence(choice: RunChoice, run: LoadedRun, method: str) -> Evidence:
    """What the method says of the run under the page's switches, as far as it has them.

    Raises Unavailable where it cannot be had so.
    """
    plain = run.report.survey.usable[method]
    return cache.run_evidence(run.report, run.file.stamp, method, applicable_options(choice.evidence.options, plain))


def _quick_choices(choice: RunChoice, runs: Sequence[LoadedRun], allowed: Sequence[str]) -> None:
    """Two ways to have several lines with one click: the runs of one method, the methods of one run."""
    run, method = choice.run, choice.evidence.method.id
    usable = run.report.survey.usable
    able = [other for other in runs if method in other.report.survey.usable]
    near = sorted(able, key=lambda other: (
        other is not run, other.report.run.info.dataset != run.report.run.info.dataset,
    ))
    methods = [method, *(id_ for id_ in dict.fromkeys(METHOD_PREFERENCE) if id_ in usable and id_ != method)]
    ways = {
        "runs": ([line_key(other, method) for other in near], "This run and others like it, by this method."),
        "methods": ([line_key(run, id_) for id_ in methods], "This run by each of its methods."),
    }
    with st.container(horizontal=True):
        for things, (keys, help_) in ways.items():
            text = ids.encode_ids(keys[:MAX_LINES], allowed, _url_names(runs))
            if len(keys) > 1:
                st.button(
                    f"Draw {min(len(keys), MAX_LINES)} {things}", key=f"lines_{things}", on_click=_use_lines,
                    args=(text,), help=f"{help_} {MAX_LINES} at most.",
                )


def _use_lines(text: str) -> None:
    st.query_params["lines"] = text
