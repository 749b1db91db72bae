"""Which runs does the person want to see, each by which methods?  The controls of pages that compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.defaults import METHOD_PREFERENCE
from calib_core.results.evidence import Evidence
from calib_core.results.run_names import short_run_names
from pages.state.cache import run_evidence
from pages.state.runs import LoadedRun, slug
from pages.state.url import UrlState
from pages.widgets.multiselect import MultiselectOffer, limited_multiselect, multiselect
from pages.widgets.summary import show_reasons

METHODS_HELP: Final = "Where the confidence comes from: each method reads its own off the same answers."
ALL_DATASETS: Final = "*"
"""The data set's id in the address where runs of all of them are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class RunEvidence:
    """One run seen by one method."""

    run: LoadedRun
    evidence: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class RunSelection:
    """Several runs, each seen by several methods.

    dataset: the one all runs are of, None where they are not held to one; seen: by run, then by method in
    the registry's order; refused: (run id, method id) → why that run does not give that confidence.
    """

    dataset: str | None
    runs: tuple[LoadedRun, ...]
    methods: tuple[str, ...]
    run_evidences: tuple[RunEvidence, ...]
    unavailable: Mapping[tuple[str, str], str]

    def cache_key(self) -> tuple[object, ...]:
        """What tells these from any other, for keeping a result."""
        return tuple(
            (one.run.file.name, one.run.file.stamp, one.run.id, one.evidence.method.id, one.evidence.options)
            for one in self.run_evidences
        )


def pick_run_selection(
    url_state: UrlState,
    runs: Sequence[LoadedRun],
    *,
    methods: Sequence[str] = METHOD_PREFERENCE,
    max_methods: int = 3,
    options: MethodOptions | None = None,
    prefer_most: Literal["models", "runs"] = "models",
    extra_methods: Mapping[str, Collection[str]] = MappingProxyType({}),
    run_limit: Callable[[Sequence[LoadedRun]], tuple[int, str] | None] = lambda _runs: None,
) -> RunSelection:
    """The controls of data set, runs and methods, and what they are set to.

    methods: those offered, the first `most` that some run can give being shown by default (of a single one
    nothing is asked); most_of: the data set with most of them is shown first; also: run id → methods that the
    page itself makes something of; room: the data set's runs → how many of them can be shown, and why no
    more, None if any number. Raises Unavailable where no run fits.
    """
    can = {run.id: {*run.report.survey.usable, *extra_methods.get(run.id, ())} for run in runs}
    fit = [run for run in runs if can[run.id].intersection(methods)]
    if not fit:
        offered = ", ".join(METHODS[id_].title for id_ in methods)
        raise Unavailable(f"No run here gives one of these confidences: {offered}. The page Files says why.")
    dataset, fit = _pick_dataset(url_state, fit, prefer_most)
    by_id = {run.id: run for run in fit}
    chosen = _pick_run_ids(url_state, list(by_id), short_names_by_id(fit), run_limit(fit))
    able = [id_ for id_ in methods if any(id_ in can[run] for run in chosen)]
    shown = (
        able
        if len(methods) == 1
        else multiselect(
            url_state,
            "methods",
            [id_ for id_ in METHODS if id_ in able],
            label="Confidence methods",
            title_of=lambda id_: METHODS[id_].title,
            default=[id_ for id_ in METHODS if id_ in able[:max_methods]],
            help_=METHODS_HELP,
        )
    )
    ordered, runs = [id_ for id_ in METHODS if id_ in shown], [run for run in fit if run.id in chosen]
    made = any(id_ in extra_methods.get(run.id, ()) for run in runs for id_ in ordered)
    return _gather_selection(dataset, runs, ordered, options or MethodOptions(), allow_empty=made)


def _pick_run_ids(
    url_state: UrlState, ids: Sequence[str], names: Mapping[str, str], limit: tuple[int, str] | None
) -> list[str]:
    """The control of the runs, and those it is set to; by default all that there is room for."""
    most, why = limit or (len(ids), "")
    if len(ids) <= most:
        return multiselect(
            url_state,
            "runs",
            ids,
            label="Runs",
            title_of=lambda id_: names[id_],
            default=ids,
            help_="Those that are compared; none chosen means all.",
        )
    chosen = limited_multiselect(
        url_state,
        MultiselectOffer("runs", ids, limit=limit),
        label="Runs",
        title_of=lambda id_: names[id_],
        default=ids[:most],
        help_=f"Those that are compared; none chosen means the first {most}.",
    )
    st.caption(f"{len(chosen)} of {len(ids)}, {most} at most: {why}")
    return chosen


def short_names_by_id(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Run id → what it is called for short beside these others."""
    return short_run_names({run.id: run.report.run.info for run in runs}, {run.id: run.title for run in runs})


def _pick_dataset(
    url_state: UrlState, runs: Sequence[LoadedRun], prefer_most: Literal["models", "runs"]
) -> tuple[str | None, list[LoadedRun]]:
    """The control of the data set, and the runs of the chosen one."""
    names = {run.id: run.report.run.info.dataset for run in runs}
    if len(set(names.values())) < 2:
        return next(iter(names.values())), list(runs)
    titles = {slug(name): name for name in names.values() if name is not None}
    of = {id_: [run for run in runs if names[run.id] == name] for id_, name in titles.items()}
    likely = max(
        of, key=lambda id_: _model_and_run_counts(of[id_]) if prefer_most == "models" else (len(of[id_]), 0)
    )
    picked = url_state.pick("dataset", [*titles, ALL_DATASETS], likely)
    if url_state.held.get("dataset") == picked:
        url_state.remember(
            "dataset", picked, ""
        )  # the default here, it may be none on the page it was chosen on
    st.selectbox(
        "Data set",
        [*titles, ALL_DATASETS],
        key="dataset",
        format_func=lambda id_: f"all ({len(runs)} runs)" if id_ == ALL_DATASETS else titles[str(id_)],
        help="Numbers of different data sets stand on different questions: compare within one.",
    )
    if picked == ALL_DATASETS:
        return None, list(runs)
    return titles[picked], of[picked]


def _model_and_run_counts(runs: Sequence[LoadedRun]) -> tuple[int, int]:
    """How many models these runs are of, by name (checkpoints of one are one), then how many runs."""
    return len({run.report.run.info.model or run.id for run in runs}), len(runs)


def _gather_selection(
    dataset: str | None,
    runs: Sequence[LoadedRun],
    methods: Sequence[str],
    options: MethodOptions,
    *,
    allow_empty: bool,
) -> RunSelection:
    seen: list[RunEvidence] = []
    refused: dict[tuple[str, str], str] = {}
    for run in runs:
        survey = run.report.survey
        for method in methods:
            if method not in survey.usable:
                refused[run.id, method] = survey.unavailable.get(method, "It does not give this confidence.")
                continue
            try:
                seen.append(RunEvidence(run, run_evidence(run.report, run.file.stamp, method, options)))
            except Unavailable as reason:
                refused[run.id, method] = str(reason)
    if not seen and not allow_empty:
        raise Unavailable("None of the chosen runs gives one of the chosen confidences.")
    return RunSelection(dataset, tuple(runs), tuple(methods), tuple(seen), refused)


def show_not_drawn(selection: RunSelection) -> None:
    """What is not drawn, each with its reason."""
    titles = {run.id: run.title for run in selection.runs}
    show_reasons(
        "Not drawn",
        {
            f"{titles[run]}, {METHODS[method].title}": why
            for (run, method), why in selection.unavailable.items()
        },
        key="not_drawn",
    )
