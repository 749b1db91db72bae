"""How do token-level files of any size become one small file of sums?  The verb `reduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.cli.desk import Desk
from calib_core.cli.elements import Element
from calib_core.cli.inputs import inputs_beside
from calib_core.cli.options import FilesArgument, FormatOption, JsonOption, MapOption, SkipOption
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.files.token_level.parts import Whole, wholes
from calib_core.files.token_level.sums import write_sums
from calib_core.problems import BadRowsFound, CalibError, Refused
from calib_core.records import TokenRun
from calib_core.wording import count

OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="SUMS.parquet", show_default=False, help="The file of sums that is written."
    ),
]


def reduce(
    files: FilesArgument,
    *,
    output: OutputOption,
    as_json: JsonOption = False,
    skip_bad_rows: SkipOption = False,
    format_id: FormatOption = None,
    maps: MapOption = None,
) -> int:
    """Which sums do these token-level files come to?  All runs are saved in one small, exact file.

    Files that say the same of their run are parts of it, and are added up. If one file is refused, nothing
    is written: what lacks a part would look whole.
    """
    desk = Desk()
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows)
    elements: list[Element] = []
    try:
        inputs = inputs_beside(desk, source, output, "reduce")
        found = wholes(run for path, name in inputs.items() for run in _runs(desk, source, path, name))
        if desk.code:
            desk.tell(f"Nothing was written to {output.name}: not every file can be used.")
        else:
            write_sums([whole.run for whole in found], output)
            elements = [_element(whole, output) for whole in found]
            if not as_json:
                _print(found, output)
    except CalibError as reason:
        desk.refuse(str(reason))
    return desk.leave(elements, as_json=as_json)


def _runs(desk: Desk, source: Source, path: Path, name: str) -> Iterator[TokenRun]:
    """The token-level runs of one file; why there are none is said at the desk."""
    try:
        for run in source.read(path, name).runs(skip_bad_rows=source.skip_bad_rows):
            if isinstance(run, TokenRun):
                yield replace(run, file=name)
            else:
                raise Refused(
                    f"{name} holds answers, one row a question, and no positions of a text: there is nothing "
                    f"to reduce."
                )
    except BadRowsFound as bad:
        desk.ask(bad)
    except CalibError as reason:
        desk.refuse(str(reason))


def _element(whole: Whole, output: Path) -> Element:
    """One run written. file: of its first part; files: of all parts."""
    run = whole.run
    return {
        "file": whole.files[0],
        "files": list(whole.files),
        "run": run.label,
        "rows": run.sums.rows,
        "n_total": run.n_total,
        "classes": run.sums.classes,
        "output": str(output),
    }


def _print(found: Sequence[Whole], output: Path) -> None:
    paper = Paper()
    for whole in found:
        sums = whole.run.sums
        parts = "" if len(whole.files) == 1 else f" of {len(whole.files):,} files"
        paper.line(f"{whole.run.label}: {sums.rows:,} positions{parts}, {sums.classes:,} classes")
    size = output.stat().st_size
    paper.line(f"{output.name}: {count(len(found), 'run')}, {size / 1000:,.0f} kB")
