"""What does a file of top lists hold: the likeliest tokens of each position, and the one that came?

One row a position, in JSON lines, Parquet or delimited text, with the canonical metadata or without.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Refused, shorten
from calib_core.readers.companions import COLUMN_SUMS_SUFFIX
from calib_core.readers.content import Content
from calib_core.readers.file_access import is_in_same_folder, open_regular_file
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.table.canonical import METADATA_KEY, checked_metadata, run_info_from_metadata
from calib_core.readers.table.cells import CellFault, faults_where
from calib_core.readers.table.columns import ColumnRoles, column_list_text
from calib_core.readers.table.csv_reader import COMMAS, DIALECTS, CsvDialect, header_of
from calib_core.readers.table.list_cells import EXACT_SUM_TOLERANCE
from calib_core.readers.table.raw import ROWS_PER_SLICE, ReadProgress, Slice
from calib_core.readers.table.reader import first_values, looks_like, open_table
from calib_core.readers.table.rows import RowCollector
from calib_core.readers.table.run_split import (
    Origin,
    file_stem,
    fill_run_columns,
    run_info_from_rows,
    unique_label,
)
from calib_core.readers.token.alignment import TopListAlignment
from calib_core.readers.token.arrays import MAX_CLASSES, StoredArray
from calib_core.readers.token.topk_lists import (
    PADDING_TARGET,
    REQUIRED_COLUMNS,
    TOPK_COLUMN_JUDGES,
    JudgedSlice,
    TopKMetadata,
    TopLists,
    check_positions,
    judge_topk_slice,
    top_lists_of,
)
from calib_core.runs import INFO_COLUMNS, RUN_COLUMNS, RowCounts, RunInfo, TokenRun
from calib_core.tokens.topk import TopKReducer
from calib_core.wording import plural

# MERGED column_sums: What did every class add up to, where a file stores only the largest entries of each position?
#
# The metadata names a file beside it: K sums of p over all positions, as a NumPy array (`X.columns.npy`).


def read_column_sums(head: Head, name: object, n_classes: int | None) -> NDArray[np.float64] | None:
    """The sums, float64 of shape (K,), read-only; None where the metadata names no file.

    name: what the metadata says; classes: K where it says so. Raises Refused where the file is not there or
    holds no such sums.
    """
    if name is None:
        return None
    path = _column_sums_path(head, name)
    with open_regular_file(path, path.name) as stream:
        array = StoredArray.from_stream(stream, os.fstat(stream.fileno()).st_size, path.name, "column_sums")
        plain = array.dtype.kind == "f" and array.dtype.itemsize <= 8 and len(array.shape) == 1
        if not plain or not 0 < array.shape[0] <= MAX_CLASSES or n_classes not in (None, array.shape[0]):
            raise Refused(
                f"{path.name}: one sum a class is expected, floating-point numbers of the shape "
                f"({n_classes or 'K'},), and it holds {array.dtype} of the shape {array.shape}."
            )
        sums = array.read_all().astype(np.float64)
    if not bool(np.all(np.isfinite(sums) & (sums >= 0))):
        raise Refused(f"{path.name}: sums of probabilities are finite and not below 0: some here are not.")
    sums.flags.writeable = False
    return sums


def _column_sums_path(head: Head, name: object) -> Path:
    """The file of that name beside the list; never one elsewhere."""
    shown = shorten(repr(name))
    if (
        not isinstance(name, str)
        or not name.lower().endswith(f".{COLUMN_SUMS_SUFFIX}")
        or Path(name).name != name
    ):
        raise Refused(
            f"{head.file}: 'column_sums' in its metadata is the name of a file beside it that ends in "
            f".{COLUMN_SUMS_SUFFIX}, and cannot be {shown}."
        )
    path = None if head.path is None else head.path.with_name(name)
    if path is None or head.path is None or not is_in_same_folder(head.path, path):
        raise Refused(f"{head.file} names {shown} for its sums by class, and no such file lies beside it.")
    return path


# MERGED token_runs: Which positions of a file belong to which run, and what does each run come to?

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

    def split_records(
        self, values: JudgedSlice, is_run_unknown: NDArray[np.bool_]
    ) -> list[tuple[TokenRunBuilder, NDArray[np.int64]]]:
        """Each run of a slice and its records, ascending. adrift: records whose run cannot be told.

        Raises Refused where the file has too many runs.
        """
        told = fill_run_columns(values.run_columns, self._origin.info)
        told = told.with_columns(pl.lit(None).alias(name) for name in RUN_COLUMNS if name not in told.columns)
        grouped = (
            told.filter(pl.Series(~is_run_unknown)).group_by(RUN_COLUMNS, maintain_order=True).agg("row")
        )
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


# MERGED topk_slices: What do the positions of a file come to, judged slice by slice and added up run by run?


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
        lists, found = check_positions(
            top_lists_of(values, ~marks.is_bad & ~marks.is_padding, self._told), self._told
        )
        for name, fault in found:
            self._mark_bad(values, marks.is_bad, name, [fault], offset)
        for run, at in runs:
            own = lists.select(np.isin(lists.records, at))
            self._mark_bad(
                values, marks.is_bad, "position", run.repeated_position_faults(values, own.records), offset
            )
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
            fault = replace(fault, positions=fault.positions[kept], examples=shown)  # noqa: PLW2901  said of what is left
            self._mark_bad(values, marks.is_bad, columns[column], [fault], offset)
            if told:
                marks.is_run_unknown[fault.positions] = True
        self._mark_bad(values, marks.is_bad, "top_logprobs", _unequal_length_faults(values, ~padding), offset)
        return marks

    def _mark_bad(
        self,
        values: JudgedSlice,
        is_bad: NDArray[np.bool_],
        name: str,
        faults: Sequence[CellFault],
        offset: int,
    ) -> None:
        """Marks the records of faults. name: of the column by the contract."""
        for fault in faults:
            if fault.positions.size:
                self._collected.mark_bad(values.source_columns.get(name, name), fault, offset)
                is_bad[fault.positions] = True

    def _run_notes(self, n_runs: int, n_usable_runs: int) -> tuple[str, ...]:
        notes: list[str] = []
        if n_runs > n_usable_runs:
            notes.append(
                f"{n_runs - n_usable_runs:,} of {n_runs:,} runs have no position that can be used: left out."
            )
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


TOKENS_FORMAT: Final = "calib-tokens"
TOKENS_VERSION: Final = 1

_TOPK_COLUMNS: Final = {"top_ids", "top_logprobs"}
"""Columns by which such a file is known."""


def recognises(head: Head) -> bool:
    """Whether the file holds top lists: by its metadata where it has the project's, else by its columns."""
    stored = _stored_metadata(head)
    if stored is not None:
        return stored.get("format") == TOKENS_FORMAT
    if head.kind == "text":
        return any({*header_of(head.content, layout)} >= _TOPK_COLUMNS for layout in DIALECTS)
    return {*head.names} >= _TOPK_COLUMNS or any(
        record.keys() >= _TOPK_COLUMNS for record in head.first_objects
    )


def _stored_metadata(head: Head) -> Mapping[str, object] | None:
    """The project's metadata; empty where it cannot be read, None where there is none."""
    found: object
    if head.kind == "parquet" and METADATA_KEY in (head.metadata or {}):
        try:
            found = json.loads((head.metadata or {})[METADATA_KEY])
        except ValueError:
            return {}
    elif head.kind == "json lines" and head.first_objects and set(head.first_objects[0]) == {METADATA_KEY}:
        found = head.first_objects[0][METADATA_KEY]
    else:
        return None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a file of top lists. See `format.Read`."""
    roles = ColumnRoles.from_mapping(mapping, head.file, tuple(TOPK_COLUMN_JUDGES))
    info, told = RunInfo(), TopKMetadata()
    canonical = _stored_metadata(head) is not None
    if canonical:
        metadata = checked_metadata(head, TOKENS_FORMAT, TOKENS_VERSION)
        info = run_info_from_metadata(metadata, head.file)
        classes = _positive_integer(metadata, "vocab_size", head.file)
        columns = read_column_sums(head, metadata.get("column_sums"), classes)
        told = TopKMetadata(classes, _positive_integer(metadata, "k", head.file), columns)
    layout = _guess_dialect(head.content, roles) if head.kind == "text" else COMMAS
    table = open_table(head, roles.is_used, int(canonical and head.kind == "json lines"), layout)
    if table.columns is not None:
        roles.check_columns_exist(table.columns, head.file)
    slices = TopKCollector(Origin(head.file, TOPK.id, info), told, head.content.checksum())
    done = 0.0
    for whole in table.slices:
        for part in split_slice(whole, done):
            slices.add(part, {column: name for column in part.columns if (name := roles.role(column))})
            progress(part.share, f"{slices.n_rows:,} positions read")
        done = whole.share
    columns = tuple(table.found_keys) if table.columns is None else table.columns
    if not slices.n_rows:
        raise Refused(f"{head.file} has the columns {column_list_text(columns)} and no rows below them.")
    roles.check_columns_exist(columns, head.file)

    def fits(candidates: Sequence[str], name: str) -> bool:
        return looks_like(first_values(head, layout, candidates), name)

    reading = replace(
        slices.reading(),
        columns=columns,
        unused_columns=roles.unused_columns(columns),
        proposed_mapping=MappingProxyType(roles.propose(columns, fits)),
    )
    refusal = _missing_columns_message(roles, columns, told, head.file) or reading.refusal
    return replace(reading, good_runs=() if refusal else reading.good_runs, refusal=refusal)


def _positive_integer(metadata: Mapping[str, object], name: str, file: str) -> int | None:
    value = metadata.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise Refused(f"{file}: {name!r} in its metadata cannot be {shorten(repr(value))}. Mend or remove it.")


def _guess_dialect(data: Content, roles: ColumnRoles) -> CsvDialect:
    """The layout whose header holds the most columns that are read."""
    return max(DIALECTS, key=lambda layout: sum(map(roles.is_used, header_of(data, layout))))


def _missing_columns_message(
    roles: ColumnRoles, columns: Sequence[str], metadata: TopKMetadata, file: str
) -> str | None:
    """Why nothing can be read from these columns, and what to do; None where all that is needed is there."""
    there = set(map(roles.role, columns))
    absent = [name for name in REQUIRED_COLUMNS if name not in there]
    if absent:
        return (
            f"{file} looks like token-level top lists and has no column {absent[0]!r}; its columns are "
            f"{column_list_text(columns)}. A row a position needs target, top_ids, top_logprobs and vocab_size, and "
            f"target_logprob where the list may lack the target. Say what a column means: "
            f"--map COLUMN={absent[0]}"
        )
    if metadata.vocab_size is None and "vocab_size" not in there:
        return (
            f"{file} does not say how many classes each position has, and Full-ECE counts them all. Add a "
            f"column vocab_size with the number of columns of the model's output layer (which may be more "
            f"than the tokenizer's vocabulary), or say which column it is: --map COLUMN=vocab_size"
        )
    return None


TOPK: Final = Format(
    "topk",
    "token-level top lists (JSON lines, Parquet or CSV)",
    "a target and lists of the likeliest tokens",
    recognises,
    read,
)
