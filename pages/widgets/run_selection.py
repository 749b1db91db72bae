"""Sidebar controls of pages that compare: which runs, each by which confidence methods?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.methods import METHODS, in_order
from calib_core.methods.method import MethodOptions
from calib_core.results.defaults import MAX_DEFAULT_METHODS, METHOD_PREFERENCE
from calib_core.results.evidence import Evidence
from calib_core.results.judged_answer import JudgedChoice, judged_choices
from calib_core.results.run_names import short_run_names
from calib_core.runs import AnswerRun
from pages.state.cache import cached_result, run_evidence
from pages.state.markdown import escape_markdown
from pages.state.runs import MAX_MEASURES, LoadedRun, dataset_id, dataset_titles, slug
from pages.state.url import UrlState
from pages.widgets.multiselect import MultiselectOffer, limited_multiselect, multiselect, set_chosen
from pages.widgets.pickers import pick_segment, select_box

METHODS_HELP: Final = "How the numbers are obtained from the model."
ALL_DATASETS: Final = "*"
"""Id of the data set in the address where runs of every data set are shown."""

JUDGED_TITLES: Final = {"own": "Each method's own", "majority": "Majority", "greedy": "Greedy"}

PickDataset: TypeAlias = Callable[[UrlState, Sequence[LoadedRun], str | None], list[LoadedRun]]
"""Takes the runs and the data set that is studied; draws the control of data sets and returns their runs."""

ENOUGH_TO_COMPARE: Final = 3
"""Models or runs of a data set from which on it may be the default."""


@dataclass(frozen=True, slots=True, eq=False)
class RunEvidence:
    """One run scored by one method."""

    run: LoadedRun
    evidence: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class RunSelection:
    """Several runs, each scored by several methods.

    Attributes
    ----------
    runs : tuple of LoadedRun
    methods : tuple of str
        Ids in the registry's order.
    run_evidences : tuple of RunEvidence
        By run, then by method.
    unavailable : Mapping of (str, str) to str
        Run id and method id → why the run does not give that confidence.
    """

    runs: tuple[LoadedRun, ...]
    methods: tuple[str, ...]
    run_evidences: tuple[RunEvidence, ...]
    unavailable: Mapping[tuple[str, str], str]

    def cache_key(self) -> tuple[object, ...]:
        """Return what distinguishes these runs and methods from any others."""
        return tuple(
            (*scored.run.source, scored.run.title, scored.evidence.method.id, scored.evidence.options)
            for scored in self.run_evidences
        )


def pick_run_selection(
    url_state: UrlState,
    runs: Sequence[LoadedRun],
    *,
    methods: Sequence[str] | None = None,
    default_methods: Callable[[Sequence[str], int], Sequence[str]] = lambda available, _n_runs: available[
        :MAX_DEFAULT_METHODS
    ],
    options: MethodOptions | None = None,
    pick_dataset: PickDataset | None = None,
    extra_methods: Mapping[str, Collection[str]] = MappingProxyType({}),
    run_limit: Callable[[Sequence[LoadedRun]], tuple[int, str] | None] = lambda _runs: None,
) -> RunSelection:
    """Draw the controls of data set, runs and methods, and return what is selected.

    Parameters
    ----------
    url_state : UrlState
    runs : Sequence of LoadedRun
    methods : Sequence of str, optional
        Ids offered; a single one needs no control. All where omitted, the likeliest to be chosen first.
    default_methods : Callable
        Takes the methods that the chosen runs have, in the order of `methods`, and the number of these runs;
        returns those selected by default.
    options : MethodOptions, optional
    pick_dataset : Callable, optional
        Draws the control of the data set: `pick_one_dataset` where omitted.
    extra_methods : Mapping of str to Collection of str
        Run id → methods for which the page itself makes evidence.
    run_limit : Callable
        Takes the data set's runs; returns how many can be shown and why, None for any number.

    Raises
    ------
    Unavailable
        Where no run gives one of the methods.
    """
    methods_by_run = {run.id: {*run.report.survey.usable, *extra_methods.get(run.id, ())} for run in runs}
    if methods is None:
        methods = in_order(itertools.chain(METHODS, *methods_by_run.values()), METHOD_PREFERENCE)
    candidates = [run for run in runs if methods_by_run[run.id].intersection(methods)]
    if not candidates:
        offered = ", ".join(METHODS[id_].title for id_ in methods)
        raise Unavailable(f"No run has any of these methods: {offered}. The page Files gives the reasons.")
    url_state.note_runs([run.id for run in candidates])
    studied = _studied_dataset(url_state, runs)
    candidates = (pick_dataset or pick_one_dataset)(url_state, candidates, studied)
    run_ids = _pick_run_ids(url_state, candidates, run_limit(candidates))
    available = [id_ for id_ in methods if any(id_ in methods_by_run[run] for run in run_ids)]
    method_ids = (
        available
        if len(methods) == 1
        else multiselect(
            url_state,
            "methods",
            in_order(available),
            label="Methods",
            title_of=lambda id_: METHODS[id_].heading,
            default=_with_studied_method(url_state, available, default_methods(available, len(run_ids))),
            help_=METHODS_HELP,
            placeholder="Choose a method",
        )
    )
    ordered_methods = in_order(method_ids)
    runs = [run for run in candidates if run.id in run_ids]
    allow_empty = any(id_ in extra_methods.get(run.id, ()) for run in runs for id_ in ordered_methods)
    return _gather_selection(runs, ordered_methods, options or MethodOptions(), allow_empty=allow_empty)


def pick_judged_answer(url_state: UrlState, selection: RunSelection) -> JudgedChoice:
    """Draw the choice of the judged answer, where a run has both a greedy and a majority answer."""
    options = selection.run_evidences[0].evidence.options
    scored_by_run = {scored.run.id: scored for scored in selection.run_evidences}
    if not any(_has_both_answers(scored, options) for scored in scored_by_run.values()):
        return "own"
    picked = pick_segment(
        url_state,
        "judged",
        JUDGED_TITLES,
        label="Judge every method by",
        help_="Each method's own answer, or the same answer for all methods (majority or greedy), so that "
        "only the confidences differ.",
    )
    return cast("JudgedChoice", picked)


def _has_both_answers(scored: RunEvidence, options: MethodOptions) -> bool:
    """Return whether a run has both a greedy and a majority answer with outcomes, looked up once."""
    run = scored.evidence.run
    return isinstance(run, AnswerRun) and cached_result(
        ("judged_choices", *scored.run.source, options),
        lambda: len(judged_choices(run, options)) > 1,
        max_results=MAX_MEASURES,
    )


def _pick_run_ids(url_state: UrlState, runs: Sequence[LoadedRun], limit: tuple[int, str] | None) -> list[str]:
    """Draw the control of the runs and return the chosen ids; by default all that can be shown."""
    ids, names = [run.id for run in runs], short_names_by_id(runs)
    max_runs, reason = limit or (len(ids), "")
    offer = MultiselectOffer("runs", ids, limit=limit if len(ids) > max_runs else None)
    studied_first = sorted(ids, key=lambda id_: id_ != url_state.initial.get("run"))
    default = studied_first[:max_runs] if offer.limit else ids
    run_ids = pick_from_runs(url_state, offer, runs, names, default=default, help_="The runs to compare.")
    if offer.limit:
        st.caption(f"{len(run_ids)} of {len(ids)}, {max_runs} at most: {reason}")
    return run_ids


def pick_from_runs(
    url_state: UrlState,
    offer: MultiselectOffer,
    runs: Sequence[LoadedRun],
    names: Mapping[str, str],
    *,
    default: Sequence[str],
    help_: str,
) -> list[str]:
    """Draw a list of runs and, below it, what chooses one's own or a single one; return the chosen ids.

    Parameters
    ----------
    url_state : UrlState
        The run that was chosen on a page of one run has its own button.
    offer : MultiselectOffer
        The list of runs.
    runs : Sequence of LoadedRun
        Those offered.
    names : Mapping of str to str
        Run id → the name that the list shows.
    default : Sequence of str
        Ids chosen at first.
    help_ : str
        What the list is for.

    Raises
    ------
    Unavailable
        Where the list was emptied; the buttons below it are drawn all the same.
    """
    chosen: list[str] = []
    try:
        chosen = limited_multiselect(
            url_state,
            offer,
            label="Runs",
            title_of=lambda id_: names[id_],
            default=default,
            help_=help_,
            placeholder="Choose a run",
        )
    finally:
        _show_run_shortcuts(url_state, offer, runs, names, chosen)
    return chosen


def _show_run_shortcuts(
    url_state: UrlState,
    offer: MultiselectOffer,
    runs: Sequence[LoadedRun],
    names: Mapping[str, str],
    chosen: Sequence[str],
) -> None:
    """Draw what chooses a person's own runs alone, or a single one, and what takes that back."""
    key, ids, studied = offer.key, list(offer.allowed), url_state.initial.get("run", "")
    own = [run.id for run in runs if run.file.is_uploaded]
    mine = own[: offer.limit[0] if offer.limit else None] if len(own) < len(ids) else []
    before, set_to = st.session_state.get(f"_{key}_before", ((), None))
    with st.container(horizontal=True, gap="small", key=f"{key}_shortcuts"):
        if mine and {*mine} != {*chosen}:
            _shortcut_button(key, "Only mine", mine, chosen, "Only the runs of the files that you uploaded.")
        if len(ids) > 1 and studied in ids and [studied] != chosen:
            _shortcut_button(key, "Only this", [studied], chosen, escape_markdown(names[studied]))
        if len(ids) > 1:
            st.menu_button(
                "Only one",
                ids,
                key=f"{key}_only",
                type="tertiary",
                format_func=lambda id_: escape_markdown(names[id_]),
                on_click=_choose_one,
                args=(key, chosen),
            )
        if set_to is not None and {*set_to} == {*chosen}:
            _shortcut_button(
                key, "Undo", [id_ for id_ in before if id_ in ids], (), "The runs chosen before."
            )


def _shortcut_button(key: str, label: str, ids: Sequence[str], before: Sequence[str], help_: str) -> None:
    st.button(
        label,
        key=f"{key}_{slug(label)}",
        type="tertiary",
        help=help_,
        on_click=_choose_runs,
        args=(key, ids, before),
    )


def _choose_one(key: str, before: Sequence[str]) -> None:
    _choose_runs(key, [st.session_state[f"{key}_only"]], before)


def _choose_runs(key: str, ids: Sequence[str], before: Sequence[str]) -> None:
    """Have the list show these runs alone, as if they were chosen there; () is nothing to go back to."""
    set_chosen(key, ids)
    st.session_state[f"_{key}_before"] = (tuple(before), tuple(ids) if before else None)


def short_names_by_id(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Return run id → a short name that distinguishes the run from the others."""
    return short_run_names({run.id: run.report.run.info for run in runs}, {run.id: run.title for run in runs})


def _studied_dataset(url_state: UrlState, runs: Sequence[LoadedRun]) -> str | None:
    """Return the id of the data set of the run that was chosen on a page of one run; None without one."""
    return next((dataset_id(run) for run in runs if run.id == url_state.initial.get("run")), None)


def _with_studied_method(
    url_state: UrlState, available: Sequence[str], defaults: Sequence[str]
) -> Sequence[str]:
    """Return the default methods, and the one that was chosen on a page of one run."""
    chosen = url_state.initial.get("method")
    return in_order({*defaults, *(id_ for id_ in available if id_ == chosen)})


def pick_one_dataset(
    url_state: UrlState,
    runs: Sequence[LoadedRun],
    studied: str | None,
    prefer_most: Literal["models", "runs"] = "models",
) -> list[LoadedRun]:
    """Draw the control of the data set and return its runs.

    Parameters
    ----------
    url_state : UrlState
    runs : Sequence of LoadedRun
    studied : str or None
        Id of the data set that is shown before one is chosen, where runs have it.
    prefer_most : {"models", "runs"}
        What the data set that is shown otherwise has enough of: it is the first with `ENOUGH_TO_COMPARE`
        models or runs, or the one with most where none has so many.
    """
    titles = dataset_titles(runs)
    if len(titles) < 2:
        return list(runs)
    usual = studied if studied in titles else _usual_dataset(runs, prefer_most)
    if "dataset" in url_state.touched:
        url_state.forget("runs", "datasets")
    picked = select_box(
        url_state,
        "dataset",
        "Data set",
        [*titles, ALL_DATASETS],
        usual,
        title_of=lambda id_: f"all ({len(runs)} runs)" if id_ == ALL_DATASETS else titles[id_],
        help_="Compare within one data set: other data sets have other questions.",
    )
    return [run for run in runs if picked in (dataset_id(run), ALL_DATASETS)]


def pick_several_datasets(
    url_state: UrlState, runs: Sequence[LoadedRun], studied: str | None, opening: Collection[str]
) -> list[LoadedRun]:
    """Draw the control of several data sets and return their runs.

    A single one that is chosen here is carried to other pages.

    Parameters
    ----------
    url_state : UrlState
    runs : Sequence of LoadedRun
    studied : str or None
        Id of the data set that is shown before any is chosen, where runs have it.
    opening : Collection of str
        Ids of those shown where none is studied; the usual one where empty.
    """
    titles = dataset_titles(runs)
    if len(titles) < 2:
        return list(runs)
    allowed = ["", *titles, ALL_DATASETS]
    carried = url_state.pick("dataset", allowed, "") or (studied if studied in titles else None)
    default = [id_ for id_ in titles if id_ in opening] or [_usual_dataset(runs, "models")]
    if carried:
        default = list(titles) if carried == ALL_DATASETS else [carried]
    chosen = multiselect(
        url_state,
        "datasets",
        list(titles),
        label="Data sets",
        title_of=lambda id_: titles[id_],
        default=default,
        help_="One block of the table each.",
        placeholder="Choose a data set",
    )
    if chosen != default and len(chosen) == 1:
        url_state.set_widget("dataset", chosen[0], allowed)
        url_state.remember("dataset", chosen[0], "")
    return [run for run in runs if dataset_id(run) in chosen]


def _usual_dataset(runs: Sequence[LoadedRun], prefer_most: Literal["models", "runs"]) -> str:
    """Return the id of the data set that is shown by default: one with enough to compare."""
    runs_by_dataset: dict[str, list[LoadedRun]] = {}
    for run in runs:
        runs_by_dataset.setdefault(dataset_id(run), []).append(run)
    counts = {
        id_: _model_and_run_counts(of_dataset) if prefer_most == "models" else (len(of_dataset), 0)
        for id_, of_dataset in runs_by_dataset.items()
    }
    enough = [id_ for id_, (first, _) in counts.items() if first >= ENOUGH_TO_COMPARE]
    return enough[0] if enough else max(counts, key=lambda id_: counts[id_])


def runs_to_start_with(url_state: UrlState, runs: Sequence[LoadedRun]) -> list[LoadedRun]:
    """Return the runs of the data set that the address, or the run in it, asks for.

    Without one, those of the first data set with `ENOUGH_TO_COMPARE` of them; all where none has so many.
    """
    ids = [dataset_id(run) for run in runs]
    wanted = url_state.requested("dataset", _studied_dataset(url_state, runs) or "")
    if wanted not in ids:
        wanted = next((id_ for id_ in ids if ids.count(id_) >= ENOUGH_TO_COMPARE), ALL_DATASETS)
    return [run for run, id_ in zip(runs, ids, strict=True) if wanted in (id_, ALL_DATASETS)]


def _model_and_run_counts(runs: Sequence[LoadedRun]) -> tuple[int, int]:
    """Return the number of models (the checkpoints of a model count as one) and the number of runs."""
    return len({run.report.run.info.model or run.id for run in runs}), len(runs)


def _gather_selection(
    runs: Sequence[LoadedRun],
    methods: Sequence[str],
    options: MethodOptions,
    *,
    allow_empty: bool,
) -> RunSelection:
    """Return the selection; raises Unavailable where it is empty and may not be."""
    run_evidences: list[RunEvidence] = []
    unavailable: dict[tuple[str, str], str] = {}
    for run in runs:
        survey = run.report.survey
        for method in methods:
            if method not in survey.usable:
                unavailable[run.id, method] = survey.unavailable.get(
                    method, "The run does not have this method."
                )
                continue
            try:
                run_evidences.append(
                    RunEvidence(run, run_evidence(run.report, run.file.stamp, method, options))
                )
            except Unavailable as reason:
                unavailable[run.id, method] = str(reason)
    if not run_evidences and not allow_empty:
        raise Unavailable("None of the chosen runs has any of the chosen methods.")
    return RunSelection(tuple(runs), tuple(methods), tuple(run_evidences), unavailable)
