"""Tables of ECE and Brier score by confidence method, before they become HTML or LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, TypeVar

import polars as pl

from calib_core.methods import METHODS
from calib_core.results.methods_table import MethodsCell, MethodsTable
from calib_core.results.published import N_QUESTIONS, published_methods
from calib_core.views.view import FEW_BINS_MARK, EceBrierCell, EceBrierTable
from calib_core.wording import NO_VALUE, definite, format_number, format_percent

_T = TypeVar("_T")

_MAX_SIDE_BY_SIDE: Final = 6
"""More runs than this, and more than methods, become rows: as columns they would not fit the page."""


def runs_as_rows(table: MethodsTable) -> bool:
    """Whether runs are the rows and methods the columns of the table."""
    return len({run for run, _ in table.cells}) > max(_MAX_SIDE_BY_SIDE, len(table.methods))


def ece_brier_table(table: MethodsTable, columns: Mapping[str, tuple[str, str]]) -> EceBrierTable:
    """Builds the table of the user's own runs.

    Parameters
    ----------
    table : MethodsTable
        ECE and Brier score of each run and method.
    columns : Mapping[str, tuple[str, str]]
        Run key → (data set, model). Runs without a cell are left out.
    """
    shown = {run: columns[run] for run in table.runs if any(cell_run == run for cell_run, _ in table.cells)}
    datasets = list(dict.fromkeys(dataset for dataset, _ in shown.values()))
    order = sorted(shown, key=lambda run: datasets.index(shown[run][0]))  # runs of one data set side by side
    counts = _single_valued({(run, cell.n_used) for (run, _), cell in table.cells.items()})
    judged = _single_valued({(method, cell.judged) for (_, method), cell in table.cells.items()})
    result = EceBrierTable(
        title="ECE and Brier by confidence method",
        columns={run: shown[run] for run in order},
        rows={id_: METHODS[id_].title for id_ in table.methods},
        cells={
            (run, method): _table_cell(cell, shared=(run in counts, method in judged))
            for (run, method), cell in table.cells.items()
        },
        notes=tuple(
            f"{' · '.join(part for part in columns[run] if part)}, {METHODS[method].title}: {cell.recipe}"
            for (run, method), cell in table.cells.items()
        ),
        column_notes={run: f"n {count:,}" for run, count in counts.items()},
        row_notes={method: f"scored on {definite(answer)}" for method, answer in judged.items()},
    )
    return _transposed(result) if runs_as_rows(table) else result


def _single_valued(pairs: Collection[tuple[str, _T]]) -> dict[str, _T]:
    """The keys that occur with one value only, and that value."""
    counts = Counter(key for key, _ in pairs)
    return {key: value for key, value in pairs if counts[key] == 1}


def _transposed(table: EceBrierTable) -> EceBrierTable:
    """Swaps rows and columns, so that runs become rows."""
    several_datasets = len({dataset for dataset, _ in table.columns.values()}) > 1
    return replace(
        table,
        columns={id_: ("", title) for id_, title in table.rows.items()},
        rows={
            run: " · ".join(part for part in names if part) if several_datasets else names[1]
            for run, names in table.columns.items()
        },
        cells={(row, column): cell for (column, row), cell in table.cells.items()},
        column_notes=table.row_notes,
        row_notes=table.column_notes,
        row_heading="Run",
    )


def _table_cell(cell: MethodsCell, *, shared: tuple[bool, bool]) -> EceBrierCell:
    """One cell; `shared` says whether n is noted at the column, and the judged answer at the row."""
    parts = (f"accuracy {format_percent(cell.accuracy)}", f"n {cell.n_used:,}", _short_judged(cell.judged))
    shown = (True, not shared[0], not shared[1])
    return EceBrierCell(
        ece=format_number(cell.ece),
        brier=format_number(cell.brier),
        best_ece=cell.best_ece,
        best_brier=cell.best_brier,
        warning=cell.warning,
        small_print=", ".join(part for part, is_shown in zip(parts, shown, strict=True) if is_shown),
    )


def _short_judged(judged: str) -> str:
    """The judged answer in short, such as "greedy", "majority" or "own top label"."""
    return judged.removesuffix(" answer").removeprefix("its ")


def ece_brier_frame(table: EceBrierTable) -> pl.DataFrame:
    """The table as a data frame, for export.

    Returns
    -------
    pl.DataFrame
        One text column for the row titles, then two for each column of the table. The lowest numbers end
        in "*", unreliable ECEs in FEW_BINS_MARK.
    """
    columns = {table.row_heading: list(table.rows.values())}
    for column, names in table.columns.items():
        name = " · ".join(part for part in names if part)
        name = name if f"{name}: ECE" not in columns else f"{name} ({len(columns)})"
        cells = [table.cells.get((column, method)) for method in table.rows]
        columns[f"{name}: ECE"] = [
            NO_VALUE if cell is None else cell.ece + "*" * cell.best_ece + FEW_BINS_MARK * bool(cell.warning)
            for cell in cells
        ]
        columns[f"{name}: Brier"] = [
            NO_VALUE if cell is None else cell.brier + "*" * cell.best_brier for cell in cells
        ]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def published_ece_brier_table(dataset: str) -> EceBrierTable:
    """The published table of one data set, with the three decimals it was published with.

    Parameters
    ----------
    dataset : str
        A key of N_QUESTIONS.
    """
    table = published_methods().filter(dataset=dataset)
    models = dict(table.select("model", "temperature").unique(maintain_order=True).iter_rows())
    return EceBrierTable(
        title=f"{dataset}, {N_QUESTIONS[dataset]:,} questions",
        columns={model: ("", model) for model in models},
        rows={id_: METHODS[id_].title for id_ in table["method"].unique(maintain_order=True)},
        cells={
            (model, method): EceBrierCell(ece=format_number(ece, ".3f"), brier=format_number(brier, ".3f"))
            for model, method, ece, brier in table.select("model", "method", "ece", "brier").iter_rows()
        },
        notes=tuple(f"{model}: temperature {temperature:g}" for model, temperature in models.items()),
    )
