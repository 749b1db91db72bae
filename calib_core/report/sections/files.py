"""What was loaded, what was left out, and why?  The ledger: a line a file, then each file in full."""

from __future__ import annotations

from typing import Final

from calib_core.analysis.check import FileReport, RunReport
from calib_core.analysis.reported import Compared, compared
from calib_core.confidence import METHODS
from calib_core.files import FORMATS
from calib_core.problems import BadCell, shorten
from calib_core.report.parts import Block, Progress, Section, Table
from calib_core.report.subject import FileBytes, FileHere, Subject
from calib_core.wording import NOTHING, bad_rows, count, percent

ID, TITLE, QUESTION = "files", "Files", "What was loaded, what was left out, and why?"

SPIKES: Final = "Many rows at one value"
COUNTS: Final = ("Rows", "Bad rows", "Runs")
SHOWN_COLUMNS: Final = 40
"""So many columns that nothing is read from are named."""


def section(subject: Subject, tell: Progress) -> Section:
    """All files, also those of which nothing is used."""
    blocks = [_summary(subject)]
    for at, file in enumerate(subject.files):
        tell(at / len(subject.files), file.name)
        blocks.append(_block(file))
    wholes = [run for run in subject.runs if run.report.run.file not in {file.name for file in subject.files}]
    blocks += [
        Block(f"{run.title}: one run of several files", tables=(methods_of(run.report),),
              captions=(facts(run.report),), remarks=tuple(run.report.run.ledger.notes))
        for run in wholes
    ]
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _summary(subject: Subject) -> Block:
    rows = [_file_row(file) for file in subject.files if file.read_with]
    beside: dict[FileBytes, list[str]] = {}
    for file in subject.files:
        for part in file.read_with[1:]:
            beside.setdefault(part, []).append(file.name)
    for part, names in beside.items():
        with_ = names[0] if len(names) == 1 else f"{len(names)} of these files"
        rows.append(_bytes_row(part, f"read with {with_}"))
    loaded = sum(file.refusal is None for file in subject.files)
    return Block(
        title="",
        reading=f"{count(len(subject.files), 'file')}, {loaded} loaded, {count(len(subject.runs), 'run')}.",
        tables=(Table.of("Every file, and the checksum of what was read", rows),),
    )


def _file_row(file: FileHere) -> dict[str, str]:
    row = _bytes_row(file.read_with[0], _state(file))
    if file.report is None:
        return row
    counts = file.report.rows, file.report.bad_rows, len(file.report.runs)
    return row | {name: f"{count:,}" for name, count in zip(COUNTS, counts, strict=True)}


def _bytes_row(part: FileBytes, state: str) -> dict[str, str]:
    return {
        "File": part.name, "State": state, **dict.fromkeys(COUNTS, ""), "Bytes": f"{part.size:,}",
        "SHA-256": part.sha256 or NOTHING,
    }


def _state(file: FileHere) -> str:
    if file.refusal is not None:
        return "not loaded"
    return "loaded, good rows only" if file.report and file.report.bad_rows else "loaded"


def _block(file: FileHere) -> Block:
    report = file.report
    if report is None:
        return Block(file.name, remarks=_lines(file.refusal))
    made = FORMATS[report.format]
    reading = f"Recognised as {made.title}: it has {made.marks}."
    if file.refusal is not None:
        bad = _bad_rows(report)
        return Block(file.name, reading=reading, tables=tuple(bad), remarks=_lines(file.refusal))
    told = {note for run in report.runs for note in run.run.ledger.notes}
    remarks = [note for run in report.runs for note in run.run.ledger.notes]
    remarks += [note for note in report.notes if note not in told]
    if report.bad_rows:
        remarks.insert(0, f"{bad_rows(report.bad_rows, report.rows)} and left out of every number.")
    if other := _read_as(report):
        remarks.append(f"Columns read as another name: {few(other)}.")
    if report.unused:
        remarks.append(f"Columns not read: {few(report.unused)}.")
    return Block(
        title=file.name,
        reading=reading,
        tables=(*(methods_of(run) for run in report.runs), *_audits(report), *_bad_rows(report)),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _lines(refusal: str | None) -> tuple[str, ...]:
    """A refusal as bullets; the lines that it lists have hyphens of their own."""
    return tuple(line.removeprefix("- ") for line in (refusal or "").splitlines())


def _read_as(report: FileReport) -> tuple[str, ...]:
    return tuple(
        f"{shorten(column, 60)} as {name}" for column, name in report.read_as.items() if column != name
    )


def few(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(shorten(name, 60) for name in names[:SHOWN_COLUMNS])
    return shown if len(names) <= SHOWN_COLUMNS else f"{shown} and {len(names) - SHOWN_COLUMNS:,} more"


def facts(report: RunReport) -> str:
    """What became of the rows of one run, in a sentence."""
    ledger = report.run.ledger
    told = [f"{count(ledger.read, 'row')} read"]
    if ledger.left_out:
        told.append(f"{ledger.left_out:,} bad")
    told += [f"{times:,} values of {column} clipped onto [0, 1]" for column, times in ledger.clipped.items()]
    if ledger.off_sum:
        told.append(f"{ledger.off_sum:,} distributions do not sum to 1 exactly and are used as stored")
    if report.accuracy is not None:
        told.append(f"accuracy of the {report.whose} {percent(report.accuracy)}")
    return "; ".join(told) + "."


def methods_of(report: RunReport) -> Table:
    """What one run can give, method by method, and why not the others."""
    rows = [method_row(report, id_) for id_ in report.survey.usable]
    if not any(report.spikes.values()):
        rows = [{name: value for name, value in row.items() if name != SPIKES} for row in rows]
    return Table.of(report.run.label, rows, f"{facts(report)} {_not_given(report)}".strip())


def _not_given(report: RunReport) -> str:
    """The methods that the run does not give, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for id_, why in report.survey.refused.items():
        reasons.setdefault(why, []).append(METHODS[id_].title)
    told = "; ".join(f"{', '.join(titles)} ({why})" for why, titles in reasons.items())
    return f"Not given: {told}." if told else ""


def method_row(report: RunReport, id_: str) -> dict[str, str | int | None]:
    """One method of one run: rows used, rows missing, and why."""
    missing = report.missing.get(id_, {})
    spikes = [f"{spike.count:,} at {spike.value:g}" for spike in report.spikes.get(id_, ())]
    return {
        "Confidence method": METHODS[id_].title,
        "Rows used": report.usable.get(id_),
        "Missing": sum(missing.values()) if id_ in report.usable else None,
        "Why": report.survey.refused.get(id_)
        or "; ".join(f"{times:,} {why}" for why, times in missing.items()),
        SPIKES: ", ".join(spikes[:3]),
    }


def _audits(report: FileReport) -> list[Table]:
    """The tool's own numbers beside ours, of every run whose file says some."""
    found: list[Table] = []
    for run in report.runs:
        numbers = compared(run.run, run.survey.usable)
        if numbers:
            rows = [_audit_row(one) for one in numbers]
            said = [name for name in rows[0] if any(row[name] is not None for row in rows)]
            rows = [{name: row[name] for name in said} for row in rows]
            found.append(Table.of(f"The tool's own numbers beside ours: {run.run.label}", rows))
    return found


def _audit_row(one: Compared) -> dict[str, str | None]:
    """With the words of the page Files."""
    known = one.ours is not None
    return {
        "Number": one.reported.name,
        "Subject": one.reported.subject or None,
        "Theirs": f"{one.reported.value:.6g}",
        "Their rows": None if one.reported.rows is None else f"{one.reported.rows:,}",
        "Ours": f"{one.ours:.6g}" if known else None,
        "Our rows": f"{one.n:,}" if known else None,
        "Equal": {True: "equal", False: "differs", None: NOTHING}[one.agrees],
        "Ours is": one.ours_is or None,
        "Why": one.why or None,
    }


def _bad_rows(report: FileReport) -> list[Table]:
    """The bad values by kind, the first of each."""
    return [
        Table.of(
            f"Bad: {problem.kind}, {count(problem.count, 'row')}",
            [place(cell) for cell in problem.first],
            f"The first {len(problem.first)}." if problem.count > len(problem.first) else "",
        )
        for problem in report.problems
    ]


def place(cell: BadCell) -> dict[str, str | int | None]:
    """Where one bad value stands, and what to do."""
    return {
        "Row": cell.row,
        "Line": cell.line,
        "Column": cell.column or "(whole row)",
        "Expected": cell.expected,
        "Found": cell.found,
        "What to do": cell.fix,
    }
