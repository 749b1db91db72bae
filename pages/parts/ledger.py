"""What is one file, what did it give, and what is wrong with it?  The blocks of the page Files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

import polars as pl
import streamlit as st

from calib_core.analysis.check import FileReport, RunReport
from calib_core.confidence import METHODS
from calib_core.files import FORMATS
from calib_core.problems import BadCell, shorten
from pages.parts import audit, converting, keeping, rereading, show, tables, uploading
from pages.parts.cache import File
from pages.parts.literal import literal
from pages.parts.runs import Run, file_id

SPIKES: Final = "Many rows at one value"
FOLDED: Final = 4
"""Lines of a refusal shown at once; of a longer one, those on methods other than the plainest are folded."""


def nothing_here() -> NoReturn:
    """An empty folder: what to put there."""
    tables.no_runs(())
    st.stop()


def one_file(file: File, key: str, files: Sequence[File], good: Sequence[str], *, open_: bool) -> None:
    """Everything known of one file."""
    mark = " · uploaded" if file.uploaded else ""
    with st.expander(f"{literal(file.name)}{mark}", expanded=open_):
        _recognised(file)
        if file.refusal is not None or file.report is None:
            _refused(file.refusal or "")
        else:
            _loaded(file, file.report, key, good)
        rereading.wanted(file, files, key)
        if file.uploaded:
            uploading.remove(file, key)


def _refused(message: str) -> None:
    """Why it is not loaded; where every method has a reason of its own, all but the first folded below."""
    lines = message.splitlines()
    reasons = [line for line in lines if line.startswith("- ")][1:] if len(lines) > FOLDED else []
    st.error(
        literal_lines("\n".join(line for line in lines if line not in reasons)), icon=":material/block:"
    )
    if reasons:
        with st.expander(f"What the other confidence methods would need ({len(reasons)})"):
            st.caption(literal_lines("\n".join(line.removeprefix("- ") for line in reasons)))


def _recognised(file: File) -> None:
    """What it was taken for, and by which signs."""
    if file.report is None:
        return
    made = FORMATS[file.report.format]
    why = "because you say so" if file.wish.format else f"because it has {literal(made.marks)}"
    st.caption(f"Recognised as **{literal(made.title)}** {why}.")


def _loaded(file: File, report: FileReport, key: str, good: Sequence[str]) -> None:
    """What a file that can be used gives, and what of it is not."""
    if report.status == "asks":
        _decision(file, report, key, good)
    for number, run in enumerate(report.runs):
        one_run(run, f"{key}_{number}", several=len(report.runs) > 1)
    told = {note for run in report.runs for note in run.run.ledger.notes}
    show.remarks(*(note for note in report.notes if note not in told))
    if report.groups:
        st.caption(f"Columns that make groups: {literal(', '.join(report.groups))}.")
    if report.unused:
        st.caption(f"Columns not read: {_few(report.unused)}.")
    converting.offer(file, report, key, good)


def _few(names: Sequence[str], most: int = 40) -> str:
    shown = literal(", ".join(shorten(name, 60) for name in names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def literal_lines(text: str) -> str:
    """Text shown as it is, its line breaks kept."""
    return "  \n".join(literal(line) for line in text.splitlines())


def _decision(file: File, report: FileReport, key: str, good: Sequence[str]) -> None:
    """The bad rows, and the button that leaves them out."""
    id_ = file_id(file)
    count = f"{report.bad_rows:,} of {report.rows:,} rows"
    if id_ in good:
        st.info(f"{count} are bad and left out of every number.", icon=":material/rule:")
        st.button("Do not load this file", key=f"drop_{key}", on_click=choose_good, args=(id_, good, key))
    else:
        st.warning(
            f"{count} are bad. Nothing of this file is loaded until you decide.", icon=":material/rule:"
        )
        st.button(
            "Load the good rows only",
            key=f"load_{key}",
            type="primary",
            on_click=choose_good,
            args=(id_, good, key),
        )
    for number, problem in enumerate(report.problems):
        first = f", the first {len(problem.first)}" if problem.count > len(problem.first) else ""
        st.markdown(f"**{literal(problem.kind)}**: {_rows(problem.count)}{first}")
        tables.plain(
            pl.DataFrame([_place(cell) for cell in problem.first], infer_schema_length=None),
            key=f"problem_{key}_{number}",
            alt=f"{problem.count} rows: {problem.kind}",
        )


def choose_good(id_: str, good: Sequence[str], key: str) -> None:
    """Puts the decision, or the other one, into the address, so that a link to a page holds it."""
    keeping.decided(key)
    chosen = sorted({*good} ^ {id_})
    if chosen:
        st.query_params["good"] = ",".join(chosen)
    else:
        st.query_params.pop("good", None)


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _place(cell: BadCell) -> dict[str, str | int | None]:
    return {
        "Row": cell.row,
        "Line": cell.line,
        "Column": cell.column or "(whole row)",
        "Expected": cell.expected,
        "Found": cell.found,
        "What to do": cell.fix,
    }


def wholes(runs: Sequence[Run]) -> None:
    """The runs that several files are parts of."""
    for run in runs:
        if len(run.parts) > 1:
            with st.expander(f"{literal(run.title)}: one run of {len(run.parts):,} files", expanded=True):
                one_run(run.report, f"whole_{run.id}", several=False)


def one_run(report: RunReport, key: str, *, several: bool) -> None:
    """What one run can give, method by method."""
    run = report.run
    if several:
        st.markdown(f"**{literal(run.label)}**")
    facts = [f"{_rows(run.ledger.read)} read"]
    if run.ledger.left_out:
        facts.append(f"{run.ledger.left_out:,} bad")
    facts += [
        f"{count:,} values of {column} clipped onto [0, 1]" for column, count in run.ledger.clipped.items()
    ]
    if run.ledger.off_sum:
        facts.append(f"{run.ledger.off_sum:,} distributions do not sum to 1 exactly and are used as stored")
    if report.accuracy is not None:
        facts.append(f"accuracy of the greedy answer {show.percent(report.accuracy)}")
    st.caption(literal("; ".join(facts) + "."))
    rows = [_method_row(report, id_) for id_ in (*report.survey.usable, *report.survey.refused)]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.plain(
        frame if any(report.spikes.values()) else frame.drop(SPIKES),
        key=f"methods_{key}",
        alt=f"Methods of {run.label}: {len(report.usable)} usable, {len(report.survey.refused)} not",
    )
    audit.reported(report, key)
    show.remarks(*run.ledger.notes)


def _method_row(report: RunReport, id_: str) -> dict[str, str | int | None]:
    missing = report.missing.get(id_, {})
    spikes = [f"{spike.count:,} at {spike.value:g}" for spike in report.spikes.get(id_, ())]
    return {
        "Method": METHODS[id_].title,
        "Used": report.usable.get(id_),
        "Missing": sum(missing.values()) if id_ in report.usable else None,
        "Why": report.survey.refused.get(id_)
        or "; ".join(f"{count:,} {why}" for why, count in missing.items()),
        SPIKES: ", ".join(spikes[:3]),
    }
