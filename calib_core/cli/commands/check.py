"""The verb `check`: what each file is, what can be computed from it, and what is wrong with it."""

from __future__ import annotations

from functools import partial
from typing import Final

from calib_core.cli import options as cli_options
from calib_core.cli.exit_codes import BAD_ROWS
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement, check_elements, refused_element
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import Runner
from calib_core.errors import CalibError
from calib_core.results.files import FileReport, check_file, joined_reports
from calib_core.views.files import MAX_CHANGES_PRINTED, corrections_view

MAX_DETAILED_FILES: Final = 3
"""Of more files, each that loads is one line."""


@takes_options
def check(
    *,
    as_json: cli_options.JsonOption = False,
    input_files: FilesGroup,
) -> int:
    """Report each file's format, usable methods and bad rows; files read together are reported as one.

    With --corrections, also what they change.
    With more than 3 files, each that can be used is one line.
    """
    runner, printer = Runner(), ResultPrinter()
    elements: list[JsonElement] = []
    loaded: list[FileReport] = []

    def tell(report: FileReport, *, briefly: bool) -> None:
        elements.extend(check_elements(report))
        if not as_json:
            printer.print_report(report, briefly=briefly)
            _print_corrections(report, printer)

    files = list(runner.input_files(input_files))
    are_many = len(files) > MAX_DETAILED_FILES
    for path, name in files:
        try:
            read_again = partial(input_files.read, path, name)
            report = check_file(input_files.read(path, name), read_again=read_again)
        except CalibError as reason:
            runner.refuse(str(reason))
            elements.append(refused_element(name, str(reason)))
            continue
        if input_files.together and (
            report.status == "loads" or (report.status == "asks" and input_files.skip_bad_rows)
        ):
            loaded.append(report)
        else:
            tell(report, briefly=are_many)
        if report.status == "refused":
            advice = f"\n{report.advice}" if report.advice else ""
            runner.refuse(f"{name}: no method has a usable row.{advice}")
        elif report.status == "asks" and not input_files.skip_bad_rows:
            runner.refuse(
                f"{name}: bad rows found, nothing is loaded. To leave them out, add --skip-bad-rows.",
                BAD_ROWS,
            )
    joined = joined_reports(loaded)
    for report in joined:
        tell(report, briefly=len(joined) > MAX_DETAILED_FILES)
    return runner.finish(elements, as_json=as_json)


def _print_corrections(report: FileReport, printer: ResultPrinter) -> None:
    for run in report.runs:
        view = corrections_view(run, MAX_CHANGES_PRINTED)
        if view.headline:
            printer.print_view(view)
