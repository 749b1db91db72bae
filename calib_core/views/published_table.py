"""A paper's table and findings beside one's own runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calib_core.results.columns import Column, frame_of
from calib_core.results.published import OTHER_DATA_NOTE, PublishedComparison, PublishedTable
from calib_core.views.view import Fact, Numbers, View, ViewTable

PUBLISHED_BESIDE_TITLE = "Your runs beside the paper"

MAX_OWN_COLUMNS = 2
"""At most this many runs are columns of one table of the report; more would be cut off on paper."""


def published_view(
    comparison: PublishedComparison, page: str = "", *, max_own_columns: int = MAX_OWN_COLUMNS
) -> View:
    """The paper's tables with one's own runs as further columns, and its findings judged on them.

    Parameters
    ----------
    comparison : PublishedComparison
    page : str
        Beginning of the names of files.
    max_own_columns : int
        Number of runs in one table; more make further tables.
    """
    source = _source(comparison)
    return View(
        PUBLISHED_BESIDE_TITLE,
        tables=tuple(
            _view_table(table, runs, f"paper_table_{number}", source)
            for number, (table, runs) in enumerate(_parts(comparison.tables, max_own_columns))
        ),
        how_to_read=source,
        facts=tuple(
            Fact(f"{finding.verdict[0].upper()}{finding.verdict[1:]}", finding.sentence)
            for finding in comparison.findings
        ),
        left_out=comparison.remarks,
        name=(page, "published"),
    )


def _parts(
    tables: Sequence[PublishedTable], max_own_columns: int
) -> Iterator[tuple[PublishedTable, list[str]]]:
    """Each table with as many of its runs as fit beside the paper's columns."""
    for table in tables:
        runs = list(table.own_columns)
        for start in range(0, max(len(runs), 1), max_own_columns):
            yield table, runs[start : start + max_own_columns]


def _view_table(table: PublishedTable, runs: Sequence[str], id_: str, source: str) -> ViewTable:
    """A row for each number of the paper; each of the own runs has its value, and the difference if any."""
    kind, digits = ("share", 2) if table.in_percent else ("number", 3)
    own: list[Column] = []
    for run in runs:
        own.append(Column(f"own {run}", table.own_columns[run], kind, digits=digits))
        if table.reference:
            title = f"{table.own_columns[run]} − paper"
            own.append(Column(f"difference {run}", title, "signed", digits=digits))
    paper = [
        Column(f"paper {key}", f"{title} (paper)", kind, digits=digits)
        for key, title in table.published_columns.items()
    ]
    columns = (Column("number", "Number"), *paper, *own)
    rows = [
        {
            "number": title,
            **{f"paper {key}": table.values.get((row, key)) for key in table.published_columns},
            **{f"own {run}": table.values.get((row, run)) for run in runs},
            **{f"difference {run}": table.difference(row, run) for run in runs},
        }
        for row, title in table.rows.items()
    ]
    numbers = Numbers(table.to_frame, source, (table.title.partition(",")[0],) if table.title else ())
    return ViewTable(table.title, frame_of(columns, rows), columns, id=id_, numbers=numbers)


def _source(comparison: PublishedComparison) -> str:
    """Where the published numbers are printed, how they were made, and what findings are judged by."""
    source = f"{comparison.source}: {comparison.setting}. Findings are tested by {comparison.judged_by}."
    references = {table.reference for table in comparison.tables if table.own_columns}
    if not references:
        return source
    differences = [f"Differences are from {reference}." for reference in references if reference]
    return " ".join((source, *differences, OTHER_DATA_NOTE))
