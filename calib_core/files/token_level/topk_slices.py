"""What do the positions of a file come to, judged slice by slice and added up run by run?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.reading import Reading
from calib_core.files.tables.collect import Collected
from calib_core.files.tables.judged import Fault, faults
from calib_core.files.tables.raw import SLICE, Slice
from calib_core.files.tables.runs import Origin
from calib_core.files.token_level.entries import PADDING, Told, Values, judged
from calib_core.files.token_level.entry_checks import checked
from calib_core.files.token_level.entry_lists import lists_of
from calib_core.files.token_level.token_runs import RunsOfFile
from calib_core.problems import shorten
from calib_core.records import RUN_COLUMNS, TokenRun
from calib_core.wording import count as counted


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What is known of the records of one slice; shape (rows,) each. adrift: their run cannot be told."""

    bad: NDArray[np.bool_]
    adrift: NDArray[np.bool_]
    padding: NDArray[np.bool_]


class Slices:
    """The positions of one file on their way: judged slice by slice, added up run by run.

    seed: of the draws; another for another file.
    """

    def __init__(self, origin: Origin, told: Told, seed: int) -> None:
        self._origin = origin
        self._told = told
        self._collected = Collected(origin.file)
        self._runs = RunsOfFile(origin, told, seed)
        self._adrift = 0
        self._unread: dict[str, list[str]] = {}

    @property
    def rows(self) -> int:
        """Records so far."""
        return self._collected.rows

    def add(self, part: Slice, roles: Mapping[str, str]) -> None:
        """Takes one slice. roles: file column → name in `JUDGES`."""
        offset = self._collected.rows
        self._collected.add(part, {})
        values = judged(part, roles)
        for column, texts in values.unread.items():
            self._unread.setdefault(column, []).extend(texts)
        marks = self._marks(part, values, offset)
        self._adrift += int(marks.adrift.sum())
        runs = self._runs.of(values, marks.adrift)
        classes = values.whole("vocab_size", self._told.vocab_size or 0)
        for run, at in runs:
            run.describe(values, at)
            usable = at[~marks.bad[at] & ~marks.padding[at]]
            self._blame(values, marks.bad, "vocab_size", run.other_classes(usable, classes), offset)
        lists, found = checked(lists_of(values, ~marks.bad & ~marks.padding, self._told), self._told)
        for name, fault in found:
            self._blame(values, marks.bad, name, [fault], offset)
        for run, at in runs:
            own = lists.where(np.isin(lists.at, at))
            self._blame(values, marks.bad, "position", run.repeated(values, own.at), offset)
            run.add(own.where(~marks.bad[own.at]), values, offset)
            run.count(marks.bad[at], marks.padding[at])

    def reading(self) -> Reading:
        """What all of it comes to, but for what only the columns tell."""
        collected = self._collected
        if len(self._runs.met) == 1:
            self._runs.met[0].read += self._adrift
            self._runs.met[0].left_out += self._adrift
        taken: set[str] = set()
        made = [run.run(self._origin, taken) for run in self._runs.met]
        runs = tuple(run for run in made if isinstance(run, TokenRun))
        return Reading(
            file=self._origin.file,
            format=self._origin.format,
            rows=collected.rows,
            bad_rows=int(collected.bad.sum()),
            problems=collected.problems,
            good_runs=runs,
            columns=(),
            unused=(),
            proposals=MappingProxyType({}),
            notes=self._notes(len(made), len(runs)),
            refusal=None if runs else self._nothing(),
        )

    def _marks(self, part: Slice, values: Values, offset: int) -> Marks:
        """What the values of a slice, each by itself, say of its records; the wrong ones are blamed."""
        padding = (values.columns["target"] == PADDING).fill_null(value=False).to_numpy()
        marks = Marks(np.zeros(part.rows, np.bool_), np.zeros(part.rows, np.bool_), padding)
        broken = [record.at for record in part.broken]
        marks.bad[broken] = marks.adrift[broken] = True
        columns = {column: name for name, column in values.source.items()}
        for column, fault in values.faults:
            told = columns[column] in RUN_COLUMNS
            kept = ~padding[fault.at] | told  # nothing else of what is no position can be wrong
            shown = tuple(text for text, keep in zip(fault.found, kept, strict=False) if keep)
            fault = replace(fault, at=fault.at[kept], found=shown)  # noqa: PLW2901
            self._blame(values, marks.bad, columns[column], [fault], offset)
            if told:
                marks.adrift[fault.at] = True
        self._blame(values, marks.bad, "top_logprobs", _unequal(values, ~padding), offset)
        return marks

    def _blame(
        self, values: Values, bad: NDArray[np.bool_], name: str, found: Sequence[Fault], offset: int
    ) -> None:
        """Marks the records of faults. name: of the column by the contract."""
        for fault in found:
            if fault.at.size:
                self._collected.blame(values.source.get(name, name), fault, offset)
                bad[fault.at] = True

    def _notes(self, met: int, usable: int) -> tuple[str, ...]:
        notes: list[str] = []
        if met > usable:
            notes.append(f"{met - usable:,} of {met:,} runs have no position that can be used: left out.")
        if self._adrift and met > 1:
            bad = f"{self._adrift:,} bad rows belong" if self._adrift > 1 else "1 bad row belongs"
            notes.append(f"{bad} to none of the runs, as what is said there of the run is bad.")
        for column, texts in self._unread.items():
            shown = ", ".join(list(dict.fromkeys(texts))[:3])
            count = counted(len(texts), "row")
            notes.append(f"{column} cannot be read as a number in {count} ({shown}) and is not known there.")
        return tuple(notes)

    def _nothing(self) -> str:
        """Why a file without one usable position cannot be used."""
        cells = [cell for problem in self._collected.problems for cell in problem.first[:3]][:4]
        listed = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
        return (
            f"{self._origin.file}: none of its {self.rows:,} rows is a position that can be used: each needs "
            f"a target, a top list and the size of the vocabulary.{listed}"
        )


def pieces(part: Slice, done: float) -> Iterator[Slice]:
    """A slice in pieces, so that its lists laid end to end need little memory; text comes in such.

    done: share of the file before it.
    """
    if part.rows <= SLICE:
        yield part
        return
    for start in range(0, part.rows, SLICE):
        columns = {name: values.slice(start, SLICE) for name, values in part.columns.items()}
        rows = min(SLICE, part.rows - start)
        share = done + (part.share - done) * (start + rows) / part.rows
        yield Slice(rows, columns, None, share)


def _unequal(values: Values, judged_rows: NDArray[np.bool_]) -> tuple[Fault, ...]:
    """Records whose two lists differ in length."""
    ids, logs = (values.columns[name].list.len() for name in ("top_ids", "top_logprobs"))
    shown = pl.select(pl.format("{} instead of {}", logs, ids)).to_series()
    return faults(
        shown,
        (ids != logs).fill_null(value=False) & pl.Series(judged_rows),
        "lists of different lengths",
        "as many entries as top_ids",
        "Write one log-probability for each class of the list.",
    )
