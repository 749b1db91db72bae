"""Of what is a report made?  Runs, files, and how the numbers are asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC
from calib_core.readers.merged_runs import group_parts, merge_parts
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.files import FileReport, RunReport, run_report
from calib_core.results.run_names import run_order
from calib_core.runs import AnswerRun


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """How the numbers are asked for.

    methods, metrics: by name, () = as the pages choose by themselves; bin: whose questions stand below each
    reliability diagram, from 1, None = of none.
    """

    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    scheme: Scheme = field(default_factory=Scheme)
    options: MethodOptions = field(default_factory=MethodOptions)
    bin_number: int | None = None

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """The metrics of pages that show several, one or more."""
        return self.metrics or (DEFAULT_METRIC,)

    @property
    def metric(self) -> str:
        """The metric of pages that show one."""
        return self.all_metrics[0]


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """What a file was when it was read. size: bytes; sha256: hexadecimal, "" where it could not be read."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class ReportFile:
    """One file. report: None where it could not be read; refusal: why nothing of it is used, None otherwise.

    name: as messages call it; read_with: it and the files that are read with it.
    """

    name: str
    report: FileReport | None
    refusal: str | None
    files_read: tuple[FileChecksum, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ReportRun:
    """One run.

    title: what tells it from all others of the report; place: among all runs at hand (`run_places`), which
    gives a run its colour, dash and symbol.
    """

    title: str
    report: RunReport
    style_index: int = 0

    @property
    def usable(self) -> Mapping[str, Evidence]:
        """Method id → what it says of the run, without any switch."""
        return self.report.survey.usable


_EvidenceKey: TypeAlias = tuple[int, str, MethodOptions]
"""The run's identity, the method, the switches."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportInput:
    """What is reported."""

    runs: tuple[ReportRun, ...]
    files: tuple[ReportFile, ...]
    settings: ReportSettings
    _evidence_cache: dict[_EvidenceKey, Evidence] = field(default_factory=dict[_EvidenceKey, Evidence])

    def evidence(self, run: ReportRun, method: str, options: MethodOptions | None = None) -> Evidence:
        """What the method says of the run, under the switches asked for that it has.

        Raises Unavailable where it says nothing.
        """
        plain = run.usable.get(method)
        if plain is None:
            why = run.report.survey.unavailable.get(method)
            raise Unavailable(why or f"{run.title} does not give {METHODS[method].title}.")
        wanted = applicable_options(options or self.settings.options, plain)
        if wanted == MethodOptions():
            return plain
        key = (id(run), method, wanted)
        if key not in self._evidence_cache:
            self._evidence_cache[key] = gather_evidence(run.report.run, method, wanted)
        return self._evidence_cache[key]

    def methods_for(self, run: ReportRun) -> tuple[str, ...]:
        """Those asked for that the run gives; where there is none, the one its pages open with."""
        usable = tuple(run.usable)
        return tuple(id_ for id_ in usable if id_ in self.settings.methods) or usable[:1]

    @property
    def answer_runs(self) -> tuple[ReportRun, ...]:
        """The runs of answers to questions."""
        return tuple(run for run in self.runs if isinstance(run.report.run, AnswerRun))


def applicable_options(options: MethodOptions, evidence: Evidence) -> MethodOptions:
    """The switches without `labels` and `renormalise` where they change nothing of this method.

    `unparseable` stays: p(True) and a path's tokens may speak of the majority of the samples.
    """
    if not evidence.has_distribution:
        options = replace(options, labels="top")
    return options if evidence.method.renormalises else replace(options, renormalise=None)


def titled_runs(reports: Sequence[RunReport]) -> tuple[ReportRun, ...]:
    """The runs, each called so that no two are called the same."""
    labels = Counter(report.run.label for report in reports)
    named = [
        report.run.label if labels[report.run.label] == 1 else f"{report.run.label} ({report.run.file})"
        for report in reports
    ]
    order = sorted(range(len(named)), key=lambda at: _sort_key(named[at]))
    found = run_order([reports[at].run.info for at in order])
    places = dict(zip(order, found, strict=True))
    return tuple(
        ReportRun(title, report, places[at])
        for at, (title, report) in enumerate(zip(named, reports, strict=True))
    )


def _sort_key(title: str) -> str:
    """As the app sorts runs: by what of a title stands in an address."""
    return re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-")


def runs_by_dataset(runs: Sequence[ReportRun]) -> dict[str | None, list[ReportRun]]:
    """The runs of each data set, in the order in which these occur; numbers are compared within one."""
    found: dict[str | None, list[ReportRun]] = {}
    for run in runs:
        found.setdefault(run.report.run.info.dataset, []).append(run)
    return found


def most_common_method(runs: Sequence[ReportRun], requested: Sequence[str]) -> str | None:
    """The method that most of these runs give, of those asked for where one is given; None without any."""
    given = [id_ for id_ in METHODS if any(id_ in run.usable for run in runs)]
    among = [id_ for id_ in given if id_ in requested] or given
    return max(among, key=lambda id_: sum(id_ in run.usable for run in runs), default=None)


def merge_partial_reports(reports: Sequence[RunReport]) -> tuple[RunReport, ...]:
    """The reports, those of parts of one evaluation as one."""
    own = {id(report.run): report for report in reports}
    return tuple(
        own[id(parts[0])] if len(parts) == 1 else run_report(merge_parts(parts))
        for parts in group_parts([report.run for report in reports])
    )


def select_runs(runs: Sequence[ReportRun], names: Sequence[str]) -> tuple[ReportRun, ...]:
    """The runs of these titles or labels, all where none is named.

    Raises Refused for a name that no run has, and where there is no run at all.
    """
    if not runs:
        raise Refused("There is no run to report: no file was loaded.")
    for name in names:
        if not any(name in (run.title, run.report.run.label) for run in runs):
            listed = "; ".join(run.title for run in runs[:20]) + ("; …" if len(runs) > 20 else "")
            raise Refused(f"--run: there is no run {shorten(name)!r}. Runs: {listed}")
    return tuple(run for run in runs if not names or run.title in names or run.report.run.label in names)
