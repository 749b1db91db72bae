"""What stands in a table of ECE and Brier, before it is HTML or LaTeX?  Rows, pairs of columns, cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import polars as pl

from calib_core.analysis.methods_table import Cell, MethodsTable
from calib_core.analysis.published import QUESTIONS, published_methods
from calib_core.confidence import METHODS
from calib_core.wording import NOTHING, number, percent

FLAG = "†"
"""Stands behind an ECE that the concentration of its confidences makes unreliable."""

_T = TypeVar("_T")

_ACROSS: Final = 6
"""More runs than this, and than methods, stand below one another: side by side they would be out of sight."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: two numbers as text, which of them are bold, the flag behind the first, what stands below."""

    ece: str
    brier: str
    best_ece: bool = False
    best_brier: bool = False
    flag: str | None = None
    below: str = ""


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Rows of methods, a pair of columns (ECE, Brier) a run; or the other way round.

    title: of the whole; columns: key → (data set, model), in order; rows: titles by id, in order; entries: by
    (column, row); notes: how the numbers were made, each a line; of_column, of_row: what holds of all numbers
    of one, by key; corner: what the rows are.
    """

    title: str
    columns: Mapping[str, tuple[str, str]]
    rows: Mapping[str, str]
    entries: Mapping[tuple[str, str], Entry]
    notes: tuple[str, ...]
    of_column: Mapping[str, str] = field(default_factory=dict[str, str])
    of_row: Mapping[str, str] = field(default_factory=dict[str, str])
    corner: str = "Method"


def runs_down(table: MethodsTable) -> bool:
    """Whether the runs are its rows, and the methods its columns."""
    return len({run for run, _ in table.cells}) > max(_ACROSS, len(table.methods))


def of_runs(table: MethodsTable, columns: Mapping[str, tuple[str, str]]) -> PairedTable:
    """A person's own table. columns: run key → (data set, model); runs without a cell are left out."""
    shown = {run: columns[run] for run in table.runs if any(of == run for of, _ in table.cells)}
    sets = list(dict.fromkeys(dataset for dataset, _ in shown.values()))
    order = sorted(shown, key=lambda run: sets.index(shown[run][0]))  # runs of one data set side by side
    counts = _shared({(run, cell.n_used) for (run, _), cell in table.cells.items()})
    judged = _shared({(method, cell.judged) for (_, method), cell in table.cells.items()})
    made = PairedTable(
        title="ECE and Brier by confidence method",
        columns={run: shown[run] for run in order},
        rows={id_: METHODS[id_].title for id_ in table.methods},
        entries={
            (run, method): _entry(cell, alike=(run in counts, method in judged))
            for (run, method), cell in table.cells.items()
        },
        notes=tuple(
            f"{' · '.join(part for part in columns[run] if part)}, {METHODS[method].title}: {cell.recipe}"
            for (run, method), cell in table.cells.items()
        ),
        of_column={run: f"n {count:,}" for run, count in counts.items()},
        of_row={method: f"{_judged(whose)} judged" for method, whose in judged.items()},
    )
    return _turned(made) if runs_down(table) else made


def _shared(found: Collection[tuple[str, _T]]) -> dict[str, _T]:
    """Key → its value, of those that have one value only."""
    times = Counter(key for key, _ in found)
    return {key: value for key, value in found if times[key] == 1}


def _turned(table: PairedTable) -> PairedTable:
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
        of_column=table.of_row, of_row=table.of_column, corner="Run",
    )


def _entry(cell: Cell, *, alike: tuple[bool, bool]) -> Entry:
    """alike: whether rows and judged answer stand at the column and at the row."""
    parts = (f"accuracy {percent(cell.accuracy)}", f"n {cell.n_used:,}", _judged(cell.judged))
    told = (True, not alike[0], not alike[1])
    return Entry(
        ece=number(cell.ece),
        brier=number(cell.brier),
        best_ece=cell.best_ece,
        best_brier=cell.best_brier,
        flag=cell.warning,
        below=", ".join(part for part, said in zip(parts, told, strict=True) if said),
    )


def _judged(judged: str) -> str:
    """"greedy", "majority", "own top label": the judged answer in the fewest words."""
    return judged.removesuffix(" answer").removeprefix("its ")


def to_frame(table: PairedTable) -> pl.DataFrame:
    """The table with one heading a column, two columns a pair, all text; * on the lowest."""
    made = {table.corner: list(table.rows.values())}
    for column, names in table.columns.items():
        name = " · ".join(part for part in names if part)
        name = name if f"{name}: ECE" not in made else f"{name} ({len(made)})"
        cells = [table.entries.get((column, method)) for method in table.rows]
        made[f"{name}: ECE"] = [
            NOTHING if cell is None else cell.ece + "*" * cell.best_ece + FLAG * bool(cell.flag)
            for cell in cells
        ]
        made[f"{name}: Brier"] = [
            NOTHING if cell is None else cell.brier + "*" * cell.best_brier for cell in cells
        ]
    return pl.DataFrame(made, schema=dict.fromkeys(made, pl.String))


def of_paper(dataset: str) -> PairedTable:
    """The self-consistency paper's table of one of its data sets, with its three decimals."""
    table = published_methods().filter(dataset=dataset)
    models = dict(table.select("model", "temperature").unique(maintain_order=True).iter_rows())
    return PairedTable(
        title=f"{dataset}, {QUESTIONS[dataset]:,} questions",
        columns={model: ("", model) for model in models},
        rows={id_: METHODS[id_].title for id_ in table["method"].unique(maintain_order=True)},
        entries={
            (model, method): Entry(ece=number(ece, ".3f"), brier=number(brier, ".3f"))
            for model, method, ece, brier in table.select("model", "method", "ece", "brier").iter_rows()
        },
        notes=tuple(f"{model}: temperature {heat:g}" for model, heat in models.items()),
    )
