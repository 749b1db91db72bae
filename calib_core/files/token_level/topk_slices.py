"""What do the positions of a file come to, judged slice by slice and added up run by run?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.reading import Reading
from calib_core.files.tables.collect import RowCollector
from calib_core.files.tables.judged import CellFault, faults_where
from calib_core.files.tables.raw import ROWS_PER_SLICE, Slice
from calib_core.files.tables.runs import Origin
from calib_core.files.token_level.entries import PADDING_TARGET, TopKMetadata, JudgedSlice, judge_topk_slice
from calib_core.files.token_level.entry_checks import check_positions
from calib_core.files.token_level.entry_lists import top_lists_of
from calib_core.files.token_level.token_runs import TokenRunBuilders
from calib_core.problems import shorten
from calib_core.records import RUN_COLUMNS, TokenRun
from calib_core.wording import plural as plural


@dataclass(frozen=True, slots=True, eq=False)
class RecordMarks:
    """What is known of the records of one slice; shape (rows,) each. adrift: their run cannot be told."""

    is_bad: NDArray[np.bool_]
    is_run_unknown: NDArray[np.bool_]
    is_padding: NDArray[np.bool_]


class TopKCollector:
    """The positions of one file on their way: judged slice by slice, added up run by run.

    seed: of the draws; another for another file.
    """

    def __init__(self, origin: Origin, metadata: TopKMetadata, seed: int) -> None:
        self._origin = origin
        self._told = metadata
        self._collected = RowCollector(origin.file)
        self._runs = TokenRunBuilders(origin, metadata, seed)
        self._adrift = 0
        self._unread: dict[str, list[str]] = {}

    @property
    def n_rows(self) -> int:
        """Records so far."""
        return self._collected.rows

    def add(self, part: Slice, roles: Mapping[str, str]) -> None:
        """Takes one slice. roles: file column → name in `JUDGES`."""
        offset = self._collected.rows
        self._collected.add(part, {})
        values = judge_topk_slice(part, roles)
        for column, texts in values.unreadable.items():
            self._unread.setdefault(column, []).extend(texts)
        marks = self._mark_records(part, values, offset)
        self._adrift += int(marks.is_run_unknown.sum())
        runs = self._runs.split_records(values, marks.is_run_unknown)
        classes = values.integers("vocab_size", self._told.vocab_size or 0)
        for run, at in runs:
            run.add_info(values, at)
            usable = at[~marks.is_bad[at] & ~marks.is_padding[at]]
            self._mark_bad(values, marks.is_bad, "vocab_size", run.vocabulary_faults(usable, classes), offset)
        lists, found = check_positions(top_lists_of(values, ~marks.is_bad & ~marks.is_padding, self._told), self._told)
        for name, fault in found:
            self._mark_bad(values, marks.is_bad, name, [fault], offset)
        for run, at in runs:
            own = lists.select(np.isin(lists.records, at))
            self._mark_bad(values, marks.is_bad, "position", run.repeated_position_faults(values, own.records), offset)
            run.add_positions(own.select(~marks.is_bad[own.records]), values, offset)
            run.count_records(marks.is_bad[at], marks.is_padding[at])

    def reading(self) -> Reading:
        """What all of it comes to, but for what only the columns tell."""
        collected = self._collected
        if len(self._runs.builders) == 1:
            self._runs.builders[0].read += self._adrift
            self._runs.builders[0].left_out += self._adrift
        taken: set[str] = set()
        made = [run.build_run(self._origin, taken) for run in self._runs.builders]
        runs = tuple(run for run in made if isinstance(run, TokenRun))
        return Reading(
            file=self._origin.file,
            format=self._origin.format,
            n_rows=collected.rows,
            n_bad_rows=int(collected.is_bad.sum()),
            problems=collected.problems,
            good_runs=runs,
            columns=(),
            unused_columns=(),
            proposed_mapping=MappingProxyType({}),
            notes=self._run_notes(len(made), len(runs)),
            refusal=None if runs else self._nothing_usable_message(),
        )

    def _mark_records(self, part: Slice, values: JudgedSlice, offset: int) -> RecordMarks:
        """What the values of a slice, each by itself, say of its records; the wrong ones are blamed."""
        padding = (values.columns["target"] == PADDING_TARGET).fill_null(value=False).to_numpy()
        marks = RecordMarks(np.zeros(part.n_rows, np.bool_), np.zeros(part.n_rows, np.bool_), padding)
        broken = [record.position for record in part.broken]
        marks.is_bad[broken] = marks.is_run_unknown[broken] = True
        columns = {column: name for name, column in values.source_columns.items()}
        for column, fault in values.faults:
            told = columns[column] in RUN_COLUMNS
            kept = ~padding[fault.positions] | told  # nothing else of what is no position can be wrong
            shown = tuple(text for text, keep in zip(fault.examples, kept, strict=False) if keep)
            fault = replace(fault, at=fault.positions[kept], found=shown)  # noqa: PLW2901
            self._mark_bad(values, marks.is_bad, columns[column], [fault], offset)
            if told:
                marks.is_run_unknown[fault.positions] = True
        self._mark_bad(values, marks.is_bad, "top_logprobs", _unequal_length_faults(values, ~padding), offset)
        return marks

    def _mark_bad(
        self, values: JudgedSlice, is_bad: NDArray[np.bool_], name: str, faults: Sequence[CellFault], offset: int
    ) -> None:
        """Marks the records of faults. name: of the column by the contract."""
        for fault in faults:
            if fault.positions.size:
                self._collected.mark_bad(values.source_columns.get(name, name), fault, offset)
                is_bad[fault.positions] = True

    def _run_notes(self, n_runs: int, n_usable_runs: int) -> tuple[str, ...]:
        notes: list[str] = []
        if n_runs > n_usable_runs:
            notes.append(f"{n_runs - n_usable_runs:,} of {n_runs:,} runs have no position that can be used: left out.")
        if self._adrift and n_runs > 1:
            bad = f"{self._adrift:,} bad rows belong" if self._adrift > 1 else "1 bad row belongs"
            notes.append(f"{bad} to none of the runs, as what is said there of the run is bad.")
        for column, texts in self._unread.items():
            shown = ", ".join(list(dict.fromkeys(texts))[:3])
            count = plural(len(texts), "row")
            notes.append(f"{column} cannot be read as a number in {count} ({shown}) and is not known there.")
        return tuple(notes)

    def _nothing_usable_message(self) -> str:
        """Why a file without one usable position cannot be used."""
        cells = [cell for problem in self._collected.problems for cell in problem.first[:3]][:4]
        listed = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
        return (
            f"{self._origin.file}: none of its {self.n_rows:,} rows is a position that can be used: each needs "
            f"a target, a top list and the size of the vocabulary.{listed}"
        )


def split_slice(part: Slice, share_before: float) -> Iterator[Slice]:
    """A slice in pieces, so that its lists laid end to end need little memory; text comes in such.

    done: share of the file before it.
    """
    if part.n_rows <= ROWS_PER_SLICE:
        yield part
        return
    for start in range(0, part.n_rows, ROWS_PER_SLICE):
        columns = {name: values.slice(start, ROWS_PER_SLICE) for name, values in part.columns.items()}
        rows = min(ROWS_PER_SLICE, part.n_rows - start)
        share = share_before + (part.share - share_before) * (start + rows) / part.n_rows
        yield Slice(rows, columns, None, share)


def _unequal_length_faults(values: JudgedSlice, is_judged: NDArray[np.bool_]) -> tuple[CellFault, ...]:
    """Records whose two lists differ in length."""
    ids, logs = (values.columns[name].list.len() for name in ("top_ids", "top_logprobs"))
    shown = pl.select(pl.format("{} instead of {}", logs, ids)).to_series()
    return faults_where(
        shown,
        (ids != logs).fill_null(value=False) & pl.Series(is_judged),
        "lists of different lengths",
        "as many entries as top_ids",
        "Write one log-probability for each class of the list.",
    )
