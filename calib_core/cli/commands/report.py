"""The verb `report`: writes all results of some files as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesAtScaleGroup, InputFiles, is_stdin
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner, input_paths
from calib_core.cli.terminal import terminal_progress
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, CalibError, Refused, Unavailable
from calib_core.inference.verdict import DEFAULT_TOLERANCE
from calib_core.methods import METHOD_IDS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.readers.atomic_write import write_atomically
from calib_core.reporting.build import Report, build_report, default_pages, selected_pages
from calib_core.reporting.provenance import (
    DOCUMENT_TITLE,
    FrontMatter,
    Provenance,
    ReportCommand,
    file_checksums,
    files_read_with,
)
from calib_core.results.evidence import Evidence
from calib_core.results.files import FileReport, RunReport, check_file, usable_runs
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import effective_scheme
from calib_core.scale.stores import shown_address
from calib_core.views.inputs import (
    ReportFile,
    ReportInput,
    ReportRun,
    ReportSettings,
    merge_partial_reports,
    select_runs,
    titled_runs,
)
from calib_core.views.registry import ALL_PAGES, DEFAULT_PAGES, SECTIONS, reliability
from calib_core.views.reliability import MAX_QUESTIONS
from calib_core.wording import plural

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import ReportElement

HTML_SUFFIXES = (".html", ".htm")

_OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT.html", help="The output file."
    ),
]  # fmt: skip
PageOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--page",
        "--pages",
        metavar="ID",
        help=f"Repeatable; `{ALL_PAGES}` for every page with something to show. Default: a short summary "
        f"({', '.join(DEFAULT_PAGES)}). Pages: {', '.join(SECTIONS)}.",
    ),
]
_MethodOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="ID",
        help=f"Repeatable; runs with none of these use the default method: {METHOD_IDS}.",
    ),
]
QuestionBinOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--bin",
        metavar="N",
        min=1,
        help=(
            f"Bin number from 1: list the first {MAX_QUESTIONS} questions of that bin below each "
            "reliability diagram."
        ),
    ),
]


_TitleOption: TypeAlias = Annotated[
    str,
    typer.Option("--title", metavar="TEXT", show_default=False, help="Heading of the report."),
]
_AuthorOption: TypeAlias = Annotated[
    str,
    typer.Option("--author", metavar="TEXT", help="Who made it."),
]
_NoteOption: TypeAlias = Annotated[
    str,
    typer.Option("--note", metavar="TEXT", help="What readers should know first."),
]
_DateOption: TypeAlias = Annotated[
    datetime | None,
    typer.Option(
        "--date", metavar="YYYY-MM-DD", formats=["%Y-%m-%d"], help="The date at the top. Default: today."
    ),
]


def _front_matter(
    *,
    title: _TitleOption = DOCUMENT_TITLE,
    author: _AuthorOption = "",
    note: _NoteOption = "",
    date: _DateOption = None,
) -> FrontMatter:
    """What stands at the head of the report, as typed."""
    return FrontMatter(title, author, note, date.date() if date else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """What is in the report, as typed."""

    methods: _MethodOption = None
    metrics: cli_options.MetricOption = None
    scheme: cli_options.SchemeGroup
    options: cli_options.MethodGroup
    judged: cli_options.JudgedOption = "own"
    costs: cli_options.ErrorCostsGroup
    pages: PageOption = None
    runs: cli_options.RunOption = None
    question_bin: QuestionBinOption = None
    tolerance: cli_options.ToleranceOption = DEFAULT_TOLERANCE

    def settings(self) -> ReportSettings:
        """How the numbers are computed; raises Unavailable if a method or metric does not exist."""
        tolerance = None if self.tolerance == DEFAULT_TOLERANCE else self.tolerance
        options = replace(self.options, tolerance=tolerance)
        choice = cli_options.Choice(methods=self.methods, metrics=self.metrics)
        named = CommandRequest.from_options(choice, self.scheme, options)
        return ReportSettings(
            named.methods, named.metrics, self.scheme, options, self.question_bin, self.judged, self.costs
        )


@takes_options
def report(
    *,
    output: _OutputOption,
    as_json: cli_options.JsonOption = False,
    front: Annotated[FrontMatter, OptionGroup(_front_matter)],
    contents: Annotated[_Contents, OptionGroup(_Contents)],
    input_files: FilesAtScaleGroup,
) -> int:
    """Write a report: one HTML file with figures, tables, recipes and checksums.

    The report works offline and can be printed. Files that are parts of one evaluation are one run.
    """
    runner = Runner()
    elements: list[JsonElement] = []
    try:
        report_input, result = _write_report(runner, input_files, output, contents, front)
        elements = [_run_element(run, report_input, result, output) for run in report_input.runs]
        if not as_json:
            _print_summary(result, report_input, output)
    except CalibError as reason:
        runner.refuse(str(reason))
    return runner.finish(elements, as_json=as_json)


def _write_report(
    runner: Runner,
    input_files: InputFiles,
    output: Path,
    contents: _Contents,
    front: FrontMatter,
) -> tuple[ReportInput, Report]:
    """Builds the report and writes it to `output`.

    Raises
    ------
    Refused
        If nothing can be reported or the file cannot be written.
    """
    if output.suffix.lower() not in HTML_SUFFIXES:
        raise Refused(f"{output.name}: name a file that ends in {' or '.join(HTML_SUFFIXES)}: -o FILE")
    settings, page_ids = contents.settings(), selected_pages(contents.pages or ())
    files, run_reports = _read_files(runner, input_files, input_paths(runner, input_files, output, "report"))
    merged = merge_partial_reports(run_reports, with_tables=input_files.together)
    report_input = ReportInput(select_runs(titled_runs(merged), contents.runs or ()), tuple(files), settings)
    page_ids = page_ids if contents.pages else default_pages(report_input)
    _refuse_unavailable(runner, report_input)
    _check_bin(runner, report_input, page_ids)
    command = ReportCommand(
        files=tuple("-" if is_stdin(path) else str(path) for path in input_files.paths),
        output=str(output),
        settings=settings,
        pages=tuple(contents.pages or ()),
        runs=tuple(contents.runs or ()),
        skip_bad_rows=input_files.skip_bad_rows,
        format=input_files.format,
        options=input_files.options,
        gold=None if input_files.gold is None else str(input_files.gold),
        corrections=None if input_files.corrections is None else str(input_files.corrections),
        together=input_files.together,
        remote=() if input_files.many is None else tuple(map(shown_address, input_files.many.remote)),
        front=front,
    )
    result = _build_with_progress(
        report_input,
        page_ids,
        Provenance(datetime.now().astimezone(), command.command_line, command.where_to_run, front),
    )
    write_atomically(result.html.encode("utf-8"), output)
    return report_input, result


def _read_files(
    runner: Runner, input_files: InputFiles, paths: Mapping[Path, str]
) -> tuple[list[ReportFile], list[RunReport]]:
    """Reads every file; returns all files, and the runs of those that load. Refusals are printed as well."""
    files: list[ReportFile] = []
    runs: list[RunReport] = []
    for path, name in paths.items():
        file_report: FileReport | None = None
        refusal: str | None = None
        try:
            reading = input_files.read(path, name)
            file_report = check_file(reading)
            usable_runs(reading, skip_bad_rows=input_files.skip_bad_rows, needs="judge")
            runs += file_report.runs
        except BadRowsFound as bad:
            refusal = runner.report_bad_rows(bad)
        except CalibError as reason:
            refusal = str(reason)
            runner.refuse(refusal)
        is_here = input_files.many is None or not input_files.many.is_remote(path)
        files_read = files_read_with(path, name, *input_files.tables) if is_here else []
        files.append(ReportFile(name, file_report, refusal, file_checksums(files_read)))
    return files, runs


def _refuse_unavailable(runner: Runner, report_input: ReportInput) -> None:
    """Refuses methods and metrics requested by name that no run has; the others are still reported."""
    for method in report_input.settings.methods:
        if not any(method in run.usable for run in report_input.runs):
            why = report_input.runs[0].report.survey.unavailable.get(method, "no run has it.")
            runner.refuse(f"{method} is not available: {why}")
    for metric in report_input.settings.metrics:
        scheme = effective_scheme(METRICS[metric], report_input.settings.scheme)
        reasons = [
            evidence.unavailable_reason(METRICS[metric], scheme)
            for run in report_input.runs
            for evidence in run.usable.values()
        ]
        if None not in reasons:
            runner.refuse(f"{metric} is not available: {reasons[0] if reasons else 'no run has it.'}")


def _check_bin(runner: Runner, report_input: ReportInput, pages: Sequence[str]) -> None:
    """Raises Refused where no diagram has the bin of --bin; says so where the report has no diagram."""
    number, scheme = report_input.settings.bin_number, report_input.settings.scheme
    if number is None:
        return
    if reliability.ID not in pages:
        runner.message(
            f"--bin has no effect without a reliability diagram below which questions are listed: add --page "
            f"{reliability.ID}."
        )
    n_bins = scheme.bins
    if scheme.binning == "natural":
        methods = [(run, id_) for run in report_input.runs for id_ in report_input.methods_for(run)]
        n_bins = max(_count_bins(report_input.evidence(run, id_), scheme) for run, id_ in methods)
    if number > n_bins:
        raise Refused(f"--bin: expected the number of a bin, 1 to {n_bins}, found {number}.")


def _count_bins(evidence: Evidence, scheme: Scheme) -> int:
    """The number of bins of a diagram; 0 where there is no diagram."""
    try:
        return reliability_diagram(evidence, DEFAULT_METRIC, scheme).table.height
    except Unavailable:
        return 0


def _build_with_progress(report_input: ReportInput, pages: Sequence[str], provenance: Provenance) -> Report:
    """Builds the report, with progress on stderr if that is a terminal."""
    with terminal_progress("report") as progress:
        return build_report(report_input, pages, provenance, progress)


def _run_element(run: ReportRun, report_input: ReportInput, result: Report, output: Path) -> ReportElement:
    """One run of the report."""
    return {
        "file": run.report.run.file,
        "format": run.report.run.format,
        "run": run.report.run.label,
        "title": run.title,
        "methods": list(report_input.methods_for(run)),
        "report": str(output),
        "pages": list(result.pages),
        "left_out": dict(result.left_out),
        "n_total": run.report.run.n_total,
    }


def _print_summary(result: Report, report_input: ReportInput, output: Path) -> None:
    printer = ResultPrinter()
    for id_, why in result.left_out.items():
        printer.print_line(f"Left out, {id_}: {why}")
    size = output.stat().st_size
    sections, runs = plural(len(result.pages), "section"), plural(len(report_input.runs), "run")
    printer.print_line(f"{output.name}: {sections} of {runs}, {size / 1000:,.0f} kB")
