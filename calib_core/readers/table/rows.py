"""Do the parts of one row agree: lists one entry a choice, one entry a sample, and a span within its path?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN, BadCell, Problem
from calib_core.readers.table.cells import (
    OUT_OF_RANGE,
    CellFault,
    JudgedColumn,
    RowPositions,
    faults_where,
    no_positions,
    parse_numbers,
    value_text,
)
from calib_core.readers.table.columns import COLUMN_JUDGES, PROBABILITY_COLUMNS, SINGLE_TEXT_COLUMNS
from calib_core.readers.table.raw import Slice
from calib_core.runs import RUN_COLUMNS

# MERGED scales: Is a whole column written on another scale: percentages where probabilities are meant?
#
# One such value is a slip, and its row is bad. Where most are above 1, leaving those rows out would
# keep the lowest percentages and take them for probabilities.


@dataclass(slots=True)
class PercentCheck:
    """The numbers met so far in a column of probabilities: how many in all, above 1, above 100.

    example: the first of them that is out of range, as it stands.
    """

    n_numbers: int = 0
    n_above_one: int = 0
    n_above_hundred: int = 0
    example: str = ""

    def add_slice(self, raw: pl.Series, judged: JudgedColumn) -> None:
        """Takes one slice of the column."""
        self.n_numbers += judged.values.len() - judged.values.null_count()
        for fault in judged.faults:
            if fault.kind == OUT_OF_RANGE:
                far, _ = parse_numbers(raw.gather(fault.positions))
                self.n_numbers += far.len()
                self.n_above_one += int((far > 1).sum())
                self.n_above_hundred += int((far > 100).sum())
                self.example = self.example or fault.examples[0]

    @property
    def looks_like_percentages(self) -> bool:
        """Whether most numbers are above 1, and none above 100."""
        return 2 * self.n_above_one > self.n_numbers and not self.n_above_hundred


# MERGED collect: How do judged slices become one frame, one list of bad rows and one list of problems?


class RowCollector:
    """Everything learnt of a file's records so far.

    file: as messages call it; source: contract name → the file's column it is read from; rows: records
    so far, bad ones included.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.source: dict[str, str] = {}
        self.rows = 0
        self._parts: dict[str, list[pl.Series]] = {}
        self._lines: list[pl.Series] = []
        self._bad: defaultdict[str, list[RowPositions]] = defaultdict(list)
        self._cells: defaultdict[str, list[BadCell]] = defaultdict(list)
        self._adrift: list[RowPositions] = []
        self._clipped: defaultdict[str, list[RowPositions]] = defaultdict(list)
        self._off_sum: list[RowPositions] = []
        self._unread: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        self._scales: defaultdict[str, PercentCheck] = defaultdict(PercentCheck)

    def add(
        self, part: Slice, roles: Mapping[str, str], judged_columns: Mapping[str, JudgedColumn] | None = None
    ) -> None:
        """Judges one slice. roles: file column → contract name, for the columns of this slice.

        known: what `judge` has found of it, where that was asked before.
        """
        offset, self.rows = self.rows, self.rows + part.n_rows
        if part.lines is not None:
            self._lines.append(part.lines)
        for broken in part.broken:
            at = np.array([broken.position], np.int64)
            fault = CellFault(broken.kind, broken.expected, broken.fix, at, (broken.found,))
            self.mark_bad(broken.column, fault, offset)
            self._adrift.append(at + offset)
        for column, judged in (
            judge_slice(part, roles) if judged_columns is None else judged_columns
        ).items():
            name = roles[column]
            if name in PROBABILITY_COLUMNS:
                self._scales[column].add_slice(part.columns[column], judged)
            self._store_column(name, column, judged, offset)

    def mark_bad(self, column: str, fault: CellFault, offset: int = 0) -> None:
        """Marks rows as bad. column: as in the file, "" for the whole record."""
        at = fault.positions + offset
        self._bad[fault.kind].append(at)
        self._cells[fault.kind] += [
            BadCell(self.file, row + 1, self._line_of_row(row), column, fault.expected, shown, fault.fix)
            for row, shown in zip(at[:MAX_CELLS_SHOWN].tolist(), fault.examples, strict=False)
        ]

    def take_frame(self) -> pl.DataFrame:
        """All rows, bad ones included: `row` from 1 and every column read, null where missing or bad.

        To be called once: the values are not kept here as well, as a large file would fill memory twice.
        """
        columns = [pl.int_range(1, self.rows + 1, dtype=pl.Int64, eager=True).alias("row")]
        for name in COLUMN_JUDGES:
            if name in self._parts:
                self._pad(name, self.rows, self._parts[name][0].dtype)
                columns.append(pl.concat(self._parts.pop(name)).alias(name))
        return pl.DataFrame(columns)

    @property
    def is_bad(self) -> NDArray[np.bool_]:
        """Which rows have at least one bad value; shape (rows,)."""
        return self._mask([at for positions in self._bad.values() for at in positions])

    @property
    def is_run_unknown(self) -> NDArray[np.bool_]:
        """Which rows' run cannot be told, because the record or a run column is bad; shape (rows,)."""
        return self._mask(self._adrift)

    @property
    def clipped_positions(self) -> dict[str, RowPositions]:
        """File column → a position for every value that was moved onto the edge of its range."""
        return {name: np.concatenate(parts) for name, parts in self._clipped.items()}

    @property
    def inexact_sums(self) -> RowPositions:
        """Rows whose stored distribution sums to 1 only nearly."""
        return np.concatenate([no_positions(), *self._off_sum])

    @property
    def unreadable(self) -> dict[str, pl.DataFrame]:
        """File column → values that could not be read and are no fault, as in `Judged.unread`."""
        return {name: pl.concat(parts) for name, parts in self._unread.items()}

    @property
    def percentage_columns(self) -> tuple[tuple[str, str], ...]:
        """(file column, an example) of the columns that hold percentages where probabilities are meant."""
        return tuple(
            (name, scale.example) for name, scale in self._scales.items() if scale.looks_like_percentages
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The bad values by kind, the kind that comes first in the file first."""
        problems = [
            Problem(kind, np.unique(np.concatenate(self._bad[kind])).size, _first_cells(cells))
            for kind, cells in self._cells.items()
        ]
        return tuple(sorted(problems, key=lambda problem: problem.first[0].row))

    def _store_column(self, name: str, column: str, judged: JudgedColumn, offset: int) -> None:
        self.source[name] = column
        self._pad(name, offset, judged.values.dtype)
        self._parts[name].append(judged.values)
        for fault in judged.faults:
            self.mark_bad(column, fault, offset)
            if name in RUN_COLUMNS:
                self._adrift.append(fault.positions + offset)
        if judged.clipped_positions.size:
            self._clipped[column].append(judged.clipped_positions + offset)
        if judged.inexact_sums.size:
            self._off_sum.append(judged.inexact_sums + offset)
        if judged.unreadable is not None and judged.unreadable.height:
            self._unread[column].append(judged.unreadable.with_columns(pl.col("at") + offset))

    def _pad(self, name: str, rows: int, dtype: pl.DataType) -> None:
        """Nulls for the slices that did not have this column."""
        parts = self._parts.setdefault(name, [])
        lacking = rows - sum(part.len() for part in parts)
        if lacking:
            parts.append(pl.repeat(None, lacking, dtype=dtype, eager=True))

    def _line_of_row(self, row: int) -> int | None:
        at = row
        for lines in self._lines:
            if at < lines.len():
                return int(lines[at])
            at -= lines.len()
        return None

    def _mask(self, positions: list[RowPositions]) -> NDArray[np.bool_]:
        mask = np.zeros(self.rows, np.bool_)
        for at in positions:
            mask[at] = True
        return mask


def judge_slice(part: Slice, roles: Mapping[str, str]) -> dict[str, JudgedColumn]:
    """File column → its judged values, of the columns of one slice that are read."""
    judged: dict[str, JudgedColumn] = {}
    for column, name in roles.items():
        nested = (
            part.nested.get(column, frozenset[int]()) if name in SINGLE_TEXT_COLUMNS else frozenset[int]()
        )
        judged[column] = _judge_column(name, part.columns[column], nested)
    return judged


def _judge_column(name: str, raw: pl.Series, nested_rows: frozenset[int]) -> JudgedColumn:
    """The judged column; values that were lists among texts are wrong where one text is expected."""
    judged = COLUMN_JUDGES[name](raw)
    if not nested_rows:
        return judged
    at = np.array(sorted(nested_rows), np.int64)
    shown = tuple(value_text(raw[position]) for position in at[:MAX_CELLS_SHOWN].tolist())
    fault = CellFault("not a text", "one text or number", "Write one value, not several.", at, shown)
    return JudgedColumn(judged.values, (*judged.faults, fault))


def _first_cells(cells: list[BadCell]) -> tuple[BadCell, ...]:
    return tuple(sorted(cells, key=lambda cell: cell.row)[:MAX_CELLS_SHOWN])


PARALLEL_LISTS: Final = (
    (
        "choice",
        (
            "choice_logprobs",
            "choice_probs",
            "choices",
            "choice_token_counts",
            "choice_char_counts",
            "choice_byte_counts",
        ),
    ),
    ("sample", ("samples", "samples_parsed", "sample_correct", "sample_cluster")),
)
"""Lists of one row that have one entry for each of the same things."""


def disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    """(column, fault) of rows whose lists differ in length, or whose answer span leaves its path."""
    for thing, names in PARALLEL_LISTS:
        present = [name for name in names if name in rows.columns]
        if len(present) > 1:
            yield from _length_disagreements(rows, thing, present)
    if {"path_logprobs", "answer_start", "answer_end"} <= set(rows.columns):
        yield from _span_disagreements(rows)


def _length_disagreements(
    rows: pl.DataFrame, thing: str, names: list[str]
) -> Iterator[tuple[str, CellFault]]:
    """Each list is held against the first that the row has."""
    first = rows[names[0]].list.len()
    for name in names[1:]:
        size = rows[name].list.len()
        differ = (size != first).fill_null(value=False)
        if differ.any():
            expected = f"as many entries as {names[0]}, one a {thing}"
            shown = pl.select(pl.format("{} instead of {}", size, first)).to_series()
            for fault in faults_where(
                shown, differ, "lists of different lengths", expected, "Complete the lists."
            ):
                yield name, fault
        first = first.zip_with(first.is_not_null(), size)


def _span_disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    start, end = rows["answer_start"], rows["answer_end"]
    outside = start.is_not_null() & ((start >= end) | (end > rows["path_logprobs"].list.len()))
    expected = "an end after the start and within the path (positions count from 0, the end not included)"
    shown = pl.select(pl.format("{} to {}", start, end)).to_series()
    kind, fix = "span outside the path", "Give answer_logprobs instead, or mend the span."
    for fault in faults_where(shown, outside.fill_null(value=False), kind, expected, fix):
        yield "answer_end", fault
