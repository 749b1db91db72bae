"""What a report is made from: runs, files and settings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.methods import METHODS, in_order
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC
from calib_core.readers.merged_runs import group_parts, merge_parts, tables_as_parts
from calib_core.results.defaults import default_method
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.files import FileReport, RunReport, run_report
from calib_core.results.judged_answer import JudgedChoice
from calib_core.results.run_names import run_order
from calib_core.runs import AnswerRun
from calib_core.terms import Terms, common_terms


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """How the numbers are computed.

    Attributes
    ----------
    methods, metrics : tuple[str, ...]
        Ids; () leaves the choice to each page.
    scheme : Scheme
        The bins.
    options : MethodOptions
        Options of the confidence methods.
    bin_number : int or None
        The bin, from 1, whose questions are listed below each reliability diagram; None lists none.
    judged_choice : {"own", "greedy", "majority"}
        Which answer's outcome methods are judged by where they are compared.
    costs : ErrorCosts or None
        What wrong answers and questions that are handed on cost; None leaves out what thresholds cost.
    """

    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    scheme: Scheme = field(default_factory=Scheme)
    options: MethodOptions = field(default_factory=MethodOptions)
    bin_number: int | None = None
    judged_choice: JudgedChoice = "own"
    costs: ErrorCosts | None = None

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """The metrics of pages that show several: at least one."""
        return self.metrics or (DEFAULT_METRIC,)

    @property
    def metric(self) -> str:
        """The metric of pages that show only one."""
        return self.all_metrics[0]


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """Identifies the content of a file.

    Attributes
    ----------
    name : str
        What messages call the file.
    size : int
        In bytes.
    sha256 : str
        Hexadecimal; "" if the file could not be read.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class ReportFile:
    """One input file.

    Attributes
    ----------
    name : str
        What messages call the file.
    report : FileReport or None
        What the file holds; None if it could not be read.
    refusal : str or None
        Why the file is not used; None if it is.
    files_read : tuple[FileChecksum, ...]
        The file itself and the files read with it.
    """

    name: str
    report: FileReport | None
    refusal: str | None
    files_read: tuple[FileChecksum, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ReportRun:
    """One run.

    Attributes
    ----------
    title : str
        Unique within the report.
    report : RunReport
        The run, and what each method makes of it.
    style_index : int
        Position among all runs (`run_order`), which sets the run's colour, dash and symbol.
    """

    title: str
    report: RunReport
    style_index: int = 0

    @property
    def usable(self) -> Mapping[str, Evidence]:
        """Method id → evidence of the run with default options."""
        return self.report.survey.usable


_EvidenceKey: TypeAlias = tuple[int, str, MethodOptions]
"""`id()` of the run, the method, the options."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportInput:
    """Everything a report is made from.

    Attributes
    ----------
    runs : tuple[ReportRun, ...]
        The runs, in the order of the report.
    files : tuple[ReportFile, ...]
        All input files, also those that could not be used.
    settings : ReportSettings
        How the numbers are computed.
    pages : tuple[str, ...]
        Ids of the report's pages, so that none repeats what another one shows.
    """

    runs: tuple[ReportRun, ...]
    files: tuple[ReportFile, ...]
    settings: ReportSettings
    pages: tuple[str, ...] = ()
    _evidence_cache: dict[_EvidenceKey, Evidence] = field(default_factory=dict[_EvidenceKey, Evidence])

    def evidence(self, run: ReportRun, method: str, options: MethodOptions | None = None) -> Evidence:
        """Gathers the evidence of a run by one method, with the options that apply to the method.

        Parameters
        ----------
        run : ReportRun
            The run.
        method : str
            A key of METHODS.
        options : MethodOptions or None
            None takes the options of the settings.

        Raises
        ------
        Unavailable
            If the run does not support the method.
        """
        default_evidence = run.usable.get(method)
        if default_evidence is None:
            why = run.report.survey.unavailable.get(method)
            raise Unavailable(why or f"{run.title} does not have {METHODS[method].title}.")
        applicable = applicable_options(options or self.settings.options, default_evidence)
        if applicable == default_evidence.options:
            return default_evidence
        key = (id(run), method, applicable)
        if key not in self._evidence_cache:
            judged = default_evidence.with_tolerance(applicable.tolerance)
            self._evidence_cache[key] = (
                judged
                if applicable == judged.options
                else gather_evidence(run.report.run, method, applicable)
            )
        return self._evidence_cache[key]

    def methods_for(self, run: ReportRun) -> tuple[str, ...]:
        """The requested methods that the run supports; if there are none, its default method.

        () for a run without any, which has a judge's labels alone.
        """
        requested = tuple(id_ for id_ in run.usable if id_ in self.settings.methods)
        return requested or ((default_method(run.usable),) if run.usable else ())

    def with_confidences(self) -> ReportInput:
        """The same without the runs that have a judge's labels beside people's and no confidence.

        Raises
        ------
        Unavailable
            If no other run is left.
        """
        runs = tuple(run for run in self.runs if run.usable or not run.report.has_judge_and_people)
        if self.runs and not runs:
            raise Unavailable("No run has a confidence; the section Judge shows a judge's labels.")
        return self if len(runs) == len(self.runs) else replace(self, runs=runs)

    @property
    def terms(self) -> Terms:
        """The words for the runs' probabilities, each seen by its first method."""
        seen = [METHODS[self.methods_for(run)[0]] for run in self.runs if run.usable]
        return common_terms(method.terms for method in seen)

    @property
    def answer_runs(self) -> tuple[ReportRun, ...]:
        """The runs that are answers to questions, not token-level."""
        return tuple(run for run in self.runs if isinstance(run.report.run, AnswerRun))


def applicable_options(options: MethodOptions, evidence: Evidence) -> MethodOptions:
    """Resets `labels`, `renormalise` and `held_out` where they have no effect on the method of this evidence.

    `unparseable` is kept: p(True) and path probabilities may refer to the majority of the samples.
    """
    if not evidence.has_distribution:
        options = replace(options, labels="top")
    if not evidence.method.holds_out:
        options = replace(options, held_out=False)
    return options if evidence.method.renormalises else replace(options, renormalise=None)


def titled_runs(reports: Sequence[RunReport]) -> tuple[ReportRun, ...]:
    """Gives each run a unique title, its label or the label and the file, and its style index."""
    labels = Counter(report.run.label for report in reports)
    titles = [
        report.run.label if labels[report.run.label] == 1 else f"{report.run.label} ({report.run.file})"
        for report in reports
    ]
    order = sorted(range(len(titles)), key=lambda index: _sort_key(titles[index]))
    style_indices = run_order([reports[index].run.info for index in order])
    style_index_of = dict(zip(order, style_indices, strict=True))
    return tuple(
        ReportRun(title, report, style_index_of[index])
        for index, (title, report) in enumerate(zip(titles, reports, strict=True))
    )


def _sort_key(title: str) -> str:
    """Sort key of a run: its title as in the app's URLs, so that both use the same order."""
    return re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-")


def runs_by_dataset(runs: Sequence[ReportRun]) -> dict[str | None, list[ReportRun]]:
    """Groups the runs by data set, in order of first occurrence; only these are compared with one another."""
    by_dataset: dict[str | None, list[ReportRun]] = {}
    for run in runs:
        by_dataset.setdefault(run.report.run.info.dataset, []).append(run)
    return by_dataset


def most_common_method(runs: Sequence[ReportRun], requested: Sequence[str]) -> str | None:
    """The method that most of the runs support.

    Parameters
    ----------
    runs : Sequence[ReportRun]
        The runs.
    requested : Sequence[str]
        Method ids. If any run supports one of them, only they are considered.

    Returns
    -------
    str or None
        A method id; None if no run supports any method.
    """
    available = in_order(id_ for run in runs for id_ in run.usable)
    candidates = [id_ for id_ in available if id_ in requested] or available
    return max(candidates, key=lambda id_: sum(id_ in run.usable for run in runs), default=None)


def merge_partial_reports(
    reports: Sequence[RunReport], *, with_tables: bool = False
) -> tuple[RunReport, ...]:
    """Merges the reports of runs that are parts of one evaluation; `with_tables` as in `merge_runs`."""
    runs = [report.run for report in reports]
    parts = tables_as_parts(runs) if with_tables else runs
    report_of = {id(part): report for part, report in zip(parts, reports, strict=True)}
    return tuple(
        report_of[id(group[0])] if len(group) == 1 else run_report(merge_parts(group))
        for group in group_parts(parts)
    )


def select_runs(runs: Sequence[ReportRun], names: Sequence[str]) -> tuple[ReportRun, ...]:
    """Selects runs by title or label; no names means all runs.

    Raises
    ------
    Refused
        If no run has one of the names, or there are no runs.
    """
    if not runs:
        raise Refused("No run to report: no file was loaded.")
    for name in names:
        if not any(name in (run.title, run.report.run.label) for run in runs):
            listed = "; ".join(run.title for run in runs[:20]) + ("; …" if len(runs) > 20 else "")
            raise Refused(f"--run: there is no run {shorten(name)!r}. Runs: {listed}")
    return tuple(run for run in runs if not names or run.title in names or run.report.run.label in names)
