"""A paper's table and findings beside one's own runs."""

from __future__ import annotations

from calib_core.results.columns import Column, frame_of
from calib_core.results.published import OTHER_DATA_NOTE, PublishedComparison
from calib_core.views.view import Fact, Numbers, View, ViewTable

PUBLISHED_BESIDE_TITLE = "Your runs beside the paper"

MAX_OWN_COLUMNS = 2
"""At most this many runs are columns of one table of the report; more would be cut off on paper."""


def published_view(
    comparison: PublishedComparison, page: str = "", *, max_own_columns: int = MAX_OWN_COLUMNS
) -> View:
    """The paper's table with one's own runs as further columns, and its findings judged on them.

    Parameters
    ----------
    comparison : PublishedComparison
    page : str
        Beginning of the names of files.
    max_own_columns : int
        Number of runs in one table; more make further tables.
    """
    runs = list(comparison.own_columns)
    parts = [runs[start : start + max_own_columns] for start in range(0, len(runs), max_own_columns)] or [[]]
    return View(
        PUBLISHED_BESIDE_TITLE,
        tables=tuple(_table(comparison, part) for part in parts) if comparison.rows else (),
        how_to_read=_source(comparison),
        facts=tuple(
            Fact(f"{finding.verdict[0].upper()}{finding.verdict[1:]}", finding.sentence)
            for finding in comparison.findings
        ),
        left_out=comparison.remarks,
        name=(page, "published"),
    )


def _table(comparison: PublishedComparison, runs: list[str]) -> ViewTable:
    """A row for each number of the paper; each of the own runs has its value and the difference."""
    in_percent = comparison.in_percent
    kind, digits = ("share", 2) if in_percent else ("number", 3)
    columns = [Column("number", "Number")]
    columns += [
        Column(f"paper {key}", f"{title} (paper)", kind, digits=digits)
        for key, title in comparison.published_columns.items()
    ]
    for run in runs:
        title = comparison.own_columns[run]
        columns += [
            Column(f"own {run}", title, kind, digits=digits),
            Column(
                f"difference {run}",
                f"{title}, difference{' (pp)' if in_percent else ''}",
                "signed",
                digits=digits,
            ),
        ]
    rows: list[dict[str, object]] = []
    for row, title in comparison.rows.items():
        cells: dict[str, object] = {"number": title}
        cells |= {f"paper {key}": comparison.values.get((row, key)) for key in comparison.published_columns}
        for run in runs:
            difference = comparison.difference(row, run)
            cells[f"own {run}"] = comparison.values.get((row, run))
            cells[f"difference {run}"] = difference and (100 if in_percent else 1) * difference
        rows.append(cells)
    numbers = Numbers(comparison.to_frame, _source(comparison))
    return ViewTable("", frame_of(columns, rows), tuple(columns), id="paper_table", numbers=numbers)


def _source(comparison: PublishedComparison) -> str:
    """Where the published numbers are printed, how they were made, and what findings are judged by."""
    source = f"{comparison.source}: {comparison.setting}. Findings are tested by {comparison.judged_by}."
    if not comparison.own_columns:
        return source
    return f"{source} Differences are from {comparison.reference}. {OTHER_DATA_NOTE}"
