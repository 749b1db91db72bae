"""What stands in a table of ECE and Brier, before it is HTML or LaTeX?  Rows, pairs of columns, cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import polars as pl

from calib_core.methods import METHODS
from calib_core.results.methods_table import MethodsCell, MethodsTable
from calib_core.results.published import N_QUESTIONS, published_methods
from calib_core.wording import NO_VALUE, format_number, format_percent

FEW_BINS_MARK = "†"
"""Stands behind an ECE that the concentration of its confidences makes unreliable."""

_T = TypeVar("_T")

_MAX_SIDE_BY_SIDE: Final = 6
"""More runs than this, and than methods, stand below one another: side by side they would be out of sight."""


@dataclass(frozen=True, slots=True)
class EceBrierCell:
    """One cell: two numbers as text, which of them are bold, the flag behind the first, what stands below."""

    ece: str
    brier: str
    best_ece: bool = False
    best_brier: bool = False
    warning: str | None = None
    small_print: str = ""


@dataclass(frozen=True, slots=True)
class EceBrierTable:
    """Rows of methods, a pair of columns (ECE, Brier) a run; or the other way round.

    title: of the whole; columns: key → (data set, model), in order; rows: titles by id, in order; entries: by
    (column, row); notes: how the numbers were made, each a line; of_column, of_row: what holds of all numbers
    of one, by key; corner: what the rows are.
    """

    title: str
    columns: Mapping[str, tuple[str, str]]
    rows: Mapping[str, str]
    entries: Mapping[tuple[str, str], EceBrierCell]
    notes: tuple[str, ...]
    column_notes: Mapping[str, str] = field(default_factory=dict[str, str])
    row_notes: Mapping[str, str] = field(default_factory=dict[str, str])
    row_heading: str = "Method"


def runs_as_rows(table: MethodsTable) -> bool:
    """Whether the runs are its rows, and the methods its columns."""
    return len({run for run, _ in table.cells}) > max(_MAX_SIDE_BY_SIDE, len(table.methods))


def ece_brier_table(table: MethodsTable, columns: Mapping[str, tuple[str, str]]) -> EceBrierTable:
    """A person's own table. columns: run key → (data set, model); runs without a cell are left out."""
    shown = {run: columns[run] for run in table.runs if any(of == run for of, _ in table.cells)}
    sets = list(dict.fromkeys(dataset for dataset, _ in shown.values()))
    order = sorted(shown, key=lambda run: sets.index(shown[run][0]))  # runs of one data set side by side
    counts = _single_valued({(run, cell.n_used) for (run, _), cell in table.cells.items()})
    judged = _single_valued({(method, cell.judged) for (_, method), cell in table.cells.items()})
    made = EceBrierTable(
        title="ECE and Brier by confidence method",
        columns={run: shown[run] for run in order},
        rows={id_: METHODS[id_].title for id_ in table.methods},
        entries={
            (run, method): _table_cell(cell, shared=(run in counts, method in judged))
            for (run, method), cell in table.cells.items()
        },
        notes=tuple(
            f"{' · '.join(part for part in columns[run] if part)}, {METHODS[method].title}: {cell.recipe}"
            for (run, method), cell in table.cells.items()
        ),
        column_notes={run: f"n {count:,}" for run, count in counts.items()},
        row_notes={method: f"{_short_judged(whose)} judged" for method, whose in judged.items()},
    )
    return _transposed(made) if runs_as_rows(table) else made


def _single_valued(found: Collection[tuple[str, _T]]) -> dict[str, _T]:
    """Key → its value, of those that have one value only."""
    times = Counter(key for key, _ in found)
    return {key: value for key, value in found if times[key] == 1}


def _transposed(table: EceBrierTable) -> EceBrierTable:
    """A row a run, and a pair of columns a method."""
    several = len({dataset for dataset, _ in table.columns.values()}) > 1
    return replace(
        table,
        columns={id_: ("", title) for id_, title in table.rows.items()},
        rows={
            run: " · ".join(part for part in names if part) if several else names[1]
            for run, names in table.columns.items()
        },
        entries={(row, column): entry for (column, row), entry in table.entries.items()},
        column_notes=table.row_notes,
        row_notes=table.column_notes,
        row_heading="Run",
    )


def _table_cell(cell: MethodsCell, *, shared: tuple[bool, bool]) -> EceBrierCell:
    """alike: whether rows and judged answer stand at the column and at the row."""
    parts = (f"accuracy {format_percent(cell.accuracy)}", f"n {cell.n_used:,}", _short_judged(cell.judged))
    told = (True, not shared[0], not shared[1])
    return EceBrierCell(
        ece=format_number(cell.ece),
        brier=format_number(cell.brier),
        best_ece=cell.best_ece,
        best_brier=cell.best_brier,
        warning=cell.warning,
        small_print=", ".join(part for part, said in zip(parts, told, strict=True) if said),
    )


def _short_judged(judged: str) -> str:
    """ "greedy", "majority", "own top label": the judged answer in the fewest words."""
    return judged.removesuffix(" answer").removeprefix("its ")


def ece_brier_frame(table: EceBrierTable) -> pl.DataFrame:
    """The table with one heading a column, two columns a pair, all text; * on the lowest."""
    made = {table.row_heading: list(table.rows.values())}
    for column, names in table.columns.items():
        name = " · ".join(part for part in names if part)
        name = name if f"{name}: ECE" not in made else f"{name} ({len(made)})"
        cells = [table.entries.get((column, method)) for method in table.rows]
        made[f"{name}: ECE"] = [
            NO_VALUE if cell is None else cell.ece + "*" * cell.best_ece + FEW_BINS_MARK * bool(cell.warning)
            for cell in cells
        ]
        made[f"{name}: Brier"] = [
            NO_VALUE if cell is None else cell.brier + "*" * cell.best_brier for cell in cells
        ]
    return pl.DataFrame(made, schema=dict.fromkeys(made, pl.String))


def published_ece_brier_table(dataset: str) -> EceBrierTable:
    """The self-consistency paper's table of one of its data sets, with its three decimals."""
    table = published_methods().filter(dataset=dataset)
    models = dict(table.select("model", "temperature").unique(maintain_order=True).iter_rows())
    return EceBrierTable(
        title=f"{dataset}, {N_QUESTIONS[dataset]:,} questions",
        columns={model: ("", model) for model in models},
        rows={id_: METHODS[id_].title for id_ in table["method"].unique(maintain_order=True)},
        entries={
            (model, method): EceBrierCell(ece=format_number(ece, ".3f"), brier=format_number(brier, ".3f"))
            for model, method, ece, brier in table.select("model", "method", "ece", "brier").iter_rows()
        },
        notes=tuple(f"{model}: temperature {heat:g}" for model, heat in models.items()),
    )
