"""Reads top-k files: the most likely tokens of each position with the token that followed.

One row per position, as JSON lines, Parquet, Arrow or delimited text, with or without the canonical metadata.
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

from calib_core.advice import Advice, to_say
from calib_core.errors import Refused, cell_lines, shorten
from calib_core.readers.companions import COLUMN_SUMS_SUFFIX
from calib_core.readers.content import Content
from calib_core.readers.file_access import is_in_same_folder, open_regular_file
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.table.candidates import spelled_candidates
from calib_core.readers.table.canonical import METADATA_KEY, checked_metadata, run_info_from_metadata
from calib_core.readers.table.cells import CellFault, faults_where
from calib_core.readers.table.columnar import COLUMNAR_KINDS
from calib_core.readers.table.columns import ColumnRoles, column_list_text
from calib_core.readers.table.csv_reader import COMMAS, DIALECTS, CsvDialect, header_of
from calib_core.readers.table.first_rows import first_values
from calib_core.readers.table.list_cells import EXACT_SUM_TOLERANCE
from calib_core.readers.table.raw import ROWS_PER_SLICE, ReadProgress, Slice
from calib_core.readers.table.reader import open_table
from calib_core.readers.table.rows import RowCollector
from calib_core.readers.table.run_split import (
    Origin,
    file_stem,
    fill_run_columns,
    run_info_from_rows,
    unique_label,
)
from calib_core.readers.token.alignment import TopListAlignment
from calib_core.readers.token.arrays import MAX_TOKEN_CLASSES, StoredArray
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

# --- Sums by class ------------------------------------------------------------
#
# The metadata may name a file `X.columns.npy`: K sums of p over all positions, as a NumPy array.


def read_column_sums(head: Head, name: object, n_classes: int | None) -> NDArray[np.float64] | None:
    """Sum of p over all positions for every class, from the file that the metadata names.

    Parameters
    ----------
    head : Head
        The beginning of the top-k file.
    name : object
        The file's name as in the metadata; None where it names no file.
    n_classes : int or None
        K; None where the metadata does not say.

    Returns
    -------
    NDArray[np.float64] or None, shape (K,)
        Read-only; None where the metadata names no file.

    Raises
    ------
    Refused
        If the file is missing or does not hold such sums.
    """
    if name is None:
        return None
    path = _column_sums_path(head, name)
    with open_regular_file(path, path.name) as stream:
        array = StoredArray.from_stream(stream, os.fstat(stream.fileno()).st_size, path.name, "column_sums")
        is_float_vector = array.dtype.kind == "f" and array.dtype.itemsize <= 8 and len(array.shape) == 1
        if (
            not is_float_vector
            or not 0 < array.shape[0] <= MAX_TOKEN_CLASSES
            or n_classes not in (None, array.shape[0])
        ):
            raise Refused(
                f"{path.name}: one sum per class is expected, floating-point numbers of the shape "
                f"({n_classes or 'K'},), and it holds {array.dtype} of the shape {array.shape}."
            )
        sums = array.read_all().astype(np.float64)
    if not bool(np.all(np.isfinite(sums) & (sums >= 0))):
        raise Refused(f"{path.name}: sums of probabilities are finite and not below 0: some here are not.")
    sums.flags.writeable = False
    return sums


def _column_sums_path(head: Head, name: object) -> Path:
    """The file of that name in the folder of the list. Raises Refused for any other place."""
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


# --- Runs ---------------------------------------------------------------------

MAX_RUNS: Final = 100
"""Limit for the runs of a file, since each has sums whose size does not depend on its positions."""


class TokenRunBuilder:
    """One run whose positions are added slice by slice.

    Parameters
    ----------
    seed : int
        Seed of the null draws.
    metadata : TopKMetadata
        The file's metadata.
    """

    def __init__(self, seed: int, metadata: TopKMetadata) -> None:
        self.n_rows = self.n_left_out = self.n_padding = self.n_inexact_sums = 0
        self.n_classes = 0
        self.clipped = Counter[str]()
        self._seed = seed
        self._column_sums = metadata.column_sums
        self._info_values: dict[str, dict[object, None]] = {}
        self._seen_positions = set[int]()
        self._alignment = TopListAlignment()
        self._reducer: TopKReducer | None = None

    def vocabulary_faults(self, records: NDArray[np.int64], classes: NDArray[np.int64]) -> list[CellFault]:
        """Records whose vocabulary size differs from that of the run's first record.

        Parameters
        ----------
        records : NDArray[np.int64]
            Indices of the run's records in the slice.
        classes : NDArray[np.int64], shape (rows,)
            Vocabulary size of every record of the slice; 0 where it is missing.
        """
        known = records[classes[records] > 0]
        if known.size and not self.n_classes:
            self.n_classes = int(classes[known[0]])
        is_wrong = np.zeros(classes.size, np.bool_)
        is_wrong[known] = classes[known] != self.n_classes
        expected = f"{self.n_classes}, as in the run's first row"
        fix = "Give runs with different vocabularies different names (model, dataset, shots or checkpoint)."
        kind = "another size of the vocabulary"
        return list(faults_where(pl.Series(classes), pl.Series(is_wrong), kind, expected, fix))

    def repeated_position_faults(self, values: JudgedSlice, records: NDArray[np.int64]) -> list[CellFault]:
        """Records whose (doc, position) occurred before in the run.

        Parameters
        ----------
        values : JudgedSlice
            The slice.
        records : NDArray[np.int64]
            Indices of the run's records that are good so far.
        """
        if not {"doc", "position"} <= values.columns.keys():
            return []
        key = pl.DataFrame({name: values.columns[name] for name in ("doc", "position")})[records]
        is_complete = key.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        is_repeated = np.zeros(values.n_rows, np.bool_)
        hashes = key.hash_rows().filter(is_complete).to_list()
        for record, hash_ in zip(records[is_complete.to_numpy()].tolist(), hashes, strict=True):
            is_repeated[record] = hash_ in self._seen_positions
            self._seen_positions.add(hash_)
        expected = "each position of a document once in a run"
        fix = "Give other runs another model, dataset, shots or checkpoint."
        shown = pl.select(pl.format("{}, {}", values.columns["doc"], values.columns["position"])).to_series()
        return list(faults_where(shown, pl.Series(is_repeated), "repeated position", expected, fix))

    def add_info(self, values: JudgedSlice, records: NDArray[np.int64]) -> None:
        """Collects what these records, whose run is known, say of the run."""
        for name in INFO_COLUMNS:
            if name in values.columns:
                collected = self._info_values.setdefault(name, {})
                found = values.columns[name].gather(records).drop_nulls().unique(maintain_order=True).head(3)
                collected.update(dict.fromkeys(found.to_list()))

    def add_positions(self, lists: TopLists, values: JudgedSlice, offset: int) -> None:
        """Adds good positions; offset: number of records in the file before this slice."""
        if not lists.records.size:
            return
        if self._reducer is None:
            sums = self._column_sums
            has_sums = sums is not None and sums.size == self.n_classes
            self._reducer = TopKReducer(self.n_classes, self._seed, sums if has_sums else None)
        text = values.columns.get("text", values.columns.get("doc"))
        self._reducer.add(lists.as_topk(offset, text))
        self.n_inexact_sums += int(np.count_nonzero(lists.sum_error > EXACT_SUM_TOLERANCE))
        self._alignment.add(lists, values.columns.get("doc"), values.columns.get("position"))
        for column, rows in values.clipped_positions.items():
            self.clipped[column] += int(np.isin(rows, lists.records).sum())

    def count_records(self, is_bad: NDArray[np.bool_], is_padding: NDArray[np.bool_]) -> None:
        """Counts records of the run; is_bad and is_padding have one entry for each."""
        self.n_padding += int(is_padding.sum())
        self.n_rows += int((~is_padding).sum())
        self.n_left_out += int((is_bad & ~is_padding).sum())

    def build_run(self, origin: Origin, used_labels: set[str]) -> TokenRun | None:
        """The run; None if none of its positions can be used."""
        info_values = {name: [*values, None, None, None][:3] for name, values in self._info_values.items()}
        info, notes = run_info_from_rows(pl.DataFrame(info_values, strict=False), origin.info)
        label = unique_label(info.label(file_stem(origin.file)), used_labels)
        if self._reducer is None:
            return None
        if self.n_padding:
            notes += (
                f"{self.n_padding:,} targets are −100, which is padding: these rows are not positions.",
            )
        sums = self._reducer.result()
        if n_incomplete := self.n_rows - self.n_left_out - sums.n_rows:
            lacking = "a target, an entry of the top list or the size of the vocabulary"
            notes += (f"{plural(n_incomplete, 'position')} without {lacking}: not used.",)
        row_counts = RowCounts(
            n_rows=self.n_rows,
            n_left_out=self.n_left_out,
            clipped=MappingProxyType({column: count for column, count in self.clipped.items() if count}),
            n_inexact_sums=self.n_inexact_sums,
            notes=notes + tuple(filter(None, [self._alignment.shift_note])),
        )
        return TokenRun(origin.file, origin.format, label, info, sums, row_counts)


class TokenRunBuilders:
    """The runs of one file.

    Parameters
    ----------
    origin : Origin
        File, format and whatever applies to all runs.
    metadata : TopKMetadata
        The file's metadata.
    seed : int
        Seed of the first run's null draws; each further run adds 1.
    """

    def __init__(self, origin: Origin, metadata: TopKMetadata, seed: int) -> None:
        self._origin = origin
        self._first_seed = seed
        self._metadata = metadata
        self._builders: dict[tuple[object, ...], TokenRunBuilder] = {}

    @property
    def builders(self) -> tuple[TokenRunBuilder, ...]:
        """The runs in the order of their first record."""
        return tuple(self._builders.values())

    def split_records(
        self, values: JudgedSlice, is_run_unknown: NDArray[np.bool_]
    ) -> list[tuple[TokenRunBuilder, NDArray[np.int64]]]:
        """The runs that occur in a slice, each with the ascending indices of its records.

        Parameters
        ----------
        values : JudgedSlice
            The slice.
        is_run_unknown : NDArray[np.bool_], shape (rows,)
            Records that cannot be assigned to a run.

        Raises
        ------
        Refused
            If the file has more than `MAX_RUNS` runs.
        """
        run_columns = fill_run_columns(values.run_columns, self._origin.info)
        run_columns = run_columns.with_columns(
            pl.lit(None).alias(name) for name in RUN_COLUMNS if name not in run_columns.columns
        )
        grouped = (
            run_columns.filter(pl.Series(~is_run_unknown))
            .group_by(RUN_COLUMNS, maintain_order=True)
            .agg("row")
        )
        runs: list[tuple[TokenRunBuilder, NDArray[np.int64]]] = []
        for key, rows in zip(grouped.select(RUN_COLUMNS).iter_rows(), grouped["row"], strict=True):
            if key not in self._builders:
                self._builders[key] = TokenRunBuilder(self._first_seed + len(self._builders), self._metadata)
            runs.append((self._builders[key], rows.to_numpy()))
        if len(self._builders) > MAX_RUNS:
            raise Refused(
                f"{self._origin.file} holds more than {MAX_RUNS} runs: its rows differ in model, dataset, "
                f"shots or checkpoint. Give rows of one run the same names, or split the file."
            )
        return runs


# --- Positions, judged slice by slice -----------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RecordMarks:
    """What is known of the records of one slice; arrays of shape (rows,).

    Attributes
    ----------
    is_bad : NDArray[np.bool_]
        Records that are left out.
    is_run_unknown : NDArray[np.bool_]
        Records that cannot be assigned to a run.
    is_padding : NDArray[np.bool_]
        Records that are padding, not positions.
    """

    is_bad: NDArray[np.bool_]
    is_run_unknown: NDArray[np.bool_]
    is_padding: NDArray[np.bool_]


class TopKCollector:
    """Judges the positions of one file slice by slice, and adds them up run by run.

    Parameters
    ----------
    origin : Origin
        File, format and whatever applies to all runs.
    metadata : TopKMetadata
        The file's metadata.
    seed : int
        Seed of the null draws, different for different files.
    """

    def __init__(self, origin: Origin, metadata: TopKMetadata, seed: int) -> None:
        self._origin = origin
        self._metadata = metadata
        self._collected = RowCollector(origin.file)
        self._runs = TokenRunBuilders(origin, metadata, seed)
        self._n_run_unknown = 0
        self._unreadable: dict[str, list[str]] = {}

    @property
    def n_rows(self) -> int:
        """Number of records so far."""
        return self._collected.n_rows

    def add(self, part: Slice, roles: Mapping[str, str]) -> None:
        """Adds one slice.

        Parameters
        ----------
        part : Slice
            The slice.
        roles : Mapping[str, str]
            File column → name in `TOPK_COLUMN_JUDGES`.
        """
        offset = self._collected.n_rows
        self._collected.add(part, {})
        values = judge_topk_slice(part, roles)
        for column, texts in values.unreadable.items():
            self._unreadable.setdefault(column, []).extend(texts)
        marks = self._mark_records(part, values, offset)
        self._n_run_unknown += int(marks.is_run_unknown.sum())
        runs = self._runs.split_records(values, marks.is_run_unknown)
        classes = values.integers("vocab_size", self._metadata.vocab_size or 0)
        for run, records in runs:
            run.add_info(values, records)
            usable = records[~marks.is_bad[records] & ~marks.is_padding[records]]
            self._mark_bad(values, marks.is_bad, "vocab_size", run.vocabulary_faults(usable, classes), offset)
        lists, faults = check_positions(
            top_lists_of(values, ~marks.is_bad & ~marks.is_padding, self._metadata), self._metadata
        )
        for name, fault in faults:
            self._mark_bad(values, marks.is_bad, name, [fault], offset)
        for run, records in runs:
            own = lists.select(np.isin(lists.records, records))
            self._mark_bad(
                values, marks.is_bad, "position", run.repeated_position_faults(values, own.records), offset
            )
            run.add_positions(own.select(~marks.is_bad[own.records]), values, offset)
            run.count_records(marks.is_bad[records], marks.is_padding[records])

    def reading(self) -> Reading:
        """The reading of the whole file, except for what depends on its columns."""
        collected = self._collected
        if len(self._runs.builders) == 1:
            self._runs.builders[0].n_rows += self._n_run_unknown
            self._runs.builders[0].n_left_out += self._n_run_unknown
        used_labels: set[str] = set()
        built = [run.build_run(self._origin, used_labels) for run in self._runs.builders]
        runs = tuple(run for run in built if isinstance(run, TokenRun))
        return Reading(
            file=self._origin.file,
            format=self._origin.format,
            n_rows=collected.n_rows,
            n_bad_rows=int(collected.is_bad.sum()),
            problems=collected.problems,
            good_runs=runs,
            columns=(),
            unused_columns=(),
            notes=self._run_notes(len(built), len(runs)),
            refusal=None if runs else self._nothing_usable_message(),
        )

    def _mark_records(self, part: Slice, values: JudgedSlice, offset: int) -> RecordMarks:
        """The marks that follow from each value of a slice by itself; faults are recorded."""
        padding = (values.columns["target"] == PADDING_TARGET).fill_null(value=False).to_numpy()
        marks = RecordMarks(np.zeros(part.n_rows, np.bool_), np.zeros(part.n_rows, np.bool_), padding)
        broken = [record.position for record in part.broken]
        marks.is_bad[broken] = marks.is_run_unknown[broken] = True
        columns = {column: name for name, column in values.source_columns.items()}
        for column, fault in values.faults:
            is_run_column = columns[column] in RUN_COLUMNS
            # In a padding row only the run's columns matter.
            is_relevant = ~padding[fault.positions] | is_run_column
            shown = tuple(text for text, keep in zip(fault.examples, is_relevant, strict=False) if keep)
            relevant = replace(fault, positions=fault.positions[is_relevant], examples=shown)
            self._mark_bad(values, marks.is_bad, columns[column], [relevant], offset)
            if is_run_column:
                marks.is_run_unknown[relevant.positions] = True
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
        """Records faults and marks their records as bad; name: canonical name of the column."""
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
        if self._n_run_unknown and n_runs > 1:
            bad = (
                f"{self._n_run_unknown:,} bad rows belong" if self._n_run_unknown > 1 else "1 bad row belongs"
            )
            notes.append(f"{bad} to none of the runs, because what is said there of the run is bad.")
        for column, texts in self._unreadable.items():
            shown = ", ".join(list(dict.fromkeys(texts))[:3])
            count = plural(len(texts), "row")
            notes.append(f"{column} cannot be read as a number in {count} ({shown}) and is unknown there.")
        return tuple(notes)

    def _nothing_usable_message(self) -> str:
        """Why a file without a single usable position cannot be used."""
        cells = [cell for problem in self._collected.problems for cell in problem.first_cells[:3]][:4]
        listed = "".join(f"\n{line}" for line in cell_lines(cells))
        return (
            f"{self._origin.file}: none of its {self.n_rows:,} rows is a position that can be used: each "
            f"needs a target, a top list and the size of the vocabulary.{listed}"
        )


def split_slice(part: Slice, share_before: float) -> Iterator[Slice]:
    """Pieces of a slice of at most `ROWS_PER_SLICE` rows, so that their flattened lists need little memory.

    Delimited text comes in larger slices. share_before: share of the file before the slice, in [0, 1].
    """
    if part.n_rows <= ROWS_PER_SLICE:
        yield part
        return
    for start in range(0, part.n_rows, ROWS_PER_SLICE):
        columns = {name: values.slice(start, ROWS_PER_SLICE) for name, values in part.columns.items()}
        n_rows = min(ROWS_PER_SLICE, part.n_rows - start)
        share = share_before + (part.share - share_before) * (start + n_rows) / part.n_rows
        yield Slice(n_rows, columns, None, share)


def _unequal_length_faults(values: JudgedSlice, is_judged: NDArray[np.bool_]) -> tuple[CellFault, ...]:
    """Records whose two lists have different lengths."""
    ids, logs = (values.columns[name].list.len() for name in ("top_ids", "top_logprobs"))
    shown = pl.select(pl.format("{} instead of {}", logs, ids)).to_series()
    return faults_where(
        shown,
        (ids != logs).fill_null(value=False) & pl.Series(is_judged),
        "lists of different lengths",
        "as many entries as top_ids",
        "Write one log-probability for each class of the list.",
    )


# --- The format ---------------------------------------------------------------

TOKENS_FORMAT: Final = "calib-tokens"
TOKENS_VERSION: Final = 1

_TOPK_COLUMNS: Final = {"top_ids", "top_logprobs"}
"""Columns by which such a file is recognised."""


def recognises(head: Head) -> bool:
    """Whether the file holds top-k lists: by its canonical metadata if it has any, else by its columns."""
    stored = _stored_metadata(head)
    if stored is not None:
        return stored.get("format") == TOKENS_FORMAT
    if head.kind == "text":
        return any({*header_of(head.content, dialect)} >= _TOPK_COLUMNS for dialect in DIALECTS)
    return {*head.names} >= _TOPK_COLUMNS or any(
        record.keys() >= _TOPK_COLUMNS for record in head.first_objects
    )


def _stored_metadata(head: Head) -> Mapping[str, object] | None:
    """The canonical metadata; {} where it cannot be read, None where there is none."""
    stored: object
    if METADATA_KEY in (head.metadata or {}):
        try:
            stored = json.loads((head.metadata or {})[METADATA_KEY])
        except ValueError:
            return {}
    elif head.kind == "json lines" and head.first_objects and set(head.first_objects[0]) == {METADATA_KEY}:
        stored = head.first_objects[0][METADATA_KEY]
    else:
        return None
    return cast("Mapping[str, object]", stored) if isinstance(stored, dict) else {}


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs of a top-k file. See `Format.read`."""
    roles = ColumnRoles.from_mapping(options.columns, head.file, tuple(TOPK_COLUMN_JUDGES))
    info, topk_metadata = RunInfo(), TopKMetadata()
    canonical = _stored_metadata(head) is not None
    if canonical:
        metadata = checked_metadata(head, TOKENS_FORMAT, TOKENS_VERSION)
        info = run_info_from_metadata(metadata, head.file)
        classes = _positive_integer(metadata, "vocab_size", head.file)
        columns = read_column_sums(head, metadata.get("column_sums"), classes)
        topk_metadata = TopKMetadata(classes, _positive_integer(metadata, "k", head.file), columns)
    dialect = _guess_dialect(head.content, roles) if head.kind == "text" else COMMAS
    table = open_table(head, roles.is_used, int(canonical and head.kind == "json lines"), dialect)
    if table.columns is not None:
        roles.check_columns_exist(table.columns, head.file)
    collector = TopKCollector(Origin(head.file, TOPK.id, info), topk_metadata, head.checksum)
    share_before = 0.0
    for unsplit in table.slices:
        for part in split_slice(unsplit, share_before):
            collector.add(part, {column: name for column in part.columns if (name := roles.role(column))})
            progress(part.share, f"{collector.n_rows:,} positions read")
        share_before = unsplit.share
    columns = tuple(table.found_keys) if table.columns is None else table.columns
    if not collector.n_rows:
        raise Refused(f"{head.file} has the columns {column_list_text(columns)} but no rows.")
    roles.check_columns_exist(columns, head.file)

    free = roles.unused_columns(columns)
    values = dict(zip(free, first_values(head, dialect, free), strict=True))
    reading = replace(
        collector.reading(),
        columns=columns,
        unused_columns=roles.unused_columns(columns),
        candidates=spelled_candidates(values, TOPK_COLUMN_JUDGES, roles.used_roles(columns).values()),
    )
    refusal = _missing_columns_message(roles, columns, topk_metadata, head.file) or reading.refusal
    return replace(reading, good_runs=() if refusal else reading.good_runs, refusal=refusal)


def _positive_integer(metadata: Mapping[str, object], name: str, file: str) -> int | None:
    value = metadata.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise Refused(f"{file}: {name!r} in its metadata cannot be {shorten(repr(value))}. Correct or remove it.")


def _guess_dialect(data: Content, roles: ColumnRoles) -> CsvDialect:
    """The dialect whose header has the most columns that are used."""
    return max(DIALECTS, key=lambda dialect: sum(map(roles.is_used, header_of(data, dialect))))


def _missing_columns_message(
    roles: ColumnRoles, columns: Sequence[str], metadata: TopKMetadata, file: str
) -> str | None:
    """What is missing in these columns and what to do; None where the file can be read."""
    present = set(map(roles.role, columns))
    missing = [name for name in REQUIRED_COLUMNS if name not in present]
    if missing:
        return (
            f"{file} looks like token-level top lists and has no column {missing[0]!r}; its columns are "
            f"{column_list_text(columns)}. Each row (position) needs target, top_ids, top_logprobs and "
            "vocab_size, and target_logprob where the list may lack the target. Say "
            f"{to_say('what a column means', Advice(columns={'COLUMN': missing[0]}))}"
        )
    if metadata.vocab_size is None and "vocab_size" not in present:
        return (
            f"{file} does not say how many classes each position has, and Full-ECE counts them all. Add a "
            f"column vocab_size with the number of columns of the model's output layer (which may be more "
            f"than the tokenizer's vocabulary), or say "
            f"{to_say('which column it is', Advice(columns={'COLUMN': 'vocab_size'}))}"
        )
    return None


TOPK: Final = Format(
    "topk",
    "token-level top lists (JSON lines, Parquet, Arrow or CSV)",
    "a target and lists of the likeliest tokens",
    frozenset({*JSON_KINDS, *COLUMNAR_KINDS, "text"}),
    recognises,
    read,
)
