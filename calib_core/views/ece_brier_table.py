"""Tables of ECE and Brier score by confidence method, before they become HTML or LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from calib_core.methods import METHODS
from calib_core.results.methods_table import MethodsCell, MethodsTable
from calib_core.results.published import METHODS_SOURCE, N_QUESTIONS, published_methods
from calib_core.terms import common_terms
from calib_core.views.view import FEW_BINS_MARK, EceBrierBlock, EceBrierCell, EceBrierTable
from calib_core.wording import NO_VALUE, format_number

_MAX_SIDE_BY_SIDE: Final = 6
"""More runs than this, and more than methods, become rows: as columns they would not fit the page."""


def runs_as_rows(table: MethodsTable) -> bool:
    """Whether runs are the rows and methods the columns: some data set has too many runs for columns."""
    n_runs = Counter(table.datasets[run] for run in table.runs_with_cells)
    return max(n_runs.values(), default=0) > max(_MAX_SIDE_BY_SIDE, len(table.methods))


def ece_brier_table(table: MethodsTable, names: Mapping[str, str]) -> EceBrierTable:
    """Build the table of the user's own runs, a block for each data set.

    Parameters
    ----------
    table : MethodsTable
        ECE and Brier score of each run and method.
    names : Mapping[str, str]
        Run key → name of the run within its data set. Runs of one name stand in the same order in each block.
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(names[run] for run in table.runs))}
    by_dataset: dict[str | None, list[str]] = {}
    for run in sorted(table.runs_with_cells, key=lambda run: places[names[run]]):
        by_dataset.setdefault(table.datasets[run], []).append(run)
    blocks = [
        _block(table, dataset or "", {run: names[run] for run in by_dataset[dataset]})
        for dataset in dict.fromkeys(table.datasets[run] for run in table.runs)
        if dataset in by_dataset
    ]
    is_transposed = runs_as_rows(table)
    return EceBrierTable(
        title="ECE and Brier by method",
        blocks=tuple(_transposed(block) if is_transposed else block for block in blocks),
        notes=tuple(
            f"{' · '.join(filter(None, (table.datasets[run], names[run])))}, {METHODS[method].title}: "
            f"{cell.recipe}"
            for (run, method), cell in table.cells.items()
        ),
        row_heading="Run" if is_transposed else "Method",
    )


def _block(table: MethodsTable, dataset: str, names: Mapping[str, str]) -> EceBrierBlock:
    """The runs of one data set, by methods."""
    cells = {key: cell for key, cell in table.cells.items() if key[0] in names}
    by_run: dict[str, list[MethodsCell]] = {run: [] for run in names}
    for (run, _), cell in cells.items():
        by_run[run].append(cell)
    return EceBrierBlock(
        title=dataset,
        columns=names,
        rows={id_: METHODS[id_].heading for id_ in table.methods_of(names)},
        cells={
            (run, method): EceBrierCell(
                ece=format_number(cell.ece),
                brier=format_number(cell.brier),
                best_ece=cell.best_ece,
                best_brier=cell.best_brier,
                warning=cell.warning,
            )
            for (run, method), cell in cells.items()
        },
        column_notes={run: _rows_and_accuracy(of_run) for run, of_run in by_run.items()},
    )


def _rows_and_accuracy(cells: Sequence[MethodsCell]) -> tuple[str, ...]:
    """How many rows the methods of a run use, and how accurate the answers are that they judge."""
    n_used = sorted({cell.n_used for cell in cells})
    accuracies = sorted({format_number(100 * (cell.accuracy or 0.0), ".1f") for cell in cells}, key=float)
    ends = [f"{n_used[0]:,}", f"{n_used[-1]:,}"]
    right = common_terms(METHODS[cell.method].terms for cell in cells).right
    return (
        f"n {'–'.join(dict.fromkeys(ends))}",
        f"{'–'.join(dict.fromkeys((accuracies[0], accuracies[-1])))} % {right}",
    )


def _transposed(block: EceBrierBlock) -> EceBrierBlock:
    """Swap rows and columns, so that runs become rows."""
    return EceBrierBlock(
        block.title,
        columns=block.rows,
        rows=block.columns,
        cells={(row, column): cell for (column, row), cell in block.cells.items()},
        row_notes={run: (", ".join(notes),) for run, notes in block.column_notes.items()},
    )


def ece_brier_frame(table: EceBrierTable) -> pl.DataFrame:
    """The table as a data frame, for export.

    Returns
    -------
    pl.DataFrame
        A text column for the data set where there are several, one for the row titles, then two for each
        column of the table. The lowest numbers end in "*", unreliable ECEs in FEW_BINS_MARK.
    """
    several = len(table.blocks) > 1
    frames = [_block_frame(block, table.row_heading, with_title=several) for block in table.blocks]
    if not frames:
        return pl.DataFrame(schema={table.row_heading: pl.String})
    return pl.concat(frames, how="diagonal").fill_null(NO_VALUE)


def _block_frame(block: EceBrierBlock, row_heading: str, *, with_title: bool) -> pl.DataFrame:
    """One block of `ece_brier_frame`."""
    columns = {"Data set": [block.title] * len(block.rows)} if with_title else {}
    columns[row_heading] = list(block.rows.values())
    for column, name in block.columns.items():
        unique = name if f"{name}: ECE" not in columns else f"{name} ({len(columns)})"
        cells = [block.cells.get((column, row)) for row in block.rows]
        columns[f"{unique}: ECE"] = [
            NO_VALUE if cell is None else cell.ece + "*" * cell.best_ece + FEW_BINS_MARK * bool(cell.warning)
            for cell in cells
        ]
        columns[f"{unique}: Brier"] = [
            NO_VALUE if cell is None else cell.brier + "*" * cell.best_brier for cell in cells
        ]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def published_ece_brier_table() -> EceBrierTable:
    """The published table, a block for each data set, with the three decimals it was published with."""
    table = published_methods()
    models = dict(table.select("model", "temperature").unique(maintain_order=True).iter_rows())
    blocks = tuple(
        EceBrierBlock(
            title=f"{dataset}, {n_questions:,} questions",
            columns={model: model for model in models},
            rows={id_: METHODS[id_].heading for id_ in table["method"].unique(maintain_order=True)},
            cells={
                (model, method): EceBrierCell(
                    ece=format_number(ece, ".3f"), brier=format_number(brier, ".3f")
                )
                for model, method, ece, brier in table.filter(dataset=dataset)
                .select("model", "method", "ece", "brier")
                .iter_rows()
            },
        )
        for dataset, n_questions in N_QUESTIONS.items()
    )
    notes = tuple(f"{model}: temperature {temperature:g}" for model, temperature in models.items())
    return EceBrierTable(METHODS_SOURCE, blocks, notes, id="published_methods")
