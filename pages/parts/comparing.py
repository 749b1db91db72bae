"""Which runs are compared on which two metrics?  The Comparison page's controls, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from calib_core.analysis.comparison import FIXED, Comparison, comparison
from calib_core.analysis.comparison_points import Measure, Measured, measured
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.analysis.score import available_metrics
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.records import Run as AnyRun
from calib_core.wording import count
from pages.parts import cache
from pages.parts.address import Address
from pages.parts.binning import binning_of
from pages.parts.many import Many, Seen, choose_many, left_out
from pages.parts.runs import Run

NUMBERS = 4096
"""How many numbers with their intervals are kept: each costs a bootstrap and takes no room."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparing:
    """many: runs and methods; x, y: metrics of the axes; scheme: of those that are binned."""

    many: Many
    x: str
    y: str
    scheme: Scheme

    @property
    def seen(self) -> dict[str, Seen]:
        """Each run seen by one method, by the point's key."""
        return {key_of(one): one for one in self.many.seen}

    @property
    def places(self) -> dict[str, int]:
        """The place of each point's run among all runs at hand, by the point's key."""
        return {key: one.run.place for key, one in self.seen.items()}


def key_of(seen: Seen) -> str:
    """The point's key: "run:method", as in the address."""
    return f"{seen.run.id}:{seen.evidence.method.id}"


def choose_comparison(address: Address, runs: Sequence[Run]) -> Comparing:
    """Data set, runs, methods, and the metric of each axis. Raises Unavailable where nothing fits."""
    many = choose_many(address, runs)
    possible = {
        id_ for one in many.seen for id_, why in available_metrics(one.evidence, Scheme()).items() if not why
    }
    allowed = [id_ for id_ in METRICS if id_ in possible]
    x, y = (
        _axis(address, axis, allowed, default)
        for axis, default in zip(("x", "y"), FIXED, strict=True)
    )
    address.check("at", [key_of(one) for one in many.seen])
    scheme = Scheme()
    if METRICS[x].binned or METRICS[y].binned:
        scheme = binning_of(address, many.seen[0].evidence)
    return Comparing(many, x, y, scheme)


def _axis(address: Address, key: str, allowed: Sequence[str], default: str) -> str:
    picked = address.pick(key, allowed, default)
    st.selectbox(
        "Across" if key == "x" else "Upward", allowed, key=key, format_func=lambda id_: METRICS[id_].title,
        help=METRICS[picked].help,
    )
    return picked


def result_of(wanted: Comparing) -> Comparison:
    """The comparison, with progress while intervals are drawn that nobody has asked for yet."""

    def compute() -> Comparison:
        bar, done = st.progress(0.0, "Drawing intervals …"), 0
        stored = numbers_of({one.evidence.run: one.run for one in wanted.many.seen})

        def telling(evidence: Evidence, metric: str, scheme: Scheme) -> Measured:
            nonlocal done
            done += 1
            bar.progress(min(1.0, done / (4 * len(wanted.many.seen))), "Drawing intervals …")
            return stored(evidence, metric, scheme)

        made = comparison(
            {key: one.evidence for key, one in wanted.seen.items()}, wanted.x, wanted.y, wanted.scheme,
            titles={key: one.run.title for key, one in wanted.seen.items()}, possible=possible,
            measure=telling,
        )
        bar.empty()
        return made

    possible = frozenset(id_ for run in wanted.many.runs for id_ in run.report.survey.usable)
    return cache.kept(
        ("comparison", *wanted.many.key(), possible, wanted.x, wanted.y, wanted.scheme), compute
    )


def numbers_of(runs: Mapping[AnyRun, Run]) -> Measure:
    """Numbers with their intervals, each computed once; runs: whose rows may be asked for → as shown.

    By the run itself, not by its file's name and label: a file of the folder and an upload may share both.
    """

    def stored(evidence: Evidence, metric: str, scheme: Scheme) -> Measured:
        run = runs[evidence.run]
        source = (run.id, run.file.name, run.file.stamp)
        key = ("measured", *source, evidence.method.id, evidence.options, metric, scheme)
        return cache.kept(key, lambda: measured(evidence, metric, scheme), most=NUMBERS)

    return stored


def looking_at(wanted: Comparing, result: Comparison) -> Looking:
    """The points, of which runs and by which methods."""
    seen = [wanted.seen[point.key] for point in result.points]
    binned = METRICS[wanted.x].binned or METRICS[wanted.y].binned
    return looking(
        count(len(seen), "point"), [one.run.title for one in seen], [one.evidence for one in seen],
        bins_of(wanted.scheme) if binned else "",
    )


def not_shown(wanted: Comparing, result: Comparison) -> None:
    """Runs that do not give a method, or not both numbers, each with the reason."""
    refused = {
        (wanted.seen[key].run.id, wanted.seen[key].evidence.method.id): why
        for key, why in result.refused.items()
    }
    left_out(replace(wanted.many, refused={**wanted.many.refused, **refused}))
