"""The verb `convert`: writes files of any format as one file in the project's own format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup, InputFiles
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import Runner, input_paths
from calib_core.errors import BadRowsFound, CalibError, Refused
from calib_core.readers.atomic_write import write_atomically
from calib_core.readers.merged_runs import merge_runs
from calib_core.reporting.export.canonical import CanonicalFile, ConvertedFile, source_record, to_canonical
from calib_core.results.files import usable_runs
from calib_core.runs import Run
from calib_core.wording import plural

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import ConvertElement

ANSWERS_SUFFIXES = (".parquet", ".jsonl")

_OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT.parquet",
        help="The output file: .parquet, or .jsonl for JSON lines."
    )
]  # fmt: skip


@takes_options
def convert(
    *,
    output: _OutputOption,
    as_json: cli_options.JsonOption = False,
    input_files: FilesGroup,
) -> int:
    """Convert files to Calib's own format.

    Several files become one if their runs can be told apart; files that are parts of one evaluation become
    one run. If one file is refused, nothing is written. Token-level files are reduced instead.
    """
    runner = Runner()
    elements: list[JsonElement] = []
    try:
        if output.suffix.lower() not in ANSWERS_SUFFIXES:
            raise Refused(f"{output.name}: name a file that ends in {' or '.join(ANSWERS_SUFFIXES)}: -o FILE")
        inputs = input_paths(runner, input_files, output, "convert")
        converted = [
            file for path, name in inputs.items() for file in _read_file(runner, input_files, path, name)
        ]
        if runner.exit_code:
            runner.message(f"Nothing was written to {output.name}: not every file can be used.")
        else:
            parts = (run for file in converted for run in file.runs)
            runs = merge_runs(parts, with_tables=input_files.together)
            canonical_file = to_canonical(
                runs, [file.source for file in converted], [note for file in converted for note in file.notes]
            )
            write_atomically(_output_bytes(canonical_file, output), output)
            elements = [_run_element(run, output) for run in runs]
            _report_unused_columns(runner, converted)
            if not as_json:
                _print_summary(runs, canonical_file, output)
    except CalibError as reason:
        runner.refuse(str(reason))
    return runner.finish(elements, as_json=as_json)


def _read_file(runner: Runner, input_files: InputFiles, path: Path, name: str) -> Iterator[ConvertedFile]:
    """Yields the runs of one file; prints the reason and yields nothing if the file is refused."""
    try:
        reading = input_files.read(path, name)
        runs = usable_runs(reading, skip_bad_rows=input_files.skip_bad_rows)
        yield ConvertedFile(
            runs, source_record(path, name, reading.n_rows), reading.notes, reading.unused_columns
        )
    except BadRowsFound as bad:
        runner.report_bad_rows(bad)
    except CalibError as reason:
        runner.refuse(str(reason))


def _output_bytes(canonical_file: CanonicalFile, output: Path) -> bytes:
    return (
        canonical_file.to_json_lines() if output.suffix.lower() == ".jsonl" else canonical_file.to_parquet()
    )


def _run_element(run: Run, output: Path) -> ConvertElement:
    """One run that was written."""
    return {
        "file": run.file,
        "format": run.format,
        "run": run.label,
        "rows": run.n_total - run.row_counts.n_left_out,
        "n_total": run.n_total,
        "output": str(output),
    }


def _report_unused_columns(runner: Runner, converted: Sequence[ConvertedFile]) -> None:
    """Prints on stderr which columns of the input are not in the output."""
    for file in converted:
        if file.unused_columns:
            shown = ", ".join(file.unused_columns[:20]) + (", …" if len(file.unused_columns) > 20 else "")
            runner.message(
                f"{file.source.name}: not written, because Calib does not use these columns: {shown}"
            )


def _print_summary(runs: Sequence[Run], canonical_file: CanonicalFile, output: Path) -> None:
    printer = ResultPrinter()
    for run in runs:
        n_bad = run.row_counts.n_left_out
        left_out = f", {n_bad:,} bad rows left out" if n_bad else ""
        printer.print_line(f"{run.label}: {run.n_total - n_bad:,} rows{left_out}")
    for note in canonical_file.notes:
        printer.print_line(note)
    size = output.stat().st_size
    printer.print_line(f"{output.name}: {plural(len(runs), 'run')}, {size / 1000:,.0f} kB")
