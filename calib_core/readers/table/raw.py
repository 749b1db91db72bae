"""The output of the parsers, before columns get a meaning.

CSV, JSON, Parquet and Arrow files all become slices of raw columns; records that could not be parsed are
listed separately.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from math import isfinite
from typing import Final, Generic, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl

from calib_core.errors import Refused

MAX_COLUMNS: Final = 10_000
"""A file with more columns is refused: it is a matrix, not a table of named columns."""

ROWS_PER_SLICE: Final = 16_384
"""Records per slice of the text parsers: few enough to report progress, many enough to be fast."""

MAX_AHEAD: Final = 2
"""Items that `map_ahead` works on at the same time; each takes memory of its own."""

RecordT = TypeVar("RecordT")
InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")

ColumnFilter: TypeAlias = Callable[[str], bool]
"""Whether a column of the file has some property (such as being read), judged by its name."""


def check_column_count(names: Sequence[str], file: str) -> None:
    """Raise Refused if a file has more than `MAX_COLUMNS` columns."""
    if len(names) > MAX_COLUMNS:
        raise Refused(
            f"{file} has {len(names):,} columns and at most {MAX_COLUMNS:,} are read. Keep only the columns "
            f"that are needed."
        )


def every_column(_name: str) -> bool:
    """Accept every column."""
    return True


def no_column(_name: str) -> bool:
    """Accept no column."""
    return False


ReadProgress: TypeAlias = Callable[[float, str], None]
"""Called at least every half second with the share of the file that is done, in [0, 1], and a short text."""


def ignore_progress(_share: float, _text: str) -> None:
    """Do nothing: the default where no progress is shown."""


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that could not be parsed: too many cells, not JSON. All its cells are null.

    Attributes
    ----------
    position
        0-based index of the record in its slice.
    kind
        Kind of fault, under which problems are counted.
    column
        The column concerned, as in the file; "" for the whole record.
    expected, found, fix
        What a message says of the record.
    """

    position: int
    kind: str
    column: str
    expected: str
    found: str
    fix: str


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Consecutive records of a file.

    Attributes
    ----------
    n_rows
        Number of records.
    columns
        Column of the file → raw values, each of length `n_rows`.
    lines
        The line, from 1, that each record begins on, dtype Int64; None if the format has no lines.
    share
        Share of the file that has been read up to here, in [0, 1].
    broken
        Records that could not be parsed.
    nested
        Column → positions of lists or objects in a column of plain values; their raw values are JSON text.
    no_texts
        Column of texts or lists of them → positions of values that are no text although they became one, or
        of lists with such a value: true, false, NaN and infinity.
    read_strictly
        Reads the same records again with the strict parser, every value as written; None if it already
        read them. The fast parser is right about valid values, but messages about bad ones need the text.
    """

    n_rows: int
    columns: Mapping[str, pl.Series]
    lines: pl.Series | None
    share: float
    broken: Sequence[BrokenRecord] = ()
    nested: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    no_texts: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    read_strictly: Callable[[], Iterator[Slice]] | None = None


@dataclass(slots=True)
class Batch(Generic[RecordT]):
    """Records of a text file that are collected for a slice.

    Attributes
    ----------
    records
        The parsed records.
    lines
        The line that each record begins on.
    broken
        Records that could not be parsed.
    """

    records: list[RecordT] = field(default_factory=list[RecordT])
    lines: list[int] = field(default_factory=list[int])
    broken: list[BrokenRecord] = field(default_factory=list[BrokenRecord])

    def add(self, record: RecordT, line: int) -> None:
        """Add a record that begins on this line."""
        self.records.append(record)
        self.lines.append(line)


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A file's records, to be read once.

    Attributes
    ----------
    columns
        Names in the file's order; None for JSON, where they are known only after the last record.
    slices
        The records.
    found_keys
        For JSON, the keys found so far, in order of appearance; a dict serves as an ordered set. For other
        files, the nested fields found so far.
    nested
        Columns that are nested fields of the columns of the file.
    """

    columns: tuple[str, ...] | None
    slices: Iterator[Slice]
    found_keys: dict[str, None] = field(default_factory=dict[str, None])
    nested: tuple[str, ...] = ()


def with_row_numbers(table: RawTable, column: str) -> RawTable:
    """Add a column with the number of each record in its file, from 1, as the text "row 17".

    The text tells it from an id that another file has, so that only files read so have ids in common.
    """

    def number(slices: Iterable[Slice], n_before: int) -> Iterator[Slice]:
        for part in slices:
            numbers = pl.int_range(n_before + 1, n_before + part.n_rows + 1, eager=True)
            columns = {**part.columns, column: ("row " + numbers.cast(pl.String)).alias(column)}
            again = (
                None if part.read_strictly is None else partial(number_again, part.read_strictly, n_before)
            )
            yield replace(part, columns=columns, read_strictly=again)
            n_before += part.n_rows

    def number_again(read: Callable[[], Iterator[Slice]], n_before: int) -> Iterator[Slice]:
        return number(read(), n_before)

    return replace(table, slices=number(table.slices, 0))


def series_from_values(name: str, values: Sequence[object]) -> tuple[pl.Series, frozenset[int]]:
    """Make a series of Python values.

    Values of one type keep it. Values of mixed types become JSON text, so that nothing is rounded and
    messages can show what was found.

    Returns
    -------
    tuple
        The series, and the positions of lists or objects among plain values.

    Examples
    --------
    >>> series_from_values("a", [1, "b", [2]])[1]
    frozenset({2})
    """
    types = set(map(type, values)) - {type(None)}
    if types == {list}:
        lists = cast("Sequence[list[object] | None]", values)
        inner = set(map(type, chain.from_iterable(part for part in lists if part))) - {type(None)}
        if not inner & {list, dict}:
            return _series_of_lists(name, lists, inner), frozenset()
    dtype = _dtype_of_types(types)
    if dtype is not None:
        try:
            return pl.Series(name, values, dtype=dtype), frozenset()
        except (OverflowError, TypeError):
            pass  # an integer beyond 64 bits: kept as text
    nested = frozenset[int]()
    if types & {list, dict}:
        nested = frozenset(
            position for position, value in enumerate(values) if isinstance(value, list | dict)
        )
    return pl.Series(name, [as_json_text(value) for value in values], dtype=pl.String), nested


def positions_of_no_text(values: Sequence[object], made: pl.Series) -> frozenset[int]:
    """Return where true, false, NaN or infinity became text in the series made of values.

    In a list of answers, true and false are texts like others.

    Examples
    --------
    >>> values = ["a", True, 0.5, ["b", float("nan")]]
    >>> sorted(positions_of_no_text(values, series_from_values("", values)[0]))
    [1]
    """
    match made.dtype:
        case pl.String():
            return frozenset(at for at, value in enumerate(values) if _is_no_text(value))
        case pl.List(inner=pl.String()):
            lists = cast("Sequence[list[object] | None]", values)
            return frozenset(at for at, part in enumerate(lists) if part and any(map(_is_no_number, part)))
        case _:
            return frozenset()


def _is_no_text(value: object) -> bool:
    return isinstance(value, bool) or _is_no_number(value)


def _is_no_number(value: object) -> bool:
    return isinstance(value, float) and not isfinite(value)


def as_json_text(value: object) -> str | None:
    """Return a value as JSON text, a text unchanged, and None as None."""
    if value is None or isinstance(value, str):
        return value
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)  # the same as json.dumps, ten times as fast
    return json.dumps(value, ensure_ascii=False)


def _series_of_lists(name: str, lists: Sequence[list[object] | None], inner: set[type]) -> pl.Series:
    dtype = _dtype_of_types(inner)
    if dtype is not None:
        try:
            return _series_from_flat(name, lists, dtype)
        except (OverflowError, TypeError):
            pass
    texts = [None if part is None else [as_json_text(value) for value in part] for part in lists]
    return _series_from_flat(name, texts, pl.String())


def _series_from_flat(name: str, lists: Sequence[Sequence[object] | None], dtype: pl.DataType) -> pl.Series:
    """Make a series of lists from their concatenated values: ten times as fast as list by list."""
    sizes = np.fromiter(
        (0 if values is None else len(values) or -1 for values in lists), np.int64, len(lists)
    )
    if not sizes.size or (sizes < 0).any() or not sizes.any():
        return pl.Series(name, lists, dtype=pl.List(dtype))
    flat_values = pl.Series(
        name, list(chain.from_iterable(values for values in lists if values)), dtype=dtype
    )
    if (sizes == sizes[0]).all():
        return flat_values.reshape((sizes.size, int(sizes[0]))).cast(pl.List(dtype))
    owned = pl.DataFrame({"owner": np.repeat(np.arange(sizes.size), sizes), "value": flat_values})
    nonempty = owned.group_by("owner", maintain_order=True).agg("value")["value"].alias(name)
    return nonempty.gather(pl.Series(np.cumsum(sizes > 0) - 1).set(pl.Series(sizes == 0), None))


def _dtype_of_types(types: set[type]) -> pl.DataType | None:
    """Return the dtype that holds values of these types unchanged; None if only text does."""
    if not types:
        return pl.Null()
    if len(types) > 1:
        return None
    return {str: pl.String(), float: pl.Float64(), int: pl.Int64(), bool: pl.Boolean()}.get(next(iter(types)))


def undo_storage_types(values: pl.Series) -> pl.Series:
    """Convert dtypes that only save space: categories to text, arrays to lists, decimals to floats.

    Examples
    --------
    >>> undo_storage_types(pl.Series([["A", "B"]], dtype=pl.List(pl.Categorical))).dtype
    List(String)
    """
    if isinstance(values.dtype, pl.BaseExtension):
        return undo_storage_types(values.ext.storage())
    return values.cast(_plain_dtype(values.dtype))


def _plain_dtype(dtype: pl.DataType) -> pl.DataType:
    match dtype:
        case pl.Categorical() | pl.Enum():
            return pl.String()
        case pl.Decimal():
            return pl.Float64()
        case pl.List(inner=pl.DataType() as inner) | pl.Array(inner=pl.DataType() as inner):
            return pl.List(_plain_dtype(inner))
        case _:
            return dtype


def map_ahead(
    items: Iterable[InputT], function: Callable[[InputT], OutputT]
) -> Generator[tuple[InputT, OutputT]]:
    """Yield each item with its result, computing the next ones in threads meanwhile.

    For functions that release the interpreter's lock. An error raised for an item is raised when its turn
    comes.
    """
    remaining = iter(items)
    firsts = list(islice(remaining, 2))
    if len(firsts) < 2:  # nothing to compute meanwhile, as in most files
        yield from ((item, function(item)) for item in firsts)
        return
    with ThreadPoolExecutor(MAX_AHEAD) as pool:
        submitted: deque[tuple[InputT, Future[OutputT]]] = deque()
        for item in chain(firsts, remaining):
            submitted.append((item, pool.submit(function, item)))
            if len(submitted) > MAX_AHEAD:
                first, future = submitted.popleft()
                yield first, future.result()
        while submitted:
            first, future = submitted.popleft()
            yield first, future.result()
