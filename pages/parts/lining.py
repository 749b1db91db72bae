"""Which runs and methods are lines on one reliability diagram?  The control "Lines" → what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.lines import MOST, TOO_MANY, Lines, lines
from calib_core.analysis.preferred import PREFERRED
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.report.subject import fitting
from pages.parts import cache, ids
from pages.parts.address import Address
from pages.parts.choice import Choice, choose
from pages.parts.many import Seen, names_of
from pages.parts.runs import Run
from pages.parts.several import Offer, several_of

HELP: Final = (
    f"Up to {MOST} runs, each by one of its methods, on one diagram: metric, bins and switches as above. "
    "Type to search."
)


@dataclass(frozen=True, slots=True, eq=False)
class Lined:
    """The page's own choice, and lines beside one another: key "run~method" → what is seen.

    refused: key → why it is no line; titles: key → run and method in words, of those too.
    """

    choice: Choice
    seen: Mapping[str, Seen]
    refused: Mapping[str, str]
    titles: Mapping[str, str]

    @property
    def chosen(self) -> str:
        """The key of the page's own run and method."""
        return key_of(self.choice.run, self.choice.evidence.method.id)

    @property
    def places(self) -> dict[str, int]:
        """Key → place of the line's run among all runs at hand."""
        return {key: one.run.place for key, one in self.seen.items()}

    def result(self) -> Lines:
        """The lines, computed once."""
        scheme, metric = self.choice.scheme, self.choice.metric
        shown = tuple(
            (key, one.run.file.name, one.run.file.stamp, one.evidence.options)
            for key, one in self.seen.items()
        )
        return cache.kept(("lines", shown, metric, scheme), lambda: lines(
            {key: one.evidence for key, one in self.seen.items()}, metric, scheme,
            titles={key: one.run.title for key, one in self.seen.items()},
        ))


def key_of(run: Run, method: str) -> str:
    """"run~method": an id of neither has such a mark."""
    return f"{run.id}~{method}"


def choose_lines(address: Address, runs: Sequence[Run]) -> Lined:
    """The page's own choice, and which lines are drawn besides. Raises Unavailable as `choose`."""
    choice = choose(address, runs)
    called = names_of(runs)
    pairs = {key_of(run, id_): (run, id_) for run in runs for id_ in run.report.survey.usable}
    titles = {key: f"{called[run.id]} · {METHODS[id_].title}" for key, (run, id_) in pairs.items()}
    with st.expander("Lines on one diagram", key="lines_control", expanded="lines" in st.query_params):
        chosen = several_of(
            address, Offer("lines", list(pairs), _names(runs), (MOST, TOO_MANY)), label="Runs and methods",
            titled=lambda key: titles[key], help_=HELP, placeholder="none chosen",
        )
        _at_once(choice, runs, list(pairs))
    seen: dict[str, Seen] = {}
    refused: dict[str, str] = {}
    for key in chosen:
        run, method = pairs[key]
        try:
            seen[key] = Seen(run, _evidence(choice, run, method))
        except Unavailable as reason:
            refused[key] = str(reason)
    return Lined(choice, seen, refused, titles)


def _names(runs: Sequence[Run]) -> dict[str, str]:
    """Key → as in the address: the run alone where the method is the one that it opens with."""
    return {
        key_of(run, id_): key_of(run, id_) if at else run.id
        for run in runs
        for at, id_ in enumerate(run.report.survey.usable)
    }


def _evidence(choice: Choice, run: Run, method: str) -> Evidence:
    """What the method says of the run under the page's switches, as far as it has them.

    Raises Unavailable where it cannot be had so.
    """
    plain = run.report.survey.usable[method]
    return cache.seen(run.report, run.file.stamp, method, fitting(choice.evidence.options, plain))


def _at_once(choice: Choice, runs: Sequence[Run], allowed: Sequence[str]) -> None:
    """Two ways to have several lines with one click: the runs of one method, the methods of one run."""
    run, method = choice.run, choice.evidence.method.id
    usable = run.report.survey.usable
    able = [other for other in runs if method in other.report.survey.usable]
    near = sorted(able, key=lambda other: (
        other is not run, other.report.run.info.dataset != run.report.run.info.dataset,
    ))
    methods = [method, *(id_ for id_ in dict.fromkeys(PREFERRED) if id_ in usable and id_ != method)]
    ways = {
        "runs": ([key_of(other, method) for other in near], "This run and others like it, by this method."),
        "methods": ([key_of(run, id_) for id_ in methods], "This run by each of its methods."),
    }
    with st.container(horizontal=True):
        for things, (keys, help_) in ways.items():
            text = ids.written(keys[:MOST], allowed, _names(runs))
            if len(keys) > 1:
                st.button(
                    f"Draw {min(len(keys), MOST)} {things}", key=f"lines_{things}", on_click=_use,
                    args=(text,), help=f"{help_} {MOST} at most.",
                )


def _use(text: str) -> None:
    st.query_params["lines"] = text
