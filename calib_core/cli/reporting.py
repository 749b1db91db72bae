"""How is everything that these files say sent to somebody?  The verb `report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.analysis.check import FileReport, RunReport, check, usable_runs
from calib_core.analysis.score import scheme_for
from calib_core.bins import Scheme
from calib_core.cli.desk import Desk, Wish
from calib_core.cli.elements import Element
from calib_core.cli.inputs import inputs_beside
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MapOption,
    MetricOption,
    RenormaliseOption,
    SkipOption,
    UnparseableOption,
)
from calib_core.cli.progress import progress_of
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.files.saving import save
from calib_core.metrics import METRICS
from calib_core.problems import BadRowsFound, CalibError, Refused
from calib_core.report.again import Again
from calib_core.report.made import Made, bytes_of, read_together
from calib_core.report.reporting import Report, pages_of
from calib_core.report.reporting import report as report_of
from calib_core.report.sections import SECTIONS
from calib_core.report.sections.reliability import QUESTIONS
from calib_core.report.subject import Asked, FileHere, RunHere, Subject, chosen, titled, whole
from calib_core.wording import count

ENDINGS = (".html", ".htm")

OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT.html", show_default=False, help="The file that is written."
    ),
]  # fmt: skip
PageOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--page", metavar="ID", show_default=False,
        help=f"Repeat; all that have something to say if none is named: {', '.join(SECTIONS)}.",
    ),
]
MethodOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--method", metavar="ID", show_default=False,
        help=f"Repeat; of a run that gives none of them, what each page opens with: {', '.join(METHODS)}.",
    ),
]
BinOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--bin", metavar="N", min=1, show_default=False,
        help=f"From 1: below each reliability diagram the first {QUESTIONS} questions of that bin, too.",
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
    bins_asked: BinsOption = 10,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    skip_bad_rows: SkipOption = False,
    format_id: FormatOption = None,
    maps: MapOption = None,
    gold: GoldOption = None,
    pages: PageOption = None,
    runs: RunOption = None,
    bin_: BinOption = None,
) -> int:
    """What do these files say, as one HTML file to send: figures, tables, recipes, checksums?

    It works offline and can be printed. Files that are parts of one evaluation are one run.
    """
    desk = Desk()
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    scheme, options = Scheme(binning, bins_asked), Options(renormalise, labels, unparseable)
    wish = Wish.of(methods, metrics, scheme, options)
    asked = Asked(wish.methods, wish.metrics, scheme, options, bin_)
    elements: list[Element] = []
    try:
        subject, result = _written(desk, source, output, asked, (pages or (), runs or ()))
        elements = [_element(run, subject, result, output) for run in subject.runs]
        if not as_json:
            _print(result, subject, output)
    except CalibError as reason:
        desk.refuse(str(reason))
    return desk.leave(elements, as_json=as_json)


def _written(
    desk: Desk, source: Source, output: Path, asked: Asked, which: tuple[Sequence[str], Sequence[str]]
) -> tuple[Subject, Report]:
    """What was reported, and the report, which is written now; which: pages and runs, () = all.

    Raises Refused where nothing can be reported or written.
    """
    if output.suffix.lower() not in ENDINGS:
        raise Refused(f"{output.name}: name a file that ends in {' or '.join(ENDINGS)}: -o FILE")
    pages, runs = which
    wanted = pages_of(pages)
    files, found = _read(desk, source, inputs_beside(desk, source, output, "report"))
    subject = Subject(chosen(titled(whole(found)), runs), tuple(files), asked)
    _check(desk, subject)
    again = _again(source, output, asked, pages, runs)
    result = _with_progress(subject, wanted, Made(datetime.now().astimezone(), again.line, again.place))
    save(result.html.encode("utf-8"), output)
    return subject, result


def _read(
    desk: Desk, source: Source, inputs: Mapping[Path, str]
) -> tuple[list[FileHere], list[RunReport]]:
    """Every file, and the runs of those that load; why the others do not is said at the desk, too."""
    files: list[FileHere] = []
    runs: list[RunReport] = []
    for path, name in inputs.items():
        checked: FileReport | None = None
        refusal: str | None = None
        try:
            reading = source.read(path, name)
            checked = check(reading)
            usable_runs(reading, skip_bad_rows=source.skip_bad_rows)
            runs += checked.runs
        except BadRowsFound as bad:
            refusal = desk.ask(bad)
        except CalibError as reason:
            refusal = str(reason)
            desk.refuse(refusal)
        files.append(FileHere(name, checked, refusal, bytes_of(read_together(path, name, source.gold))))
    return files, runs


def _check(desk: Desk, subject: Subject) -> None:
    """Refuses what was asked for by name and no run gives; the rest is reported all the same."""
    for method in subject.asked.methods:
        if not any(method in run.usable for run in subject.runs):
            why = subject.runs[0].report.survey.refused.get(method, "no run gives it.")
            desk.refuse(f"{method} cannot be given: {why}")
    for metric in subject.asked.metrics:
        scheme = scheme_for(METRICS[metric], subject.asked.scheme)
        reasons = [
            evidence.refusal(METRICS[metric], scheme)
            for run in subject.runs
            for evidence in run.usable.values()
        ]
        if None not in reasons:
            desk.refuse(f"{metric} cannot be given: {reasons[0] if reasons else 'no run gives it.'}")


def _again(
    source: Source, output: Path, asked: Asked, pages: Sequence[str], runs: Sequence[str]
) -> Again:
    return Again(
        tuple(map(str, source.paths)), str(output), asked, tuple(pages), tuple(runs), source.skip_bad_rows,
        source.format, source.columns, None if source.gold is None else str(source.gold),
    )


def _with_progress(subject: Subject, pages: Sequence[str], made: Made) -> Report:
    """The report, with progress on stderr if a person looks."""
    with progress_of("report") as progress:
        return report_of(subject, pages, made, progress)


def _element(run: RunHere, subject: Subject, result: Report, output: Path) -> Element:
    """One run reported."""
    return {
        "file": run.report.run.file,
        "format": run.report.run.format,
        "run": run.report.run.label,
        "title": run.title,
        "methods": list(subject.methods_of(run)),
        "report": str(output),
        "pages": list(result.pages),
        "left_out": dict(result.left_out),
        "n_total": run.report.run.n_total,
    }


def _print(result: Report, subject: Subject, output: Path) -> None:
    paper = Paper()
    for id_, why in result.left_out.items():
        paper.line(f"Left out, {id_}: {why}")
    size = output.stat().st_size
    pages, runs = count(len(result.pages), "page"), count(len(subject.runs), "run")
    paper.line(f"{output.name}: {pages} of {runs}, {size / 1000:,.0f} kB")
