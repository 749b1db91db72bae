"""The verb `reduce`: writes token-level files of any size as one small file of sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesAtScaleGroup, InputFiles
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import Runner, input_paths
from calib_core.errors import BadRowsFound, CalibError, Refused
from calib_core.readers.merged_runs import MergedTokenRun, merge_token_runs
from calib_core.readers.token.sums import write_sums
from calib_core.runs import TokenRun
from calib_core.wording import plural

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import ReduceElement

_OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="SUMS.parquet", help="The output file of sums."),
]


@takes_options
def reduce(
    *,
    output: _OutputOption,
    as_json: cli_options.JsonOption = False,
    input_files: FilesAtScaleGroup,
) -> int:
    """Save the sums of token-level files in one small, exact file.

    Files of the same run are added up. If one file is refused, nothing is written, because sums without one
    part would look complete.
    """
    runner = Runner()
    elements: list[JsonElement] = []
    try:
        if input_files.together:
            raise Refused("--together has no meaning for reduce, which always adds up the files of one run.")
        inputs = input_paths(runner, input_files, output, "reduce")
        combined = merge_token_runs(
            run for path, name in inputs.items() for run in _token_runs(runner, input_files, path, name)
        )
        if runner.exit_code:
            runner.message(f"Nothing was written to {output.name}: not every file can be used.")
        else:
            write_sums([merged.run for merged in combined], output)
            elements = [_run_element(merged, output) for merged in combined]
            if not as_json:
                _print_summary(combined, output)
    except CalibError as reason:
        runner.refuse(str(reason))
    return runner.finish(elements, as_json=as_json)


def _token_runs(runner: Runner, input_files: InputFiles, path: Path, name: str) -> Iterator[TokenRun]:
    """Yields the token-level runs of one file; prints the reason if the file is refused."""
    try:
        for run in input_files.read(path, name).runs(skip_bad_rows=input_files.skip_bad_rows):
            if isinstance(run, TokenRun):
                yield replace(run, file=name)
            else:
                raise Refused(
                    f"{name} holds answers, one row per question, and no positions of a text: there is "
                    "nothing to reduce."
                )
    except BadRowsFound as bad:
        runner.report_bad_rows(bad)
    except CalibError as reason:
        runner.refuse(str(reason))


def _run_element(combined: MergedTokenRun, output: Path) -> ReduceElement:
    """One run that was written; `file` is that of its first part, `files` those of all parts."""
    run = combined.run
    return {
        "file": combined.files[0],
        "files": list(combined.files),
        "run": run.label,
        "rows": run.sums.n_rows,
        "n_total": run.n_total,
        "classes": run.sums.n_classes,
        "output": str(output),
    }


def _print_summary(combined: Sequence[MergedTokenRun], output: Path) -> None:
    printer = ResultPrinter()
    for merged in combined:
        sums = merged.run.sums
        parts = "" if len(merged.files) == 1 else f" of {len(merged.files):,} files"
        printer.print_line(
            f"{merged.run.label}: {sums.n_rows:,} positions{parts}, {sums.n_classes:,} classes"
        )
    size = output.stat().st_size
    printer.print_line(f"{output.name}: {plural(len(combined), 'run')}, {size / 1000:,.0f} kB")
