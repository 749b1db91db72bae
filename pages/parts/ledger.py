"""What is one file, what did it give, and what is wrong with it?  The blocks of the page Files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NoReturn

import polars as pl
import streamlit as st

from calib_core.analysis.check import FileReport, RunReport
from calib_core.confidence import METHODS
from calib_core.problems import BadCell
from pages.parts import show, tables
from pages.parts.cache import File
from pages.parts.literal import literal
from pages.parts.runs import slug


def nothing_here() -> NoReturn:
    """An empty folder: what to put there."""
    tables.no_runs(())
    st.stop()


def summary(files: Sequence[File], loaded: Collection[str]) -> None:
    """One line a file."""
    rows = [
        {
            "File": file.name,
            "Recognised as": file.report.format if file.report else "–",
            "State": state(file, loaded),
            "Rows": file.report.rows if file.report else None,
            "Bad rows": file.report.bad_rows if file.report else None,
            "Runs": len(file.report.runs) if file.report else None,
        }
        for file in files
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.plain(frame, key="files", alt=f"{len(files)} files in the data folder")


def state(file: File, loaded: Collection[str]) -> str:
    """In a word or three."""
    if file.name in loaded:
        return "loaded, good rows only" if file.report and file.report.bad_rows else "loaded"
    return "bad rows: your decision" if file.report and file.report.status == "asks" else "refused"


def one_file(file: File, good: Sequence[str], *, open_: bool) -> None:
    """Everything known of one file."""
    with st.expander(literal(file.name), expanded=open_):
        if file.report is None or file.report.status == "refused":
            st.error(literal_lines(file.refusal or ""), icon=":material/block:")
            return
        if file.report.status == "asks":
            _decision(file, file.report, good)
        for report in file.report.runs:
            _run(report, several=len(file.report.runs) > 1)
        if file.report.groups:
            st.caption(f"Columns that make groups: {literal(', '.join(file.report.groups))}.")
        if file.report.unused:
            st.caption(f"Columns not read: {literal(', '.join(file.report.unused))}.")


def literal_lines(text: str) -> str:
    """Text shown as it is, its line breaks kept."""
    return "  \n".join(literal(line) for line in text.splitlines())


def _decision(file: File, report: FileReport, good: Sequence[str]) -> None:
    """The bad rows, and the button that leaves them out."""
    id_ = slug(file.name)
    count = f"{report.bad_rows:,} of {report.rows:,} rows"
    if id_ in good:
        st.info(f"{count} are bad and left out of every number.", icon=":material/rule:")
        st.button("Do not load this file", key=f"drop_{id_}", on_click=choose_good, args=(id_, good, False))
    else:
        st.warning(
            f"{count} are bad. Nothing of this file is loaded until you decide.", icon=":material/rule:"
        )
        st.button(
            "Load the good rows only",
            key=f"load_{id_}",
            type="primary",
            on_click=choose_good,
            args=(id_, good, True),
        )
    for number, problem in enumerate(report.problems):
        first = f", the first {len(problem.first)}" if problem.count > len(problem.first) else ""
        st.markdown(f"**{literal(problem.kind)}**: {_rows(problem.count)}{first}")
        tables.plain(
            pl.DataFrame([_place(cell) for cell in problem.first], infer_schema_length=None),
            key=f"problem_{id_}_{number}",
            alt=f"{problem.count} rows: {problem.kind}",
        )


def choose_good(id_: str, good: Sequence[str], load: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    """Puts the decision into the address, so that a link to a page holds it."""
    chosen = sorted({*good, id_} if load else {*good} - {id_})
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


def _run(report: RunReport, *, several: bool) -> None:
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
    tables.plain(
        pl.DataFrame(rows, infer_schema_length=None),
        key=f"methods_{slug(run.file)}_{slug(run.label)}",
        alt=f"Methods of {run.label}: {len(report.usable)} usable, {len(report.survey.refused)} not",
    )
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
        "Many rows at one value": ", ".join(spikes[:3]),
    }
