"""How are the same questions asked from the command line?  `python -m calib_core VERB FILE... [options]`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO, cast

import typer
from typer.exceptions import TyperException

from calib_core.analysis.check import check as report_of
from calib_core.analysis.reliability import reliability
from calib_core.analysis.score import score as score_of
from calib_core.bins import Scheme
from calib_core.cli.comparing import compare
from calib_core.cli.converting import convert
from calib_core.cli.desk import BAD_ROWS, REFUSED, Desk, Wish
from calib_core.cli.elements import (
    Element,
    bins_element,
    check_elements,
    document,
    refused_element,
    score_element,
)
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MapOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    SkipOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.reducing import reduce
from calib_core.cli.reporting import report
from calib_core.cli.sampling import samples
from calib_core.cli.sources import Source
from calib_core.cli.sweeping import sweep
from calib_core.cli.tables import Paper
from calib_core.confidence.method import Options
from calib_core.metrics import DEFAULT, METRICS
from calib_core.problems import CalibError

PROGRAM = "python -m calib_core"

app = typer.Typer(
    name=PROGRAM,
    help="Can a language model's confidence be believed? Exit code 0: done; 2: refused; 3: bad rows found.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def check(
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    skip_bad_rows: SkipOption = False,
    format_id: FormatOption = None,
    maps: MapOption = None,
    gold: GoldOption = None,
) -> int:
    """What is each file, what can it give, and what is wrong with it?"""
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    desk, paper = Desk(), Paper()
    elements: list[Element] = []
    for path, name in desk.files(source):
        try:
            report = report_of(source.read(path, name))
        except CalibError as reason:
            desk.refuse(str(reason))
            elements.append(refused_element(name, str(reason)))
            continue
        elements += check_elements(report)
        if not as_json:
            paper.report(report)
        if report.status == "refused":
            desk.refuse(f"{name}: no confidence method has a usable row.")
        elif report.status == "asks" and not skip_bad_rows:
            desk.refuse(f"{name}: nothing is loaded until bad rows are left out: --skip-bad-rows.", BAD_ROWS)
    return desk.leave(elements, as_json=as_json)


@app.command()
def score(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
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
    together: TogetherOption = False,
) -> int:
    """How good is each method, as one number a metric?"""
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = Wish.of(methods, metrics, Scheme(binning, bins_asked), Options(renormalise, labels, unparseable))
    desk, paper = Desk(), Paper()
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        scores = desk.results(run, wish, wish.metrics or tuple(METRICS), score_of)
        elements += [score_element(run.file, score) for score in scores]
        if scores and not as_json:
            paper.scores(run.file, run.label, scores)
    return desk.leave(elements, as_json=as_json)


@app.command()
def bins(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
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
    together: TogetherOption = False,
) -> int:
    """Is it right as often as it says, bin by bin?

    --metric (ece if none is named) says which pairs are binned; empty bins are left out.
    """
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = Wish.of(methods, metrics, Scheme(binning, bins_asked), Options(renormalise, labels, unparseable))
    desk, paper = Desk(), Paper()
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        diagrams = desk.results(run, wish, wish.metrics or (DEFAULT,), reliability)
        elements += [bins_element(run.file, diagram) for diagram in diagrams]
        if not as_json:
            for diagram in diagrams:
                paper.bins(run.file, diagram)
    return desk.leave(elements, as_json=as_json)


app.command()(sweep)
app.command()(compare)
app.command()(samples)
app.command()(reduce)
app.command()(convert)
app.command()(report)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command line (without the program's name); returns its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show "·" is no reason to stop
    if cast("TextIO | None", sys.stdout) is None:
        return _unprinted("it is closed")
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
        return 1
    except OSError as wrong:  # reading turns its own into Refused: this one is of printing
        _forget(sys.stdout)
        return _unprinted(wrong.strerror or str(wrong))
    return code


def _run(words: Sequence[str]) -> int:
    try:
        return int(app(words or ["--help"], prog_name=PROGRAM, standalone_mode=False) or 0)
    except (TyperException, CalibError) as wrong:
        message = wrong.format_message() if isinstance(wrong, TyperException) else str(wrong)
        Desk().tell(f"{message}\nHelp: {PROGRAM} VERB --help")
        if "--json" in words:
            sys.stdout.write(document([]) + "\n")
        return REFUSED


def _unprinted(why: str) -> int:
    try:
        Desk().tell(f"Nothing more can be printed on standard output: {why}.")
    except OSError:  # it may be the same full disk
        _forget(sys.stderr)
    return REFUSED


def _forget(stream: TextIO) -> None:
    # What is still unwritten would otherwise fail once more when Python closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
