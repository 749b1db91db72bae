"""Which positions of a file belong to which run, and what does each run come to?"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.tables.judged import CellFault, faults_where
from calib_core.files.tables.lists import EXACT_SUM_TOLERANCE
from calib_core.files.tables.runs import Origin, fill_run_columns, run_info_from_rows, file_stem, unique_label
from calib_core.files.token_level.entries import TopKMetadata, JudgedSlice
from calib_core.files.token_level.entry_lists import TopLists
from calib_core.files.token_level.neighbours import TopListAlignment
from calib_core.problems import Refused
from calib_core.records import INFO_COLUMNS, RUN_COLUMNS, RowCounts, TokenRun
from calib_core.tokens.topk import TopKReducer

MAX_RUNS: Final = 100
"""Runs of one file: each has sums of its own, which do not shrink with its positions."""


class TokenRunBuilder:
    """One run on its way: its positions are added up slice by slice."""

    def __init__(self, seed: int, metadata: TopKMetadata) -> None:
        self.read = self.left_out = self.padding = self.off_sum = 0
        self.classes = 0
        self.clipped = Counter[str]()
        self._seed = seed
        self._column_sums = metadata.column_sums
        self._told: dict[str, dict[object, None]] = {}
        self._places = set[int]()
        self._neighbours = TopListAlignment()
        self._reducer: TopKReducer | None = None

    def vocabulary_faults(self, records: NDArray[np.int64], classes: NDArray[np.int64]) -> list[CellFault]:
        """Records whose vocabulary has another size than the run's first.

        at: records of the run; classes: of every record of the slice, 0 = not said.
        """
        known = records[classes[records] > 0]
        if known.size and not self.classes:
            self.classes = int(classes[known[0]])
        wrong = np.zeros(classes.size, np.bool_)
        wrong[known] = classes[known] != self.classes
        expected = f"{self.classes}, as in the run's first row"
        fix = "Give runs with different vocabularies different names (model, dataset, shots or checkpoint)."
        kind = "another size of the vocabulary"
        return list(faults_where(pl.Series(classes), pl.Series(wrong), kind, expected, fix))

    def repeated_position_faults(self, values: JudgedSlice, records: NDArray[np.int64]) -> list[CellFault]:
        """Records whose place (doc, position) came before in the run; at: records not bad so far."""
        if not {"doc", "position"} <= values.columns.keys():
            return []
        place = pl.DataFrame({name: values.columns[name] for name in ("doc", "position")})[records]
        there = place.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        wrong = np.zeros(values.n_rows, np.bool_)
        marks = place.hash_rows().filter(there).to_list()
        for record, mark in zip(records[there.to_numpy()].tolist(), marks, strict=True):
            wrong[record] = mark in self._places
            self._places.add(mark)
        expected = "each position of a document once in a run"
        fix = "Give other runs another model, dataset, shots or checkpoint."
        shown = pl.select(pl.format("{}, {}", values.columns["doc"], values.columns["position"])).to_series()
        return list(faults_where(shown, pl.Series(wrong), "repeated position", expected, fix))

    def add_info(self, values: JudgedSlice, records: NDArray[np.int64]) -> None:
        """Notes what these records say of the run; at: not adrift."""
        for name in INFO_COLUMNS:
            if name in values.columns:
                met = self._told.setdefault(name, {})
                said = values.columns[name].gather(records).drop_nulls().unique(maintain_order=True).head(3)
                met.update(dict.fromkeys(said.to_list()))

    def add_positions(self, lists: TopLists, values: JudgedSlice, offset: int) -> None:
        """Adds good positions. offset: records of the file before this slice."""
        if not lists.records.size:
            return
        if self._reducer is None:
            columns = self._column_sums
            fits = columns is not None and columns.size == self.classes
            self._reducer = TopKReducer(self.classes, self._seed, columns if fits else None)
        self._reducer.add(lists.as_topk(offset))
        self.off_sum += int(np.count_nonzero(lists.sum_error > EXACT_SUM_TOLERANCE))
        self._neighbours.add(lists, values.columns.get("doc"), values.columns.get("position"))
        for column, at in values.clipped_positions.items():
            self.clipped[column] += int(np.isin(at, lists.records).sum())

    def count_records(self, is_bad: NDArray[np.bool_], is_padding: NDArray[np.bool_]) -> None:
        """Counts records of the run; both of shape (records,)."""
        self.padding += int(is_padding.sum())
        self.read += int((~is_padding).sum())
        self.left_out += int((is_bad & ~is_padding).sum())

    def build_run(self, origin: Origin, used_labels: set[str]) -> TokenRun | None:
        """The run; None where not one position of it can be used."""
        told = {name: [*met, None, None, None][:3] for name, met in self._told.items()}
        info, notes = run_info_from_rows(pl.DataFrame(told, strict=False), origin.info)
        label = unique_label(info.label(file_stem(origin.file)), used_labels)
        if self._reducer is None:
            return None
        if self.padding:
            notes += (f"{self.padding:,} targets are −100, which is padding: these rows are no positions.",)
        ledger = RowCounts(
            n_rows=self.read,
            n_left_out=self.left_out,
            clipped=MappingProxyType({column: count for column, count in self.clipped.items() if count}),
            n_off_sum=self.off_sum,
            notes=notes + tuple(filter(None, [self._neighbours.shift_note])),
        )
        return TokenRun(origin.file, origin.format, label, info, self._reducer.result(), ledger)


class TokenRunBuilders:
    """The runs of one file. told: of all of them; seed: of the first run's draws, another a file."""

    def __init__(self, origin: Origin, metadata: TopKMetadata, seed: int) -> None:
        self._origin = origin
        self._seed_of_first = seed
        self._of_all = metadata
        self._met: dict[tuple[object, ...], TokenRunBuilder] = {}

    @property
    def builders(self) -> tuple[TokenRunBuilder, ...]:
        """The runs met so far, in the order of their first record."""
        return tuple(self._met.values())

    def split_records(self, values: JudgedSlice, is_run_unknown: NDArray[np.bool_]) -> list[tuple[TokenRunBuilder, NDArray[np.int64]]]:
        """Each run of a slice and its records, ascending. adrift: records whose run cannot be told.

        Raises Refused where the file has too many runs.
        """
        told = fill_run_columns(values.run_columns, self._origin.info)
        told = told.with_columns(pl.lit(None).alias(name) for name in RUN_COLUMNS if name not in told.columns)
        grouped = told.filter(pl.Series(~is_run_unknown)).group_by(RUN_COLUMNS, maintain_order=True).agg("row")
        found: list[tuple[TokenRunBuilder, NDArray[np.int64]]] = []
        for key, rows in zip(grouped.select(RUN_COLUMNS).iter_rows(), grouped["row"], strict=True):
            if key not in self._met:
                self._met[key] = TokenRunBuilder(self._seed_of_first + len(self._met), self._of_all)
            found.append((self._met[key], rows.to_numpy()))
        if len(self._met) > MAX_RUNS:
            raise Refused(
                f"{self._origin.file} holds more than {MAX_RUNS} runs: its rows differ in model, dataset, "
                f"shots or checkpoint. Give rows of one run the same names, or split the file."
            )
        return found
