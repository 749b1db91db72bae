"""Which positions of a file belong to which run, and what does each run come to?"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.tables.judged import Fault, faults
from calib_core.files.tables.lists import SUM_EXACT
from calib_core.files.tables.runs import Origin, identified, info_of_rows, stem_of, unique
from calib_core.files.token_level.entries import Told, Values
from calib_core.files.token_level.entry_lists import Lists
from calib_core.files.token_level.neighbours import Neighbours
from calib_core.problems import Refused
from calib_core.records import INFO_COLUMNS, RUN_COLUMNS, Ledger, TokenRun
from calib_core.tokens.topk import TopKReducer

MOST_RUNS: Final = 100
"""Runs of one file: each has sums of its own, which do not shrink with its positions."""


class Positions:
    """One run on its way: its positions are added up slice by slice."""

    def __init__(self, seed: int, told: Told) -> None:
        self.read = self.left_out = self.padding = self.off_sum = 0
        self.classes = 0
        self.clipped = Counter[str]()
        self._seed = seed
        self._column_sums = told.column_sums
        self._told: dict[str, dict[object, None]] = {}
        self._places = set[int]()
        self._neighbours = Neighbours()
        self._reducer: TopKReducer | None = None

    def other_classes(self, at: NDArray[np.int64], classes: NDArray[np.int64]) -> list[Fault]:
        """Records whose vocabulary has another size than the run's first.

        at: records of the run; classes: of every record of the slice, 0 = not said.
        """
        known = at[classes[at] > 0]
        if known.size and not self.classes:
            self.classes = int(classes[known[0]])
        wrong = np.zeros(classes.size, np.bool_)
        wrong[known] = classes[known] != self.classes
        expected = f"{self.classes}, as in the run's first row"
        fix = "Give runs with different vocabularies different names (model, dataset, shots or checkpoint)."
        kind = "another size of the vocabulary"
        return list(faults(pl.Series(classes), pl.Series(wrong), kind, expected, fix))

    def repeated(self, values: Values, at: NDArray[np.int64]) -> list[Fault]:
        """Records whose place (doc, position) came before in the run; at: records not bad so far."""
        if not {"doc", "position"} <= values.columns.keys():
            return []
        place = pl.DataFrame({name: values.columns[name] for name in ("doc", "position")})[at]
        there = place.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        wrong = np.zeros(values.rows, np.bool_)
        marks = place.hash_rows().filter(there).to_list()
        for record, mark in zip(at[there.to_numpy()].tolist(), marks, strict=True):
            wrong[record] = mark in self._places
            self._places.add(mark)
        expected = "each position of a document once in a run"
        fix = "Give other runs another model, dataset, shots or checkpoint."
        shown = pl.select(pl.format("{}, {}", values.columns["doc"], values.columns["position"])).to_series()
        return list(faults(shown, pl.Series(wrong), "repeated position", expected, fix))

    def describe(self, values: Values, at: NDArray[np.int64]) -> None:
        """Notes what these records say of the run; at: not adrift."""
        for name in INFO_COLUMNS:
            if name in values.columns:
                met = self._told.setdefault(name, {})
                said = values.columns[name].gather(at).drop_nulls().unique(maintain_order=True).head(3)
                met.update(dict.fromkeys(said.to_list()))

    def add(self, lists: Lists, values: Values, offset: int) -> None:
        """Adds good positions. offset: records of the file before this slice."""
        if not lists.at.size:
            return
        if self._reducer is None:
            columns = self._column_sums
            fits = columns is not None and columns.size == self.classes
            self._reducer = TopKReducer(self.classes, self._seed, columns if fits else None)
        self._reducer.add(lists.topk(offset))
        self.off_sum += int(np.count_nonzero(lists.off_sum > SUM_EXACT))
        self._neighbours.add(lists, values.columns.get("doc"), values.columns.get("position"))
        for column, at in values.clipped.items():
            self.clipped[column] += int(np.isin(at, lists.at).sum())

    def count(self, bad: NDArray[np.bool_], padding: NDArray[np.bool_]) -> None:
        """Counts records of the run; both of shape (records,)."""
        self.padding += int(padding.sum())
        self.read += int((~padding).sum())
        self.left_out += int((bad & ~padding).sum())

    def run(self, origin: Origin, taken: set[str]) -> TokenRun | None:
        """The run; None where not one position of it can be used."""
        told = {name: [*met, None, None, None][:3] for name, met in self._told.items()}
        info, notes = info_of_rows(pl.DataFrame(told, strict=False), origin.info)
        label = unique(info.label(stem_of(origin.file)), taken)
        if self._reducer is None:
            return None
        if self.padding:
            notes += (f"{self.padding:,} targets are −100, which is padding: these rows are no positions.",)
        ledger = Ledger(
            read=self.read,
            left_out=self.left_out,
            clipped=MappingProxyType({column: count for column, count in self.clipped.items() if count}),
            off_sum=self.off_sum,
            notes=notes + tuple(filter(None, [self._neighbours.note])),
        )
        return TokenRun(origin.file, origin.format, label, info, self._reducer.sums(), ledger)


class RunsOfFile:
    """The runs of one file. told: of all of them; seed: of the first run's draws, another a file."""

    def __init__(self, origin: Origin, told: Told, seed: int) -> None:
        self._origin = origin
        self._seed_of_first = seed
        self._of_all = told
        self._met: dict[tuple[object, ...], Positions] = {}

    @property
    def met(self) -> tuple[Positions, ...]:
        """The runs met so far, in the order of their first record."""
        return tuple(self._met.values())

    def of(self, values: Values, adrift: NDArray[np.bool_]) -> list[tuple[Positions, NDArray[np.int64]]]:
        """Each run of a slice and its records, ascending. adrift: records whose run cannot be told.

        Raises Refused where the file has too many runs.
        """
        told = identified(values.info, self._origin.info)
        told = told.with_columns(pl.lit(None).alias(name) for name in RUN_COLUMNS if name not in told.columns)
        grouped = told.filter(pl.Series(~adrift)).group_by(RUN_COLUMNS, maintain_order=True).agg("row")
        found: list[tuple[Positions, NDArray[np.int64]]] = []
        for key, rows in zip(grouped.select(RUN_COLUMNS).iter_rows(), grouped["row"], strict=True):
            if key not in self._met:
                self._met[key] = Positions(self._seed_of_first + len(self._met), self._of_all)
            found.append((self._met[key], rows.to_numpy()))
        if len(self._met) > MOST_RUNS:
            raise Refused(
                f"{self._origin.file} holds more than {MOST_RUNS} runs: its rows differ in model, dataset, "
                f"shots or checkpoint. Give rows of one run the same names, or split the file."
            )
        return found
