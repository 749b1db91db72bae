"""The verb `recalibrate`: a map fitted to a run and judged out of fold, or a map applied to a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from calib_core.advice import quote_argument
from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup, InputFiles
from calib_core.cli.json_output import JsonElement, recalibration_element
from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.errors import CalibError, Refused, Unavailable, shorten
from calib_core.inference.recalibration import MAP_KINDS
from calib_core.methods.method import MethodOptions
from calib_core.readers.atomic_write import check_output_path, write_atomically
from calib_core.readers.companions import expected_companions
from calib_core.readers.table.extend import ExtensibleTable, extensible_table
from calib_core.readers.table.reader import TABLE
from calib_core.reporting.export.canonical import to_canonical
from calib_core.results.evidence import Evidence, get_method
from calib_core.results.recalibration import (
    DEFAULT_FOLDS,
    DEFAULT_MAP,
    DEFAULT_SEED,
    MAX_FOLDS,
    Recalibration,
)
from calib_core.results.recalibration import (
    recalibrate as recalibrate_evidence,
)
from calib_core.results.recalibration_map import (
    MAX_MAP_BYTES,
    AppliedMap,
    RecalibrationMap,
)
from calib_core.runs import Run
from calib_core.views.recalibrate import metrics_view
from calib_core.wording import join_names, plural

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import AppliedElement

ROWS_SUFFIXES: Final = (".parquet", ".jsonl")
"""Endings of a file in Calib's own format."""

_MAX_LISTED: Final = 10

_WHAT: Final = "recalibration"
"""What messages say is not available."""

ByOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--by", metavar="MAP", help=f"The map: {', '.join(MAP_KINDS)}.", autocompletion=lambda: [*MAP_KINDS]
    ),
]
FoldsOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--folds", metavar="K", min=2, max=MAX_FOLDS,
        help="Number of folds, split by question: each row is scored with a map fitted to the other folds."
    )
]  # fmt: skip
_OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE",
        help="Write the map (MAP.json), or with --apply the rows with one more column."
    )
]  # fmt: skip
PythonOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--python", metavar="OUT.py", help="Write the map as a few lines of Python."),
]
ApplyOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--apply", metavar="MAP.json",
        help="Apply this map instead of fitting one, to the method it was fitted to unless --method says "
        "otherwise."
    )
]  # fmt: skip
_RunOption: TypeAlias = Annotated[
    str | None, typer.Option("--run", metavar="LABEL", help="One run of the files.")
]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How a map is fitted."""

    by: ByOption = DEFAULT_MAP
    folds: FoldsOption = DEFAULT_FOLDS
    seed: cli_options.SeedOption = DEFAULT_SEED


@dataclass(frozen=True, slots=True)
class _Paths:
    """The files that are written, and the map that is applied instead of a fitted one."""

    output: _OutputOption = None
    python: PythonOption = None
    apply: ApplyOption = None


def _method_options(
    *,
    renormalise: cli_options.RenormaliseOption = None,
    unparseable: cli_options.UnparseableOption = "own",
    held_out: cli_options.HeldOutOption = False,
) -> MethodOptions:
    return MethodOptions(renormalise, "top", unparseable, held_out=held_out)


@takes_options
def recalibrate(
    *,
    as_json: cli_options.JsonOption = False,
    methods: cli_options.MethodOption = None,
    run: _RunOption = None,
    fit: Annotated[_Fit, OptionGroup(_Fit)],
    paths: Annotated[_Paths, OptionGroup(_Paths)],
    options: Annotated[MethodOptions, OptionGroup(_method_options)],
    input_files: FilesGroup,
) -> int:
    """Fit a map from confidence to accuracy, evaluate it out of fold, and apply it.

    Every row is scored with a map fitted to other questions; the map that -o writes is fitted to all. It
    gains if the 95 % interval of the difference in Brier score, after minus before, is below 0. A file of
    several runs or methods needs --run and --method to write one map.
    --apply writes the rows of a table unchanged, with one more column, confidence.recalibrated (for an event
    event_prob.recalibrated), also for rows without an outcome (except for self-consistency, which has to
    know the right answer); rows of another format are written in Calib's own.
    """
    runner = Runner([run] if run else None)
    elements: Sequence[JsonElement] = []
    try:
        request = CommandRequest.from_options(cli_options.Choice(methods=methods), Scheme(), options)
        _check_options(fit.by, paths)
        for path in (paths.output, paths.python):
            if path is not None:
                _check_not_an_input(runner, input_files, path, paths.apply)
        runs = list(runner.runs(input_files, needs="outcomes" if paths.apply is None else "confidences"))
        if run and not runs:  # the runner has said which there are
            return runner.finish(elements, as_json=as_json)
        if paths.apply is None:
            found = _fit_runs(runner, runs, request, fit, as_json=as_json)
            if (paths.output or paths.python) and found:
                _write_map(found, paths)
            elements = [recalibration_element(run.file, result) for run, result in found]
        elif paths.output is not None:
            fitted = _read_map(paths.apply)
            files = list(runner.input_files(input_files))
            if runs:
                rows = _Rows.of(paths.output, files, runs)
                elements = _apply(runner, runs, request, fitted, rows, as_json=as_json)
    except CalibError as reason:
        runner.refuse(str(reason))
    return runner.finish(elements, as_json=as_json)


def _check_options(by: str, paths: _Paths) -> None:
    if by not in MAP_KINDS:
        raise Refused(f"--by: expected one of {', '.join(MAP_KINDS)}, found {shorten(by)!r}.")
    if paths.python is not None and paths.apply is not None:
        raise Refused("--python writes a map that is fitted, so it cannot be combined with --apply.")
    output = paths.output
    if paths.apply is None:
        if output is not None and output.suffix.lower() != ".json":
            raise Refused(f"{output.name}: name a file that ends in .json for the map: -o MAP.json")
        return
    if output is None:
        raise Refused("--apply needs a file for the rows: -o FILE")


def _check_not_an_input(runner: Runner, input_files: InputFiles, output: Path, apply: Path | None) -> None:
    check_output_path(output, [apply] if apply else [])
    for path, _ in runner.input_files(input_files):
        check_output_path(output, (path, *expected_companions(path), *input_files.tables))


def _fit_runs(
    runner: Runner, runs: Sequence[Run], request: CommandRequest, fit: _Fit, *, as_json: bool
) -> list[tuple[Run, Recalibration]]:
    def recalibrated(evidence: Evidence, _metric: str, _scheme: Scheme) -> Recalibration:
        return recalibrate_evidence(evidence, fit.by, fit.folds, fit.seed)

    found: list[tuple[Run, Recalibration]] = []
    for run in runs:
        results = runner.results(run, request, (_WHAT,), recalibrated)
        found += [(run, result) for result in results]
        if results and not as_json:
            ResultPrinter().print_view(metrics_view(results), heading(run.file, run.label))
    return found


def _write_map(found: Sequence[tuple[Run, Recalibration]], paths: _Paths) -> None:
    if len(found) > 1:
        listed = "; ".join(
            f"--run {quote_argument(run.label)} --method {each.method}" for run, each in found[:_MAX_LISTED]
        )
        more = "; …" if len(found) > _MAX_LISTED else ""
        raise Refused(f"A map is fitted to one run and method; nothing was written. Name one: {listed}{more}")
    (_, result) = found[0]
    if paths.output is not None:
        write_atomically(result.map.to_json().encode(), paths.output)
    if paths.python is not None:
        write_atomically(result.map.to_python().encode(), paths.python)


def _read_map(path: Path) -> RecalibrationMap:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_MAP_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Refused(f"{path.name} cannot be read ({reason}).") from None
    return RecalibrationMap.from_json(data, path.name)


def _apply(
    runner: Runner,
    runs: Sequence[Run],
    request: CommandRequest,
    fitted: RecalibrationMap,
    rows: _Rows,
    *,
    as_json: bool,
) -> list[AppliedElement]:
    """Writes the rows as they came, with a column of recalibrated confidences."""
    if len(request.methods) > 1:
        raise Refused("--apply writes one confidence for each row: name one --method.")
    method = request.methods[0] if request.methods else fitted.method
    get_method(method)
    output, applied = rows.output, list[AppliedMap]()
    for run in runs:
        try:
            applied.append(fitted.applied(run, method, request.options))
        except Unavailable as reason:
            runner.refuse(f"{run.file}, {run.label}: {_WHAT} by {method} is not available: {reason}")
    if runner.exit_code or not applied:
        runner.refuse(f"Nothing was written to {output.name}: not every run can be recalibrated.")
        return []
    write_atomically(rows.extended(applied), output)
    elements: list[AppliedElement] = []
    for one in applied:
        run, n_rows = one.run, one.recalibrated.n_used
        n_judged = 0 if one.judged is None else one.judged.n_used
        question = one.question
        if question is not None:
            runner.message(question)
        elements.append(
            {
                "file": run.file,
                "run": run.label,
                "method": method,
                "by": fitted.by,
                "rows": n_rows,
                "n_judged": n_judged,
                "n_total": run.n_total,
                "output": str(output),
                "column": one.column.name,
                "question": question,
            }
        )
        if not as_json:
            rows_used = f"{plural(n_rows, 'row')} of {run.n_total:,}"
            without = n_rows - n_judged
            outcomes = f", {without:,} of them without an outcome" if without else ""
            ResultPrinter().print_line(f"{run.label}: {rows_used} recalibrated by {fitted.by}{outcomes}")
    return elements


@dataclass(frozen=True, slots=True)
class _Rows:
    """The file that --apply writes.

    Attributes
    ----------
    output : Path
    table : ExtensibleTable or None
        The table whose records it repeats; None where the input is no single table, and it is written in
        Calib's own format.
    """

    output: Path
    table: ExtensibleTable | None

    @classmethod
    def of(cls, output: Path, files: Sequence[tuple[Path, str]], runs: Sequence[Run]) -> _Rows:
        """The file for these runs; raises Refused if its name ends otherwise than its content needs."""
        (path, name), table = files[0], None
        if any(run.format == TABLE.id for run in runs):
            if len(files) > 1:
                raise Refused("--apply writes the rows of one table: name one file.")
            table = extensible_table(path, name)
        suffixes = ROWS_SUFFIXES if table is None else table.suffixes
        if output.suffix.lower() not in suffixes:
            kind = "" if table is None else f", as {name} is written"
            raise Refused(
                f"--apply needs a file for the rows that ends in {join_names(suffixes, 'or')}{kind}: -o FILE"
            )
        return cls(output, table)

    def extended(self, applied: Sequence[AppliedMap]) -> bytes:
        """The bytes of the file."""
        if self.table is None:
            rows = to_canonical([one.run_with_it() for one in applied], [])
            return rows.to_parquet() if self.output.suffix.lower() == ".parquet" else rows.to_json_lines()
        values: dict[int, float] = {}
        for one in applied:
            rows = one.run.rows.select("row").with_columns(one.column).drop_nulls()
            if not values.keys().isdisjoint(rows["row"]):
                raise Refused(
                    "--apply writes one confidence for each row, and here a row has several runs: name one "
                    "--run."
                )
            values |= dict(rows.iter_rows())
        return self.table.with_column(applied[0].column.name, values)
