"""What does a parser hand over, before anything is known of what the columns mean?

CSV, JSON and Parquet each become the same thing: slices of raw columns, with the records that could
not be parsed at all set apart.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from typing import Final, Generic, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl

MAX_COLUMNS: Final = 10_000
"""More is refused: nobody names so many columns, a matrix does."""

ROWS_PER_SLICE: Final = 16_384
"""Records judged at a time by the text parsers: small enough to report progress, large enough to be fast."""

RecordT = TypeVar("RecordT")

ColumnFilter: TypeAlias = Callable[[str], bool]
"""Whether a column of the file, by its name, is read."""


def every_column(_name: str) -> bool:
    """All of them."""
    return True


def no_column(_name: str) -> bool:
    """None of them."""
    return False


ReadProgress: TypeAlias = Callable[[float, str], None]
"""Called at least every half second with the share of the file that is done, in [0, 1], and a short text."""


def ignore_progress(_share: float, _text: str) -> None:
    """Do nothing: the default where no progress is shown."""


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that is no record: too many cells, not JSON. Its cells are all null."""

    position: int
    kind: str
    column: str
    expected: str
    found: str
    fix: str


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Consecutive records of a file.

    rows: how many; columns: file column → raw values, each of `rows` values; lines: the physical line
    each begins on, None where the format has no lines; broken: those that could not be parsed;
    nested: column → positions whose value was a list or an object where others are plain (their
    values are then JSON text); share: of the file that has been read so far, in [0, 1]; again: the same
    records read with care, every value as it is written, where a fast parser has read them: it is right of
    good values, and what is to be said of the others is for them to say.
    """

    n_rows: int
    columns: Mapping[str, pl.Series]
    lines: pl.Series | None
    share: float
    broken: Sequence[BrokenRecord] = ()
    nested: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    reread: Callable[[], Iterator[Slice]] | None = None


@dataclass(slots=True)
class Batch(Generic[RecordT]):
    """Records of a text file on their way into a slice."""

    records: list[RecordT] = field(default_factory=list[RecordT])
    lines: list[int] = field(default_factory=list[int])
    broken: list[BrokenRecord] = field(default_factory=list[BrokenRecord])

    def add(self, record: RecordT, line: int) -> None:
        """Takes one record, which begins on this physical line."""
        self.records.append(record)
        self.lines.append(line)


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A file's records, to be read once.

    columns: the names in the file's order, None where only reading to the end tells (JSON lines; then
    `seen` holds those met so far).
    """

    columns: tuple[str, ...] | None
    slices: Iterator[Slice]
    found_keys: dict[str, None] = field(default_factory=dict[str, None])


def series_from_values(name: str, values: Sequence[object]) -> tuple[pl.Series, frozenset[int]]:
    """Python values as one series, and the positions of lists or objects among plain values.

    Values of one type keep it; whatever mixes types becomes text as it would stand in JSON, so that
    nothing is rounded and messages can show what was found.
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
            pass  # a whole number beyond 64 bits: kept as text
    nested = frozenset[int]()
    if types & {list, dict}:
        nested = frozenset(at for at, value in enumerate(values) if isinstance(value, list | dict))
    return pl.Series(name, [as_json_text(value) for value in values], dtype=pl.String), nested


def as_json_text(value: object) -> str | None:
    """A value as it would stand in JSON; text as it is, null as None."""
    if value is None or isinstance(value, str):
        return value
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)  # as JSON has it, ten times as fast
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
    """The lists as one series, made from their values end to end: ten times as fast as list by list."""
    sizes = np.fromiter((0 if part is None else len(part) or -1 for part in lists), np.int64, len(lists))
    if not sizes.size or (sizes < 0).any() or not sizes.any():
        return pl.Series(name, lists, dtype=pl.List(dtype))
    values = pl.Series(name, list(chain.from_iterable(part for part in lists if part)), dtype=dtype)
    if (sizes == sizes[0]).all():
        return values.reshape((sizes.size, int(sizes[0]))).cast(pl.List(dtype))
    flat = pl.DataFrame({"owner": np.repeat(np.arange(sizes.size), sizes), "value": values})
    made = flat.group_by("owner", maintain_order=True).agg("value")["value"].alias(name)
    return made.gather(pl.Series(np.cumsum(sizes > 0) - 1).set(pl.Series(sizes == 0), None))


def _dtype_of_types(types: set[type]) -> pl.DataType | None:
    """The dtype that holds values of these types unchanged; None where only text does."""
    if not types:
        return pl.Null()
    if len(types) > 1:
        return None
    return {str: pl.String(), float: pl.Float64(), int: pl.Int64(), bool: pl.Boolean()}.get(next(iter(types)))


# MERGED ahead: How is the next part of a file worked on while this one is looked at?

MAX_AHEAD: Final = 2
"""Parts worked on at the same time: each takes room of its own."""

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")


def map_ahead(
    items: Iterable[InputT], function: Callable[[InputT], OutputT]
) -> Generator[tuple[InputT, OutputT]]:
    """Each part, in its turn, with what the work makes of it, in threads: for work that others do in C.

    Raises what the work raises, when it is the part's turn.
    """
    with ThreadPoolExecutor(MAX_AHEAD) as pool:
        begun: deque[tuple[InputT, Future[OutputT]]] = deque()
        for part in items:
            begun.append((part, pool.submit(function, part)))
            if len(begun) > MAX_AHEAD:
                first, made = begun.popleft()
                yield first, made.result()
        while begun:
            first, made = begun.popleft()
            yield first, made.result()
