"""The page Files: what was loaded, what was left out and why; a summary, then each file in detail."""

from __future__ import annotations

from typing import Final

from calib_core.errors import BadCell, shorten
from calib_core.methods import METHODS
from calib_core.readers import FORMATS
from calib_core.results.corrections import CHANGE_COLUMNS, correction_note, effect_columns, effects_frame
from calib_core.results.files import FileReport, RunReport
from calib_core.results.reported_metrics import ReportedComparison, compare_reported_metrics
from calib_core.runs import AnswerRun
from calib_core.terms import common_terms
from calib_core.views.inputs import FileChecksum, ReportFile, ReportInput
from calib_core.views.view import Numbers, ProgressCallback, Section, View, ViewTable
from calib_core.wording import NO_VALUE, bad_rows_phrase, format_percent, names_sharing, plural

ID, TITLE, QUESTION = "files", "Files", "What was loaded, what was left out, and why?"

SPIKES_HEADING: Final = "Many rows at one value"
COUNT_HEADINGS: Final = ("Rows", "Bad rows", "Runs")
MAX_CHANGES_PRINTED: Final = 20
"""At most this many corrected questions are printed or in a report."""
MAX_NAMED_COLUMNS: Final = 40
"""At most this many columns are named in one remark."""


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the summary and a block for every file, also for files that are not used."""
    blocks = [_summary_block(report_input)]
    for index, file in enumerate(report_input.files):
        progress(index / len(report_input.files), file.name)
        blocks.append(_file_block(file))
    merged_runs = [
        run
        for run in report_input.runs
        if run.report.run.file not in {file.name for file in report_input.files}
    ]
    blocks += [
        View(
            f"{run.title}: one run of several files",
            tables=(methods_report_table(run.report),),
            how_to_read=row_facts(run.report),
            left_out=tuple(run.report.run.row_counts.notes),
        )
        for run in merged_runs
    ]
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _summary_block(report_input: ReportInput) -> View:
    rows = [_file_row(file) for file in report_input.files if file.files_read]
    companions: dict[FileChecksum, list[str]] = {}
    for file in report_input.files:
        for checksum in file.files_read[1:]:
            companions.setdefault(checksum, []).append(file.name)
    for checksum, names in companions.items():
        readers = names[0] if len(names) == 1 else f"{len(names)} of these files"
        rows.append(_checksum_row(checksum, f"read with {readers}"))
    loaded = sum(file.refusal is None for file in report_input.files)
    n_files, n_runs = plural(len(report_input.files), "file"), plural(len(report_input.runs), "run")
    return View(
        title="",
        headline=f"{n_files}, {loaded} loaded, {n_runs}.",
        tables=(ViewTable.from_rows("Every file, and the checksum of what was read", rows),),
    )


def _file_row(file: ReportFile) -> dict[str, str]:
    row = _checksum_row(file.files_read[0], _load_state(file))
    if file.report is None:
        return row
    counts = file.report.n_rows, file.report.n_bad_rows, len(file.report.runs)
    return row | {name: f"{count:,}" for name, count in zip(COUNT_HEADINGS, counts, strict=True)}


def _checksum_row(checksum: FileChecksum, state: str) -> dict[str, str]:
    return {
        "File": checksum.name,
        "State": state,
        **dict.fromkeys(COUNT_HEADINGS, ""),
        "Bytes": f"{checksum.size:,}",
        "SHA-256": checksum.sha256 or NO_VALUE,
    }


def _load_state(file: ReportFile) -> str:
    if file.refusal is not None:
        return "not loaded"
    return "loaded, good rows only" if file.report and file.report.n_bad_rows else "loaded"


def _file_block(file: ReportFile) -> View:
    report = file.report
    if report is None:
        return View(file.name, left_out=_refusal_lines(file.refusal))
    file_format = FORMATS[report.format]
    reading = f"Recognised as {file_format.title}: it has {file_format.recognised_by}."
    if file.refusal is not None:
        problems = _bad_row_tables(report)
        lines = _refusal_lines(file.refusal)
        return View(file.name, headline=reading, tables=tuple(problems), left_out=lines)
    run_notes = {note for run in report.runs for note in run.run.row_counts.notes}
    left_out = [note for run in report.runs for note in run.run.row_counts.notes]
    left_out += [note for note in report.notes if note not in run_notes]
    if report.n_bad_rows:
        left_out.insert(0, f"{bad_rows_phrase(report.n_bad_rows, report.n_rows)} and not used in any number.")
    if renamed := _renamed_columns(report):
        left_out.append(f"Columns read as another name: {names_or_more(renamed)}.")
    if report.unused_columns:
        left_out.append(f"Columns not read: {names_or_more(report.unused_columns)}.")
    return View(
        title=file.name,
        headline=reading,
        tables=(
            *(methods_report_table(run) for run in report.runs),
            *(table for run in report.runs for table in corrections_view(run, MAX_CHANGES_PRINTED).tables),
            *_audit_tables(report),
            *_bad_row_tables(report),
        ),
        left_out=tuple(dict.fromkeys(left_out)),
    )


def _refusal_lines(refusal: str | None) -> tuple[str, ...]:
    """The lines of a refusal, without the hyphens of its own lists."""
    return tuple(line.removeprefix("- ") for line in (refusal or "").splitlines())


def _renamed_columns(report: FileReport) -> tuple[str, ...]:
    return tuple(
        f"{shorten(column, 60)} as {name}" for column, name in report.column_roles.items() if column != name
    )


def names_or_more(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are: "a, b and 3 more"."""
    shown = ", ".join(shorten(name, 60) for name in names[:MAX_NAMED_COLUMNS])
    return (
        shown if len(names) <= MAX_NAMED_COLUMNS else f"{shown} and {len(names) - MAX_NAMED_COLUMNS:,} more"
    )


def row_facts(report: RunReport) -> str:
    """How many rows of one run were read, left out or changed, in a sentence."""
    row_counts = report.run.row_counts
    facts = [f"{plural(row_counts.n_rows, 'row')} read"]
    if row_counts.n_left_out:
        facts.append(f"{row_counts.n_left_out:,} bad")
    facts += [
        f"{count:,} values of {column} clipped onto [0, 1]" for column, count in row_counts.clipped.items()
    ]
    if row_counts.n_inexact_sums:
        facts.append(
            f"{row_counts.n_inexact_sums:,} distributions do not sum to 1 exactly and are used as stored"
        )
    if report.accuracy is not None:
        facts.append(
            f"accuracy of the {report.judged} {format_percent(report.accuracy)}{report.unweighted_note}"
        )
    if report.has_judge_and_people:
        facts.append(report.judge_text)
    return "; ".join(facts) + "."


def methods_report_table(report: RunReport) -> ViewTable:
    """The usable methods of one run, with a note on the others."""
    rows = [method_row(report, id_) for id_ in report.survey.usable]
    if not any(report.spikes.values()):
        rows = [{name: value for name, value in row.items() if name != SPIKES_HEADING} for row in rows]
    return ViewTable.from_rows(
        report.run.label, rows, f"{row_facts(report)} {_refused_methods_text(report)}".strip()
    )


def _refused_methods_text(report: RunReport) -> str:
    """The unavailable methods of a run; methods with the same reason are listed together."""
    sharing = names_sharing((METHODS[id_].title, why) for id_, why in report.survey.unavailable.items())
    text = "; ".join(f"{', '.join(titles)} ({why})" for why, titles in sharing.items())
    return f"Not available: {text}." if text else ""


def method_row(report: RunReport, id_: str) -> dict[str, str | int | None]:
    """One method of one run: rows used, rows missing, and the reasons."""
    missing = report.missing.get(id_, {})
    spikes = [f"{spike.count:,} at {spike.value:g}" for spike in report.spikes.get(id_, ())]
    return {
        "Method": METHODS[id_].heading,
        "Rows used": report.usable.get(id_),
        "Missing": sum(missing.values()) if id_ in report.usable else None,
        "Why": report.survey.unavailable.get(id_)
        or "; ".join(f"{count:,} {why}" for why, count in missing.items()),
        SPIKES_HEADING: ", ".join(spikes[:3]),
    }


def corrections_view(report: RunReport, max_changes: int | None = None) -> View:
    """What a table of corrections changed in one run: its numbers before and after, and the questions.

    Without corrections it has no tables. Of more than `max_changes` questions, the first are listed.
    """
    run = report.run
    if not isinstance(run, AnswerRun) or run.corrections is None:
        return View("")
    effects, changes = effects_frame(report.correction_effects), run.corrections.changes
    terms = common_terms(METHODS[effect.method].terms for effect in report.correction_effects)
    recipe = f"{run.file}, {run.label}, {run.corrections.recipe}"
    named = [column for column in CHANGE_COLUMNS if changes[column.name].null_count() < changes.height]
    shown = changes if max_changes is None else changes.head(max_changes)
    tables = [
        ViewTable(
            f"{run.label}: {run.corrections.recipe}",
            effects,
            effect_columns(terms),
            "The ECE has 10 bins of equal width." if effects.height else "",
            id="effects",
            numbers=Numbers(lambda: effects, recipe, ("corrections",)),
        ),
        ViewTable(
            "Corrected questions",
            shown,
            tuple(named),
            f"The first {shown.height:,} of {changes.height:,}." if shown.height < changes.height else "",
            id="changes",
            numbers=Numbers(lambda: changes, recipe, ("corrected-questions",)),
        ),
    ]
    return View(
        f"Corrections of {run.label}",
        headline=correction_note(run.corrections),
        tables=tuple(table for table in tables if table.frame.height),
        terms=terms,
    )


def _audit_tables(report: FileReport) -> list[ViewTable]:
    """The evaluation tool's own numbers beside ours, for every run whose file reports some."""
    tables: list[ViewTable] = []
    for run in report.runs:
        numbers = compare_reported_metrics(run.run, run.survey.usable)
        if numbers:
            rows = [_audit_row(number) for number in numbers]
            filled_columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
            rows = [{name: row[name] for name in filled_columns} for row in rows]
            tables.append(ViewTable.from_rows(f"The tool's own numbers and Calib's: {run.run.label}", rows))
    return tables


def _audit_row(number: ReportedComparison) -> dict[str, str | None]:
    """One reported number beside ours, with the headings of the page Files."""
    known = number.ours is not None
    return {
        "Number": number.reported.name,
        "Subject": number.reported.subject or None,
        "Theirs": f"{number.reported.value:.6g}",
        "Their rows": None if number.reported.n_rows is None else f"{number.reported.n_rows:,}",
        "Ours": f"{number.ours:.6g}" if known else None,
        "Our rows": f"{number.n_rows:,}" if known else None,
        "Equal": {True: "equal", False: "differs", None: NO_VALUE}[number.agrees],
        "Ours is": number.ours_description or None,
        "Why": number.reason or None,
    }


def _bad_row_tables(report: FileReport) -> list[ViewTable]:
    """A table for each kind of bad value, with the first rows of each."""
    return [
        ViewTable.from_rows(
            f"Bad: {problem.kind}, {plural(problem.count, 'row')}",
            [bad_cell_row(cell) for cell in problem.first_cells],
            f"The first {len(problem.first_cells)}." if problem.count > len(problem.first_cells) else "",
        )
        for problem in report.problems
    ]


def bad_cell_row(cell: BadCell) -> dict[str, str | int | None]:
    """Where a bad value is, and what to do about it."""
    return {
        "Row": cell.row,
        "Line": cell.line,
        "Column": cell.column or "(whole row)",
        "Expected": cell.expected,
        "Found": cell.found,
        "What to do": cell.fix,
    }
