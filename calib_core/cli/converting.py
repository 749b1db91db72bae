"""How does a file of any format become one of the project's own?  The verb `convert`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.analysis.check import usable_runs
from calib_core.cli.desk import Desk
from calib_core.cli.elements import Element
from calib_core.cli.inputs import inputs_beside
from calib_core.cli.options import FilesArgument, FormatOption, GoldOption, JsonOption, MapOption, SkipOption
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.files.harness.united import united
from calib_core.files.saving import save
from calib_core.problems import BadRowsFound, CalibError, Refused
from calib_core.records import Run
from calib_core.report.canonical import Converted, canonical, source_of
from calib_core.report.canonical_file import Canonical
from calib_core.wording import count

ENDINGS = (".parquet", ".jsonl")

OutputOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT.parquet", show_default=False,
        help="The file that is written: .parquet, or .jsonl for JSON lines.",
    ),
]  # fmt: skip


def convert(
    files: FilesArgument,
    *,
    output: OutputOption,
    as_json: JsonOption = False,
    skip_bad_rows: SkipOption = False,
    format_id: FormatOption = None,
    maps: MapOption = None,
    gold: GoldOption = None,
) -> int:
    """What do these files hold, in the project's own format?  It reads back to the same numbers.

    Several files become one if their runs can be told apart; files that are parts of one evaluation become
    one run. If one file is refused, nothing is written. Token-level files are reduced instead.
    """
    desk = Desk()
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    elements: list[Element] = []
    try:
        if output.suffix.lower() not in ENDINGS:
            raise Refused(f"{output.name}: name a file that ends in {' or '.join(ENDINGS)}: -o FILE")
        inputs = inputs_beside(desk, source, output, "convert")
        read = [each for path, name in inputs.items() for each in _read(desk, source, path, name)]
        if desk.code:
            desk.tell(f"Nothing was written to {output.name}: not every file can be used.")
        else:
            runs = united(run for each in read for run in each.runs)
            made = canonical(runs, [each.source for each in read], [n for each in read for n in each.notes])
            save(_bytes_of(made, output), output)
            elements = [_element(run, output) for run in runs]
            _tell(desk, read)
            if not as_json:
                _print(runs, made, output)
    except CalibError as reason:
        desk.refuse(str(reason))
    return desk.leave(elements, as_json=as_json)


def _read(desk: Desk, source: Source, path: Path, name: str) -> Iterator[Converted]:
    """What one file gives; why it gives nothing is said at the desk."""
    try:
        reading = source.read(path, name)
        runs = usable_runs(reading, skip_bad_rows=source.skip_bad_rows)
        yield Converted(runs, source_of(path, name, reading.rows), reading.notes, reading.unused)
    except BadRowsFound as bad:
        desk.ask(bad)
    except CalibError as reason:
        desk.refuse(str(reason))


def _bytes_of(made: Canonical, output: Path) -> bytes:
    return made.to_json_lines() if output.suffix.lower() == ".jsonl" else made.to_parquet()


def _element(run: Run, output: Path) -> Element:
    """One run written."""
    return {
        "file": run.file,
        "format": run.format,
        "run": run.label,
        "rows": run.n_total - run.ledger.left_out,
        "n_total": run.n_total,
        "output": str(output),
    }


def _tell(desk: Desk, read: Sequence[Converted]) -> None:
    """What of the files is not in the new one: columns, on stderr."""
    for each in read:
        if each.unused:
            shown = ", ".join(each.unused[:20]) + (", …" if len(each.unused) > 20 else "")
            desk.tell(f"{each.source.name}: not written, as nothing is read from them: {shown}")


def _print(runs: Sequence[Run], made: Canonical, output: Path) -> None:
    paper = Paper()
    for run in runs:
        bad = run.ledger.left_out
        left_out = f", {bad:,} bad ones left out" if bad else ""
        paper.line(f"{run.label}: {run.n_total - bad:,} rows{left_out}")
    for note in made.notes:
        paper.line(note)
    size = output.stat().st_size
    paper.line(f"{output.name}: {count(len(runs), 'run')}, {size / 1000:,.0f} kB")
