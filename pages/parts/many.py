"""Which runs does the person want to see, each by which methods?  The controls of pages that compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.families import short_names
from calib_core.analysis.preferred import PREFERRED
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.problems import Unavailable
from pages.parts import cache, show
from pages.parts.address import Address
from pages.parts.runs import Run, slug
from pages.parts.several import Offer, several, several_of

METHODS_HELP: Final = "Where the confidence comes from: each method reads its own off the same answers."
EVERY: Final = "*"
"""The data set's id in the address where runs of all of them are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One run seen by one method."""

    run: Run
    evidence: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """Several runs, each seen by several methods.

    dataset: the one all runs are of, None where they are not held to one; seen: by run, then by method in
    the registry's order; refused: (run id, method id) → why that run does not give that confidence.
    """

    dataset: str | None
    runs: tuple[Run, ...]
    methods: tuple[str, ...]
    seen: tuple[Seen, ...]
    refused: Mapping[tuple[str, str], str]

    def key(self) -> tuple[object, ...]:
        """What tells these from any other, for keeping a result."""
        return tuple(
            (one.run.file.name, one.run.file.stamp, one.run.id, one.evidence.method.id, one.evidence.options)
            for one in self.seen
        )


def choose_many(
    address: Address,
    runs: Sequence[Run],
    *,
    methods: Sequence[str] = PREFERRED,
    most: int = 3,
    options: Options | None = None,
    most_of: Literal["models", "runs"] = "models",
    also: Mapping[str, Collection[str]] = MappingProxyType({}),
    room: Callable[[Sequence[Run]], tuple[int, str] | None] = lambda _runs: None,
) -> Many:
    """The controls of data set, runs and methods, and what they are set to.

    methods: those offered, the first `most` that some run can give being shown by default (of a single one
    nothing is asked); most_of: the data set with most of them is shown first; also: run id → methods that the
    page itself makes something of; room: the data set's runs → how many of them can be shown, and why no
    more, None if any number. Raises Unavailable where no run fits.
    """
    can = {run.id: {*run.report.survey.usable, *also.get(run.id, ())} for run in runs}
    fit = [run for run in runs if can[run.id].intersection(methods)]
    if not fit:
        offered = ", ".join(METHODS[id_].title for id_ in methods)
        raise Unavailable(f"No run here gives one of these confidences: {offered}. The page Files says why.")
    dataset, fit = _dataset(address, fit, most_of)
    by_id = {run.id: run for run in fit}
    chosen = _runs(address, list(by_id), names_of(fit), room(fit))
    able = [id_ for id_ in methods if any(id_ in can[run] for run in chosen)]
    shown = able if len(methods) == 1 else several(
        address, "methods", [id_ for id_ in METHODS if id_ in able], label="Confidence methods",
        titled=lambda id_: METHODS[id_].title, default=[id_ for id_ in METHODS if id_ in able[:most]],
        help_=METHODS_HELP,
    )
    ordered, runs = [id_ for id_ in METHODS if id_ in shown], [run for run in fit if run.id in chosen]
    made = any(id_ in also.get(run.id, ()) for run in runs for id_ in ordered)
    return _seen(dataset, runs, ordered, options or Options(), none_is_fine=made)


def _runs(
    address: Address, ids: Sequence[str], names: Mapping[str, str], room: tuple[int, str] | None
) -> list[str]:
    """The control of the runs, and those it is set to; by default all that there is room for."""
    most, why = room or (len(ids), "")
    if len(ids) <= most:
        return several(
            address, "runs", ids, label="Runs", titled=lambda id_: names[id_], default=ids,
            help_="Those that are compared; none chosen means all.",
        )
    chosen = several_of(
        address, Offer("runs", ids, most=room), label="Runs", titled=lambda id_: names[id_],
        default=ids[:most], help_=f"Those that are compared; none chosen means the first {most}.",
    )
    st.caption(f"{len(chosen)} of {len(ids)}, {most} at most: {why}")
    return chosen


def names_of(runs: Sequence[Run]) -> dict[str, str]:
    """Run id → what it is called for short beside these others."""
    return short_names({run.id: run.report.run.info for run in runs}, {run.id: run.title for run in runs})


def _dataset(
    address: Address, runs: Sequence[Run], most_of: Literal["models", "runs"]
) -> tuple[str | None, list[Run]]:
    """The control of the data set, and the runs of the chosen one."""
    names = {run.id: run.report.run.info.dataset for run in runs}
    if len(set(names.values())) < 2:
        return next(iter(names.values())), list(runs)
    titles = {slug(name): name for name in names.values() if name is not None}
    of = {id_: [run for run in runs if names[run.id] == name] for id_, name in titles.items()}
    likely = max(of, key=lambda id_: _breadth(of[id_]) if most_of == "models" else (len(of[id_]), 0))
    picked = address.pick("dataset", [*titles, EVERY], likely)
    if address.held.get("dataset") == picked:
        address.note("dataset", picked, "")  # the default here, it may be none on the page it was chosen on
    st.selectbox(
        "Data set", [*titles, EVERY], key="dataset",
        format_func=lambda id_: f"all ({len(runs)} runs)" if id_ == EVERY else titles[str(id_)],
        help="Numbers of different data sets stand on different questions: compare within one.",
    )
    if picked == EVERY:
        return None, list(runs)
    return titles[picked], of[picked]


def _breadth(runs: Sequence[Run]) -> tuple[int, int]:
    """How many models these runs are of, by name (checkpoints of one are one), then how many runs."""
    return len({run.report.run.info.model or run.id for run in runs}), len(runs)


def _seen(
    dataset: str | None, runs: Sequence[Run], methods: Sequence[str], options: Options, *, none_is_fine: bool
) -> Many:
    seen: list[Seen] = []
    refused: dict[tuple[str, str], str] = {}
    for run in runs:
        survey = run.report.survey
        for method in methods:
            if method not in survey.usable:
                refused[run.id, method] = survey.refused.get(method, "It does not give this confidence.")
                continue
            try:
                seen.append(Seen(run, cache.seen(run.report, run.file.stamp, method, options)))
            except Unavailable as reason:
                refused[run.id, method] = str(reason)
    if not seen and not none_is_fine:
        raise Unavailable("None of the chosen runs gives one of the chosen confidences.")
    return Many(dataset, tuple(runs), tuple(methods), tuple(seen), refused)


def left_out(many: Many) -> None:
    """What is not drawn, each with its reason."""
    titles = {run.id: run.title for run in many.runs}
    show.reasons("Not drawn", {
        f"{titles[run]}, {METHODS[method].title}": why for (run, method), why in many.refused.items()
    }, key="not_drawn")
