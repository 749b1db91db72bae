"""How is everything that these files say sent to somebody?  The verb `report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.cli.input_files import InputFiles
from calib_core.cli.json_output import JsonElement
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    ColumnMappingOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MetricOption,
    RenormaliseOption,
    SkipBadRowsOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner, input_paths
from calib_core.cli.terminal import progress_bar
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, CalibError, Refused
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.readers.atomic_write import write_atomically
from calib_core.report.build import Report, selected_pages
from calib_core.report.build import build_report as report_of
from calib_core.report.inputs import (
    ReportFile,
    ReportInput,
    ReportRun,
    ReportSettings,
    merge_partial_reports,
    select_runs,
    titled_runs,
)
from calib_core.report.provenance import Provenance, ReportCommand, file_checksums, files_read_with
from calib_core.report.sections import SECTIONS
from calib_core.report.sections.reliability import MAX_QUESTIONS
from calib_core.results.files import FileReport, RunReport, check_file, usable_runs
from calib_core.results.score import effective_scheme
from calib_core.wording import plural

OUTPUT_SUFFIXES = (".html", ".htm")

OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT.html", show_default=False, help="The file that is written."
    ),
]  # fmt: skip
PageOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--page",
        metavar="ID",
        show_default=False,
        help=f"Repeat; all that have something to say if none is named: {', '.join(SECTIONS)}.",
    ),
]
MethodOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="ID",
        show_default=False,
        help=f"Repeat; of a run that gives none of them, what each page opens with: {', '.join(METHODS)}.",
    ),
]
QuestionBinOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--bin",
        metavar="N",
        min=1,
        show_default=False,
        help=f"From 1: below each reliability diagram the first {MAX_QUESTIONS} questions of that bin, too.",
    ),
]
RunOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--run", metavar="LABEL", show_default=False, help="Repeat; all runs of the files if none is named."
    ),
]


def report(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    output: OutputOption,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    n_bins: BinsOption = 10,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    skip_bad_rows: SkipBadRowsOption = False,
    format_id: FormatOption = None,
    column_mappings: ColumnMappingOption = None,
    gold: GoldOption = None,
    pages: PageOption = None,
    runs: RunOption = None,
    bin_: QuestionBinOption = None,
) -> int:
    """What do these files say, as one HTML file to send: figures, tables, recipes, checksums?

    It works offline and can be printed. Files that are parts of one evaluation are one run.
    """
    desk = Runner()
    source = InputFiles.from_options(
        files, format_id, column_mappings, skip_bad_rows=skip_bad_rows, gold=gold
    )
    scheme, options = Scheme(binning, n_bins), MethodOptions(renormalise, labels, unparseable)
    wish = CommandRequest.from_options(methods, metrics, scheme, options)
    asked = ReportSettings(wish.methods, wish.metrics, scheme, options, bin_)
    elements: list[JsonElement] = []
    try:
        subject, result = _write_report(desk, source, output, asked, (pages or (), runs or ()))
        elements = [_run_element(run, subject, result, output) for run in subject.runs]
        if not as_json:
            _print_summary(result, subject, output)
    except CalibError as reason:
        desk.refuse(str(reason))
    return desk.finish(elements, as_json=as_json)


def _write_report(
    runner: Runner,
    input_files: InputFiles,
    output: Path,
    request: ReportSettings,
    pages_and_runs: tuple[Sequence[str], Sequence[str]],
) -> tuple[ReportInput, Report]:
    """What was reported, and the report, which is written now; which: pages and runs, () = all.

    Raises Refused where nothing can be reported or written.
    """
    if output.suffix.lower() not in OUTPUT_SUFFIXES:
        raise Refused(f"{output.name}: name a file that ends in {' or '.join(OUTPUT_SUFFIXES)}: -o FILE")
    pages, runs = pages_and_runs
    wanted = selected_pages(pages)
    files, found = _read_files(runner, input_files, input_paths(runner, input_files, output, "report"))
    subject = ReportInput(select_runs(titled_runs(merge_partial_reports(found)), runs), tuple(files), request)
    _refuse_unavailable(runner, subject)
    again = _reproduction(input_files, output, request, pages, runs)
    result = _build_with_progress(
        subject, wanted, Provenance(datetime.now().astimezone(), again.command_line, again.where_to_run)
    )
    write_atomically(result.html.encode("utf-8"), output)
    return subject, result


def _read_files(
    runner: Runner, input_files: InputFiles, paths: Mapping[Path, str]
) -> tuple[list[ReportFile], list[RunReport]]:
    """Every file, and the runs of those that load; why the others do not is said at the desk, too."""
    files: list[ReportFile] = []
    runs: list[RunReport] = []
    for path, name in paths.items():
        checked: FileReport | None = None
        refusal: str | None = None
        try:
            reading = input_files.read(path, name)
            checked = check_file(reading)
            usable_runs(reading, skip_bad_rows=input_files.skip_bad_rows)
            runs += checked.runs
        except BadRowsFound as bad:
            refusal = runner.report_bad_rows(bad)
        except CalibError as reason:
            refusal = str(reason)
            runner.refuse(refusal)
        files.append(
            ReportFile(name, checked, refusal, file_checksums(files_read_with(path, name, input_files.gold)))
        )
    return files, runs


def _refuse_unavailable(runner: Runner, subject: ReportInput) -> None:
    """Refuses what was asked for by name and no run gives; the rest is reported all the same."""
    for method in subject.settings.methods:
        if not any(method in run.usable for run in subject.runs):
            why = subject.runs[0].report.survey.unavailable.get(method, "no run gives it.")
            runner.refuse(f"{method} cannot be given: {why}")
    for metric in subject.settings.metrics:
        scheme = effective_scheme(METRICS[metric], subject.settings.scheme)
        reasons = [
            evidence.unavailable_reason(METRICS[metric], scheme)
            for run in subject.runs
            for evidence in run.usable.values()
        ]
        if None not in reasons:
            runner.refuse(f"{metric} cannot be given: {reasons[0] if reasons else 'no run gives it.'}")


def _reproduction(
    input_files: InputFiles, output: Path, request: ReportSettings, pages: Sequence[str], runs: Sequence[str]
) -> ReportCommand:
    return ReportCommand(
        tuple(map(str, input_files.paths)),
        str(output),
        request,
        tuple(pages),
        tuple(runs),
        input_files.skip_bad_rows,
        input_files.format,
        input_files.column_mappings,
        None if input_files.gold is None else str(input_files.gold),
    )


def _build_with_progress(subject: ReportInput, pages: Sequence[str], made: Provenance) -> Report:
    """The report, with progress on stderr if a person looks."""
    with progress_bar("report") as progress:
        return report_of(subject, pages, made, progress)


def _run_element(run: ReportRun, subject: ReportInput, result: Report, output: Path) -> JsonElement:
    """One run reported."""
    return {
        "file": run.report.run.file,
        "format": run.report.run.format,
        "run": run.report.run.label,
        "title": run.title,
        "methods": list(subject.methods_for(run)),
        "report": str(output),
        "pages": list(result.pages),
        "left_out": dict(result.left_out),
        "n_total": run.report.run.n_total,
    }


def _print_summary(result: Report, subject: ReportInput, output: Path) -> None:
    paper = ResultPrinter()
    for id_, why in result.left_out.items():
        paper.print_line(f"Left out, {id_}: {why}")
    size = output.stat().st_size
    pages, runs = plural(len(result.pages), "page"), plural(len(subject.runs), "run")
    paper.print_line(f"{output.name}: {pages} of {runs}, {size / 1000:,.0f} kB")
