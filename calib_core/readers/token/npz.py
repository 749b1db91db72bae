"""Reads saved NumPy arrays: the distribution at every position of a text, or answers to questions.

Either one archive (NPZ) of `probs` (or `logprobs`, `logits`), `target` and perhaps `text`, or a pair of files
`X.probs.npy` and `X.target.npy`, which may have been written as memory maps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import repeat
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, cast
from zipfile import ZipInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import Advice, to_say
from calib_core.errors import BadCell, Problem, Refused, cell_lines, shorten
from calib_core.readers.archives import npy_members, open_archive, open_member
from calib_core.readers.companions import ARRAY_SCALES, ArrayFiles, array_files_of, main_file_of
from calib_core.readers.content import Content
from calib_core.readers.file_access import open_regular_file, read_bytes
from calib_core.readers.format import Format, Head, Reading, ReadOptions
from calib_core.readers.table.canonical import run_info_from_metadata
from calib_core.readers.table.columns import COLUMN_JUDGES, ROW_NUMBER, ColumnRoles, column_list_text
from calib_core.readers.table.group_columns import GroupColumns
from calib_core.readers.table.raw import ROWS_PER_SLICE, RawTable, ReadProgress, Slice, ignore_progress
from calib_core.readers.table.reader import read_table
from calib_core.readers.table.run_split import Origin, file_stem
from calib_core.readers.token.alignment import DenseAlignment
from calib_core.readers.token.arrays import BLOCK_BYTES, MAX_TOKEN_CLASSES, StoredArray
from calib_core.runs import RowCounts, TokenRun
from calib_core.tokens.dense import LONG_BLOCK_ROWS, DenseReducer, load_compiled, scanned_dtype
from calib_core.tokens.null_draws import NullSampler
from calib_core.tokens.row_checks import PositionProblem
from calib_core.tokens.scales import ProbabilityScale
from calib_core.tokens.sums import MergeTree, TokenSums
from calib_core.tokens.texts import text_numbers
from calib_core.wording import all_are

# --- Roles of arrays ----------------------------------------------------------
#
# Where the roles are ambiguous, the user is asked to map an array.

METADATA_ARRAY: Final = "meta"
"""The array with the canonical metadata, JSON text that describes the run."""

TARGET_ARRAY: Final = "target"

TEXT_ARRAY: Final = "text"
"""The array with the text that each position came from."""

TOKEN_TARGET_NAMES: Final = ("token_ids", "input_ids")
"""Other names of the right classes that occur in token-level files only."""
AMBIGUOUS_TARGET_NAMES: Final = ("targets", "labels", "y")
"""Other names that files of answers also use for their right choices."""
GOLD_NAMES: Final = ("gold", "gold_index")

MAX_CHOICES_OF_A_QUESTION: Final = 256
"""With more classes, rows are positions of a text: no question has so many choices."""


def _array_names_advice() -> str:
    return (
        "A token-level file holds probs (or logprobs, logits) and target, one row per position; a file of "
        "answers holds probs and gold, one row per question, or arrays such as confidence and correct. "
        f"Say {to_say('what an array means', Advice(columns={'NAME': 'probs'}))}"
    )


@dataclass(frozen=True, slots=True)
class TokenArrayNames:
    """Names of the arrays of a token-level file.

    Attributes
    ----------
    values : str
        The array of distributions.
    scale : ProbabilityScale
        What its values are.
    target : str
        The array of right classes.
    text : str or None
        The array of texts; None where the file does not say which text a position came from.
    """

    values: str
    scale: ProbabilityScale
    target: str
    text: str | None = None


def find_token_arrays(
    file: str,
    names: tuple[str, ...],
    mapping: Mapping[str, str],
    metadata: Mapping[str, Any],
    open_array: Callable[[str], StoredArray],
) -> TokenArrayNames | None:
    """The names of a token-level file's arrays; None where the file holds answers.

    Parameters
    ----------
    file : str
        The file's name, for messages.
    names : tuple[str, ...]
        Names of all arrays.
    mapping : Mapping[str, str]
        Array → role, as the user wants it; "" leaves an array out.
    metadata : Mapping[str, Any]
        The file's metadata; {} without any.
    open_array : Callable[[str], StoredArray]
        Opens one array.

    Raises
    ------
    Refused
        If a mapped array is missing, no array is known, or several readings are possible.
    """
    numbers_rows = ROW_NUMBER if mapping.get(ROW_NUMBER) == "id" else ""
    if missing := [name for name, role in mapping.items() if role and name not in (*names, numbers_rows)]:
        raise Refused(f"{file} has no array {missing[0]!r}. Its arrays are {column_list_text(names)}.")
    array_roles = {name: mapping.get(name, name) for name in names if name != METADATA_ARRAY}
    values: list[tuple[str, ProbabilityScale]] = [
        (name, scale) for scale in ARRAY_SCALES for name, role in array_roles.items() if role == scale
    ]
    are_questions = not set(GOLD_NAMES).isdisjoint(mapping.values())  # whatever the metadata says
    if not values or not _is_token_level(
        file, array_roles, {} if are_questions else metadata, lambda: open_array(values[0][0])
    ):
        if not values and not any(role in COLUMN_JUDGES for role in array_roles.values()):
            raise Refused(
                f"{file} holds the arrays {column_list_text(names)}, none of which is recognised. "
                f"{_array_names_advice()}"
            )
        return None
    if len(values) > 1:
        raise Refused(
            f"{file} holds {' and '.join(repr(name) for name, _ in values)}, but only one of them is read. "
            f"Leave the others out: {Advice(columns={name: '' for name, _ in values[1:]})}"
        )
    texts = [name for name, role in array_roles.items() if role == TEXT_ARRAY]
    if len(texts) > 1:
        raise _one_of_several(file, texts, TEXT_ARRAY)
    return TokenArrayNames(*values[0], _target_array(file, array_roles), next(iter(texts), None))


def _is_token_level(
    file: str,
    array_roles: Mapping[str, str],
    metadata: Mapping[str, Any],
    open_values: Callable[[], StoredArray],
) -> bool:
    """Whether the rows are positions of a text rather than questions."""
    roles = set(array_roles.values())
    stored_format = metadata.get("format")
    if stored_format in ("calib-tokens", "calib-answers"):
        return stored_format == "calib-tokens"
    targets = roles & {TARGET_ARRAY, *TOKEN_TARGET_NAMES}
    golds = sorted(roles & set(GOLD_NAMES))
    if targets and golds:
        raise Refused(
            f"{file} holds both {min(targets)!r} (positions of a text) and {golds[0]!r} (answers to "
            f"questions). Leave one out: {Advice(columns={golds[0]: ''})} or "
            f"{Advice(columns={min(targets): ''})}"
        )
    if targets or golds:
        return not golds
    ambiguous = [name for name, role in array_roles.items() if role in AMBIGUOUS_TARGET_NAMES]
    if not ambiguous:
        return not roles & set(COLUMN_JUDGES)
    if open_values().shape[-1:] > (MAX_CHOICES_OF_A_QUESTION,):
        return True
    raise Refused(
        f"{file}: {ambiguous[0]!r} may be the right class of each position of a text, or the right choice of "
        f"each question. Say which: {Advice(columns={ambiguous[0]: TARGET_ARRAY})} or "
        f"{Advice(columns={ambiguous[0]: 'gold'})}"
    )


def _target_array(file: str, array_roles: Mapping[str, str]) -> str:
    """Name of the array of right classes."""
    exact = [name for name, role in array_roles.items() if role == TARGET_ARRAY]
    alternatives = [
        name for name, role in array_roles.items() if role in (*TOKEN_TARGET_NAMES, *AMBIGUOUS_TARGET_NAMES)
    ]
    candidates = exact or alternatives
    if not candidates:
        raise Refused(
            f"{file} has no target: the class that is right at each position. {_array_names_advice()}"
        )
    if len(candidates) > 1:
        raise _one_of_several(file, candidates, TARGET_ARRAY)
    return candidates[0]


def _one_of_several(file: str, names: Sequence[str], role: str) -> Refused:
    return Refused(
        f"{file} holds {column_list_text(names)}, and one of them is the {role}. Say which: "
        f"{' or '.join(str(Advice(columns={name: role})) for name in names)}"
    )


# --- Answers to questions: one array per column, one row per question ---------

MAX_ANSWER_BYTES: Final = 2**28
"""Limit for the arrays of answers, which are all kept in memory."""

MAX_GROUP_NAME_BYTES: Final = 2**24
"""Limit for an array that may hold the names of groups; larger ones are ignored."""

_TABLE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "probs": "choice_probs",
        "logprobs": "choice_logprobs",
        "logits": "choice_logits",
        "target": "gold",
    }
)
"""Name of an array → name of the table's column."""


def read_answers(
    head: Head,
    names: Sequence[str],
    mapping: Mapping[str, str],
    open_array: Callable[[str], StoredArray],
    origin: Origin,
    progress: ReadProgress,
) -> Reading:
    """The runs of arrays with one row per question.

    Parameters
    ----------
    head : Head
        The beginning of the file.
    names : Sequence[str]
        Names of the arrays to read.
    mapping : Mapping[str, str]
        Array → role, as the user wants it.
    open_array : Callable[[str], StoredArray]
        Opens one array.
    origin : Origin
        File, format and run that the rows belong to.
    progress : ReadProgress
        Called with the share of the work that is done.

    Raises
    ------
    Refused
        If the arrays are not columns of one table, or the table cannot be used.
    """
    array_roles = {name: mapping.get(name, name) for name in names}
    known = {
        name: _TABLE_NAMES.get(role, role)
        for name, role in array_roles.items()
        if name in mapping or role in _TABLE_NAMES
    }
    if mapping.get(ROW_NUMBER) == "id":
        known[ROW_NUMBER] = "id"
    roles = ColumnRoles.from_mapping(known, head.file)
    used = [open_array(name) for name in names if roles.is_used(name)]
    _check_answer_arrays(head.file, used)
    n_rows = used[0].shape[0] if used else 0
    others = [open_array(name) for name in names if name not in known and not roles.is_used(name)]
    groups = GroupColumns(roles)
    arrays = [*used, *(other for other in others if _may_group(other, n_rows))]
    return read_table(RawTable(tuple(names), _array_slices(arrays, n_rows)), head, groups, progress, origin)


def _may_group(array: StoredArray, n_rows: int) -> bool:
    """Whether an array of unknown role may hold the name of a group for each row."""
    return (
        array.dtype.kind in "iubU"
        and array.shape == (n_rows,)
        and n_rows * array.dtype.itemsize <= MAX_GROUP_NAME_BYTES
    )


def _check_answer_arrays(file: str, arrays: Sequence[StoredArray]) -> None:
    """Raises Refused where arrays are not columns of one table, before any of them is read."""
    for array in arrays:
        if array.dtype.kind not in "fiubU" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
            raise Refused(f"{file}: {array.name!r} holds {array.dtype}, but numbers or text are expected.")
        if len(array.shape) not in (1, 2):
            raise Refused(
                f"{file}: {array.name!r} has the shape {array.shape}, but one value or one list per "
                "question is expected."
            )
        if array.shape[0] != arrays[0].shape[0]:
            raise Refused(
                f"{file}: {arrays[0].name!r} has {arrays[0].shape[0]:,} rows and {array.name!r} has "
                f"{array.shape[0]:,}, but both need one row per question."
            )
    size = sum(prod(array.shape) * array.dtype.itemsize for array in arrays)
    if size > MAX_ANSWER_BYTES:
        raise Refused(
            f"{file} holds {size / 2**20:,.0f} MiB of arrays with one row per question, and at most "
            f"{MAX_ANSWER_BYTES // 2**20} MiB are read. If the rows are positions of a text, name the right "
            "classes target instead of gold."
        )


def _array_slices(arrays: Sequence[StoredArray], n_rows: int) -> Iterator[Slice]:
    columns = {array.name: _array_series(array) for array in arrays}
    for start in range(0, n_rows, ROWS_PER_SLICE):
        parts = {name: values.slice(start, ROWS_PER_SLICE) for name, values in columns.items()}
        count = min(ROWS_PER_SLICE, n_rows - start)
        yield Slice(count, parts, None, (start + count) / n_rows)


def _array_series(array: StoredArray) -> pl.Series:
    values = pl.Series(array.name, array.read_all())
    return values.cast(pl.List(values.dtype.inner)) if isinstance(values.dtype, pl.Array) else values


# --- Positions of a text, read block by block ---------------------------------

MAX_ALL_BAD_BYTES: Final = 64 * 2**20
"""Reading stops after this many bytes without a single good position."""


@dataclass(frozen=True, slots=True, eq=False)
class DensePositions:
    """The arrays of one run.

    Attributes
    ----------
    values : StoredArray
        Distributions, floats of shape (T, K).
    target : StoredArray
        Right classes, integers of shape (T,).
    scale : ProbabilityScale
        What the values are.
    origin : Origin
        File, format and run that the arrays belong to.
    label : str
        The run's label where its model and data set are not known.
    columns : tuple[str, ...]
        Names of all arrays in the file.
    text : StoredArray or None
        The text of each position, whole numbers or text of shape (T,).
    unused_columns : tuple[str, ...]
        Those that are not read.

    Raises
    ------
    Refused
        If dtype or shape of an array is wrong, or the two do not match.
    """

    values: StoredArray
    target: StoredArray
    scale: ProbabilityScale
    origin: Origin
    label: str
    columns: tuple[str, ...]
    text: StoredArray | None = None
    unused_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_values(self.values)
        _check_target(self.target, self.values.shape[0])
        if self.text is not None:
            _check_text(self.text, self.values.shape[0])

    @property
    def n_positions(self) -> int:
        """Number of positions, T."""
        return self.values.shape[0]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.values.shape[1]


def read_dense_positions(
    positions: DensePositions, progress: ReadProgress, notes: Sequence[str] = ()
) -> Reading:
    """The single run of a file.

    Parameters
    ----------
    positions : DensePositions
        The run's arrays.
    progress : ReadProgress
        Called with the share of positions read.
    notes : Sequence[str], default=()
        Notes to add to the run's own.

    Raises
    ------
    Refused
        If the arrays end early or no position is good.
    """
    return reading_of_rows(positions, _reduce_all(positions, progress), progress, notes)


def reading_of_rows(
    positions: DensePositions, reduced: ReducedRows, progress: ReadProgress, notes: Sequence[str] = ()
) -> Reading:
    """The reading of a file of which every row has been reduced; otherwise as `read_dense_positions`."""
    file, n_rows = positions.origin.file, positions.n_positions
    problems = _problems(positions, reduced.problems)
    if reduced.n_bad_rows + reduced.n_padding == n_rows:
        raise _nothing_usable(file, f"{all_are(n_rows, 'position')} bad", problems)
    progress(1.0, f"{n_rows:,} positions read")
    row_counts = RowCounts(
        n_rows=n_rows - reduced.n_padding,
        n_left_out=reduced.n_bad_rows,
        clipped=MappingProxyType({positions.values.name: reduced.n_clipped} if reduced.n_clipped else {}),
        n_inexact_sums=reduced.n_inexact_sums,
        notes=(*notes, *_position_notes(reduced.n_padding, reduced.shift_note)),
    )
    info = positions.origin.info
    run = TokenRun(file, positions.origin.format, info.label(positions.label), info, reduced.sums, row_counts)
    return Reading(
        file=file,
        format=positions.origin.format,
        n_rows=n_rows,
        n_bad_rows=reduced.n_bad_rows,
        problems=problems,
        good_runs=(run,),
        columns=positions.columns,
        unused_columns=positions.unused_columns,
        notes=row_counts.notes,
    )


# --- Blocks of rows: reduced one by one, here or elsewhere, and added up ------

REDUCED_ROWS: Final = 2**14
REDUCED_BYTES: Final = 2**28
"""Most rows and bytes of a block (at least one row). Its sums are merged with those of other blocks, so that
the last bits of a result depend on these two numbers, and on no number of processes."""


@dataclass(frozen=True, slots=True, eq=False)
class ReducedRows:
    """What consecutive rows come to; additive.

    Attributes
    ----------
    sums : TokenSums
        The sums of the good rows.
    n_padding : int
        Number of rows that are not positions.
    n_clipped, n_inexact_sums : int
        As in `DenseReducer`.
    problems : tuple[PositionProblem, ...]
        Bad rows by kind, in the order in which the kinds were first met.
    shift_note : str or None
        A warning where the targets of the file's first rows seem to be one row off.
    """

    sums: TokenSums
    n_padding: int
    n_clipped: int
    n_inexact_sums: int
    problems: tuple[PositionProblem, ...]
    shift_note: str | None

    @property
    def n_bad_rows(self) -> int:
        """Number of bad rows."""
        return sum(problem.count for problem in self.problems)

    def with_draws(self, sampler: NullSampler) -> ReducedRows:
        """The same with the draws that were made of these rows."""
        return replace(self, sums=replace(self.sums, draws=sampler.result()))

    def merge(self, other: ReducedRows) -> ReducedRows:
        """Both parts; the rows of `other` come later in the file."""
        kinds = {problem.kind: problem for problem in self.problems}
        for problem in other.problems:
            kinds[problem.kind] = kinds[problem.kind].merge(problem) if problem.kind in kinds else problem
        return ReducedRows(
            sums=self.sums.merge(other.sums),
            n_padding=self.n_padding + other.n_padding,
            n_clipped=self.n_clipped + other.n_clipped,
            n_inexact_sums=self.n_inexact_sums + other.n_inexact_sums,
            problems=tuple(kinds.values()),
            shift_note=self.shift_note or other.shift_note,
        )


def sampler_of(positions: DensePositions, *, compiled: bool) -> NullSampler:
    """No draws yet, of any rows of a file; compiled: as for `DenseReducer`."""
    return NullSampler(0, positions.n_classes, by_class=True, compiled=compiled)


def rows_per_block(values: StoredArray) -> int:
    """Number of rows of each block but the last; it depends on nothing but the array."""
    return max(1, min(REDUCED_ROWS, REDUCED_BYTES // values.row_bytes))


MIN_COMPILED_BYTES: Final = 2**27
MIN_COMPILED_POSITIONS: Final = 2**16
"""Arrays of at least this size, or so many positions, are added up by compiled code if there is any; smaller
ones do not repay the time that loading it takes (benchmarks/token_level.md)."""


def has_compiled_code(positions: DensePositions) -> bool:
    """Whether compiled code for all rows is at hand, and repays the time that loading it takes."""
    is_large = (
        positions.n_positions >= MIN_COMPILED_POSITIONS
        or positions.n_positions * positions.values.row_bytes >= MIN_COMPILED_BYTES
    )
    return is_large and load_compiled(scanned_dtype(positions.values.dtype, positions.scale))


def reduce_rows(
    values: StoredArray,
    target: StoredArray,
    scale: ProbabilityScale,
    first_row: int,
    sampler: NullSampler,
    after_part: Callable[[int, DenseReducer], None] = lambda _n_rows, _reducer: None,
    *,
    text: StoredArray | None = None,
    compiled: bool = False,
) -> ReducedRows:
    """One block, reduced to sums without draws; memory holds `BLOCK_BYTES` of it at a time.

    Parameters
    ----------
    values, target : StoredArray
        The rows of the block.
    scale : ProbabilityScale
        What the values are.
    first_row : int
        Number of rows of the file before the block.
    sampler : NullSampler
        Makes the draws of this block and of others; whole numbers add up in any order to the same.
    after_part : Callable[[int, DenseReducer], None]
        Called after every such part, with the number of rows of the block so far.
    text : StoredArray or None
        The text of each row.
    compiled : bool, default=False
        As for `DenseReducer`.

    Raises
    ------
    Refused
        If the arrays end early.
    """
    part_rows = max(1, BLOCK_BYTES // values.row_bytes)
    if part_rows > LONG_BLOCK_ROWS:  # whole blocks of rows: a few left over take nearly as long as one
        part_rows -= part_rows % LONG_BLOCK_ROWS
    reducer = DenseReducer(
        values.shape[1], scale=scale, sampler=sampler, first_row=first_row, compiled=compiled
    )
    alignment, n_read = DenseAlignment(scale), 0
    texts = repeat(None) if text is None else map(text_numbers, text.blocks(part_rows))
    for part, stored in zip(values.blocks(part_rows), target.blocks(part_rows), strict=True):
        part_target = _as_int64(stored)
        if not first_row:  # the first rows of the file are those that are examined
            alignment.add(part, part_target)
        reducer.add(part, part_target, next(texts))
        n_read += len(part_target)
        after_part(n_read, reducer)
    return ReducedRows(
        sums=reducer.result(),
        n_padding=reducer.n_padding,
        n_clipped=reducer.n_clipped,
        n_inexact_sums=reducer.n_inexact_sums,
        problems=reducer.problems,
        shift_note=alignment.shift_note,
    )


def _reduce_all(positions: DensePositions, progress: ReadProgress) -> ReducedRows:
    """All rows, reduced block by block."""
    n_rows, tree = positions.n_positions, MergeTree[ReducedRows]()
    n_bad, first_problems = 0, ()

    def after_part(n_read: int, reducer: DenseReducer) -> None:
        n_read += start
        if (
            n_bad + reducer.n_bad_rows == n_read < n_rows
            and n_read * positions.values.row_bytes >= MAX_ALL_BAD_BYTES
        ):
            reason = f"the first {n_read:,} positions are all bad, and no more were read"
            problems = _problems(positions, first_problems or reducer.problems)
            raise _nothing_usable(positions.origin.file, reason, problems)
        progress(n_read / n_rows, f"{n_read:,} of {n_rows:,} positions read")

    block_rows, compiled = rows_per_block(positions.values), has_compiled_code(positions)
    sampler = sampler_of(positions, compiled=compiled)
    for start in range(0, n_rows, block_rows):
        stop = min(start + block_rows, n_rows)
        values, target = positions.values.part(start, stop), positions.target.part(start, stop)
        text = None if positions.text is None else positions.text.part(start, stop)
        reduced = reduce_rows(
            values, target, positions.scale, start, sampler, after_part, text=text, compiled=compiled
        )
        n_bad, first_problems = n_bad + reduced.n_bad_rows, first_problems or reduced.problems
        tree.add(reduced)
    for array in (positions.values, positions.target, positions.text):
        if array is not None:
            array.finish()
    total = tree.total()
    if total is None:
        raise Refused(f"{positions.origin.file} holds no positions: its arrays are empty.")
    return total.with_draws(sampler)


def _as_int64(stored: NDArray[Any]) -> NDArray[np.int64]:
    """Targets as int64; a uint64 beyond its range becomes the largest int64, which is just as invalid."""
    if stored.dtype == np.uint64:
        stored = np.minimum(stored, np.uint64(np.iinfo(np.int64).max))
    return stored.astype(np.int64)


def _check_values(values: StoredArray) -> None:
    subject, dtype = f"{values.file}: {values.name!r}", values.dtype
    if len(values.shape) != 2:
        hint = f" Save {values.name}.reshape(-1, {values.shape[-1]})." if len(values.shape) > 2 else ""
        raise Refused(
            f"{subject} has the shape {values.shape}, but one row per position and one column per class are "
            f"expected (T × K).{hint}"
        )
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise Refused(f"{subject} holds {_dtype_text(dtype)}, but float16, float32 or float64 are expected.")
    if values.is_fortran and min(values.shape) > 1:
        raise Refused(
            f"{subject} is stored column by column (Fortran order), so no position can be read without the "
            f"others. Save numpy.ascontiguousarray({values.name})."
        )
    rows, classes = values.shape
    if not rows:
        raise Refused(f"{subject} holds no positions: its shape is {values.shape}.")
    if not 2 <= classes <= MAX_TOKEN_CLASSES:
        raise Refused(
            f"{subject} has {classes:,} classes (the second number of its shape {values.shape}), but 2 to "
            f"{MAX_TOKEN_CLASSES:,} are expected. Perhaps rows and columns are exchanged."
        )


def _check_target(target: StoredArray, rows: int) -> None:
    subject = f"{target.file}: {target.name!r}"
    if target.dtype.kind not in "iu":
        raise Refused(
            f"{subject} holds {_dtype_text(target.dtype)}, but whole numbers (the class that is right at "
            f"each position) are expected. Save {target.name}.astype('int64')."
        )
    if target.shape != (rows,):
        raise Refused(
            f"{subject} has the shape {target.shape}, but one class for each of the {rows:,} positions is "
            f"expected: the shape ({rows},)."
        )


def _check_text(text: StoredArray, rows: int) -> None:
    subject = f"{text.file}: {text.name!r}"
    if text.dtype.kind not in "iuU":
        raise Refused(
            f"{subject} holds {_dtype_text(text.dtype)}, but whole numbers or text (the text that each "
            "position came from) are expected."
        )
    if text.shape != (rows,):
        raise Refused(
            f"{subject} has the shape {text.shape}, but one text for each of the {rows:,} positions is "
            f"expected: the shape ({rows},)."
        )


def _dtype_text(dtype: np.dtype[Any]) -> str:
    """The dtype in words, with a hint on how it may have come about."""
    if dtype.names:
        return "records of several fields"
    if (dtype.kind == "V" and dtype.itemsize == 2) or dtype == np.uint16:
        return f"{dtype} (perhaps bfloat16, which NumPy does not have: save it as float32)"
    return "complex numbers" if dtype.kind == "c" else f"{dtype}"


def _problems(positions: DensePositions, faults: Sequence[PositionProblem]) -> tuple[Problem, ...]:
    """The bad values by kind, in the order of their first row."""
    problems = (_problem_of_fault(positions, fault) for fault in faults)
    return tuple(sorted(problems, key=lambda problem: problem.first_cells[0].row))


def _problem_of_fault(positions: DensePositions, fault: PositionProblem) -> Problem:
    column = positions.target.name if "target" in fault.kind else positions.values.name
    cells = (
        BadCell(positions.origin.file, row + 1, None, column, fault.expected, found, fault.fix)
        for row, found in fault.first_rows
    )
    return Problem(fault.kind, fault.count, tuple(cells))


def _nothing_usable(file: str, reason: str, problems: Sequence[Problem]) -> Refused:
    listed = "".join(f"\n{line}" for part in problems for line in cell_lines(part.first_cells[:2]))
    return Refused(f"{file}: {reason}, so nothing in it can be used.{listed}")


def _position_notes(padding: int, shift_note: str | None) -> tuple[str, ...]:
    notes: list[str] = [] if shift_note is None else [shift_note]
    if padding:
        notes.append(f"{padding:,} targets are −100, which is padding: these rows are not positions.")
    return tuple(notes)


# --- The format ---------------------------------------------------------------

_MAX_METADATA_BYTES: Final = 2**20
"""Limit for the metadata, which normally has a few hundred bytes."""

ArrayMetadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayArchive:
    """Named arrays, of an open archive or in memory.

    Attributes
    ----------
    file : str
        What messages call them.
    names : tuple[str, ...]
    open_array : Callable[[str], StoredArray]
        Opens one array, to be read once; raises Refused where it is none.
    members : Mapping[str, ZipInfo]
        Name → member of the archive; empty for arrays in memory.
    """

    file: str
    names: tuple[str, ...]
    open_array: Callable[[str], StoredArray] = field(repr=False)
    members: Mapping[str, ZipInfo] = field(default_factory=dict[str, ZipInfo])

    @property
    def metadata(self) -> ArrayMetadata:
        """The archive's metadata; {} without any. Raises Refused where it is not JSON."""
        if METADATA_ARRAY not in self.names:
            return {}
        array = self.open_array(METADATA_ARRAY)
        if array.shape or array.dtype.kind != "U" or array.dtype.itemsize > _MAX_METADATA_BYTES:
            raise Refused(
                f"{self.file}: {METADATA_ARRAY!r} has the shape {array.shape} of {array.dtype}, but one "
                "text, the metadata as JSON, is expected. Save numpy.array(json.dumps(metadata)), or "
                "leave it out."
            )
        return _parse_metadata(str(array.read_all()), self.file)


def recognises(head: Head) -> bool:
    """Whether the file is an array, an archive of arrays, or the metadata beside an array."""
    if head.kind in ("json object", "json lines"):
        return head.path is not None and main_file_of(head.path) is not None
    return head.kind == "npy" or (head.kind == "zip" and any(name.endswith(".npy") for name in head.names))


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The run whose arrays a file holds. See `Format.read`."""
    if head.path is None or not recognises(head):
        raise Refused(f"{head.file} cannot be read as {NPZ.title}: it holds no NumPy arrays.")
    if head.kind != "zip":
        return _read_array_files(head, head.path, options.columns, progress)
    with open_regular_file(head.path, head.file) as stream, open_array_archive(stream, head.file) as archive:
        return _read_archive(head, archive, options.columns, progress)


@contextmanager
def open_array_archive(stream: BinaryIO, file: str) -> Generator[ArrayArchive]:
    """Opens the archive in a seekable stream; raises Refused where there is none that can be read."""
    with open_archive(stream, file) as archive, ExitStack() as stack:
        members = npy_members(archive, file)

        def open_array(name: str) -> StoredArray:
            member = stack.enter_context(open_member(archive, members[name], file))
            return StoredArray.from_stream(member, members[name].file_size, file, name)

        yield ArrayArchive(file, tuple(members), open_array, members)


def read_arrays(arrays: Mapping[str, NDArray[Any]], file: str, options: ReadOptions) -> Reading:
    """The run whose arrays are in memory; as `read`, which reads them from an archive."""
    archive = ArrayArchive(
        file, tuple(arrays), lambda name: StoredArray.from_memory(arrays[name], file, name)
    )
    return _read_archive(Head(file, Content(b""), "zip"), archive, options.columns, ignore_progress)


def _read_archive(
    head: Head, archive: ArrayArchive, mapping: Mapping[str, str], progress: ReadProgress
) -> Reading:
    if (found := archive_positions(archive, mapping)) is not None:
        return read_dense_positions(*found.in_order(progress))
    columns = [name for name in archive.names if name != METADATA_ARRAY]
    origin = Origin(head.file, NPZ.id, run_info_from_metadata(archive.metadata, head.file))
    return read_answers(head, columns, mapping, archive.open_array, origin, progress)


def _read_array_files(head: Head, path: Path, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    pair = array_files_of(path, head.file)
    if any(mapping.values()):
        raise Refused(f"{head.file} is one array, and its name says which: nothing in it can be mapped.")
    metadata = None if pair.metadata is None else read_bytes(pair.metadata, pair.metadata.name)
    with (
        open_regular_file(pair.values, head.file) as stream,
        open_regular_file(pair.target, pair.target.name) as targets,
    ):
        found = pair_positions(stream, targets, metadata, pair, head.file)
        return read_dense_positions(*found.in_order(progress))


@dataclass(frozen=True, slots=True, eq=False)
class FoundPositions:
    """The positions that a file turned out to hold, and notes on them."""

    positions: DensePositions
    notes: tuple[str, ...]

    def in_order(self, progress: ReadProgress) -> tuple[DensePositions, ReadProgress, tuple[str, ...]]:
        """The arguments of `read_dense_positions`."""
        return self.positions, progress, self.notes


def archive_positions(archive: ArrayArchive, mapping: Mapping[str, str]) -> FoundPositions | None:
    """The positions in an archive, of which only headers have been read; None where it holds answers.

    Raises
    ------
    Refused
        As `find_token_arrays`, or if the arrays are not those of positions.
    """
    file, names, metadata = archive.file, archive.names, archive.metadata
    arrays = find_token_arrays(file, names, mapping, metadata, archive.open_array)
    if arrays is None:
        return None
    positions = DensePositions(
        archive.open_array(arrays.values),
        archive.open_array(arrays.target),
        arrays.scale,
        Origin(file, NPZ.id, run_info_from_metadata(metadata, file)),
        label=file_stem(file),
        columns=names,
        text=None if arrays.text is None else archive.open_array(arrays.text),
        unused_columns=tuple(
            name for name in names if name not in (arrays.values, arrays.target, arrays.text, METADATA_ARRAY)
        ),
    )
    return FoundPositions(positions, _vocabulary_notes(metadata, positions.n_classes))


def pair_positions(
    values: BinaryIO, target: BinaryIO, metadata: bytes | None, pair: ArrayFiles, file: str
) -> FoundPositions:
    """The positions in a pair of arrays, of which only headers have been read.

    Parameters
    ----------
    values, target : BinaryIO
        The open files; seekable.
    metadata : bytes or None
        JSON; None where there is no such file.
    pair : ArrayFiles
        The files.
    file : str
        What messages call the file of values.

    Raises
    ------
    Refused
        If the metadata is not JSON, or the arrays are not those of positions.
    """
    parsed: ArrayMetadata = {}
    if metadata is not None and pair.metadata is not None:
        parsed = _parse_metadata(metadata, pair.metadata.name)
    positions = DensePositions(
        StoredArray.from_stream(values, _stream_size(values), file, pair.scale),
        StoredArray.from_stream(target, _stream_size(target), pair.target.name, TARGET_ARRAY),
        pair.scale,
        Origin(file, NPZ.id, run_info_from_metadata(parsed, file)),
        label=file_stem(file_stem(file)),
        columns=(pair.scale, TARGET_ARRAY),
    )
    return FoundPositions(positions, _vocabulary_notes(parsed, positions.n_classes))


def _stream_size(stream: BinaryIO) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    return size


def _parse_metadata(text: str | bytes, file: str) -> ArrayMetadata:
    try:
        metadata: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{file}: its metadata is not JSON ({shorten(str(error), 120)}).") from None
    if not isinstance(metadata, dict):
        raise Refused(f'{file}: its metadata is not a JSON object, such as {{"model": "name"}}.')
    return cast("ArrayMetadata", metadata)


def _vocabulary_notes(metadata: ArrayMetadata, n_classes: int) -> tuple[str, ...]:
    vocab_size = metadata.get("vocab_size")
    if not isinstance(vocab_size, int) or vocab_size == n_classes:
        return ()
    note = (
        f"The metadata gives a vocabulary of {vocab_size:,}, but the arrays have {n_classes:,} classes, "
        "and these count."
    )
    return (note,)


NPZ: Final = Format(
    "npz",
    "token-level arrays",
    "NumPy arrays",
    frozenset({"npy", "zip", "json object", "json lines"}),
    recognises,
    read,
)
