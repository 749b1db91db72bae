"""A paper's table beside one's own runs, before it becomes a table of the page or of the report."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.results.published import OTHER_DATA_NOTE, PublishedComparison
from calib_core.views.view import View, ViewTable
from calib_core.wording import NO_VALUE, format_number

PUBLISHED_BESIDE_TITLE = "Your runs beside the paper"

MAX_OWN_COLUMNS = 2
"""At most this many runs are columns of one table of the report; more would be cut off on paper."""


def published_rows(
    comparison: PublishedComparison, runs: Sequence[str] | None = None
) -> list[dict[str, object]]:
    """One row for each number of the paper; each own run has its value and the difference.

    Parameters
    ----------
    comparison : PublishedComparison
    runs : sequence of str, optional
        Keys of the own runs shown; all where omitted.
    """
    own = {key: title for key, title in comparison.own_columns.items() if runs is None or key in runs}
    return [
        {
            "Number": title,
            **{
                f"{name} (paper)": _text(comparison, row, key)
                for key, name in comparison.published_columns.items()
            },
            **{
                column: text
                for key, name in own.items()
                for column, text in (
                    (name, _text(comparison, row, key)),
                    (f"{name}, difference", _difference_text(comparison, row, key)),
                )
            },
        }
        for row, title in comparison.rows.items()
    ]


def _text(comparison: PublishedComparison, row: str, column: str) -> str:
    value = comparison.values.get((row, column))
    if comparison.in_percent:
        return NO_VALUE if value is None else f"{100 * value:.2f} %"
    return format_number(value, ".3f")


def _difference_text(comparison: PublishedComparison, row: str, run: str) -> str:
    difference = comparison.difference(row, run)
    if comparison.in_percent:
        return NO_VALUE if difference is None else f"{format_number(100 * difference, '+.2f')} pp"
    return format_number(difference, "+.3f")


def published_source(comparison: PublishedComparison) -> str:
    """Where the published numbers are printed, how they were made, and what findings are judged by."""
    source = f"{comparison.source}: {comparison.setting}. Findings are tested by {comparison.judged_by}."
    if not comparison.own_columns:
        return source
    return f"{source} Differences are from {comparison.reference}. {OTHER_DATA_NOTE}"


def published_view(comparison: PublishedComparison) -> View:
    """The paper's table and findings beside the runs of a report."""
    runs = list(comparison.own_columns)
    parts = [runs[start : start + MAX_OWN_COLUMNS] for start in range(0, len(runs), MAX_OWN_COLUMNS)] or [[]]
    tables = [ViewTable.from_rows("", published_rows(comparison, part)) for part in parts]
    return View(
        PUBLISHED_BESIDE_TITLE,
        tables=tuple(tables) if comparison.rows else (),
        captions=(
            *(finding.sentence for finding in comparison.findings),
            published_source(comparison),
        ),
        remarks=comparison.remarks,
    )
