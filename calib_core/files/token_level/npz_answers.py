"""Which runs does an archive of arrays hold that has one row a question?  A table, an array a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.files.format import Head
from calib_core.files.reading import Reading
from calib_core.files.tables.group_columns import GroupColumns
from calib_core.files.tables.raw import SLICE, Progress, RawTable, Slice
from calib_core.files.tables.roles import Roles
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import read_table
from calib_core.files.token_level.arrays import Array
from calib_core.problems import Refused

LIMIT: Final = 2**28
"""Bytes of the arrays read, which are all kept in memory."""

NAMES: Final = 2**24
"""Bytes of an array that may hold the groups' names: a larger one is not looked at."""

_MEANT: Final[Mapping[str, str]] = MappingProxyType({
    "probs": "choice_probs",
    "logprobs": "choice_logprobs",
    "logits": "choice_logprobs",
    "target": "gold",
})
"""What arrays are called in a file of NumPy arrays → in a table."""


def read_answers(
    head: Head,
    names: Sequence[str],
    mapping: Mapping[str, str],
    array: Callable[[str], Array],
    origin: Origin,
    progress: Progress,
) -> Reading:
    """The runs of the arrays `names`. mapping: as of `Format.read`; raises Refused as a table does."""
    said = {name: mapping.get(name, name) for name in names}
    known = {name: _MEANT.get(role, role) for name, role in said.items() if name in mapping or role in _MEANT}
    roles = Roles.of(known, head.file)
    wanted = [array(name) for name in names if roles.wanted(name)]
    _check(head.file, wanted)
    rows = wanted[0].shape[0] if wanted else 0
    others = [array(name) for name in names if name not in known and not roles.wanted(name)]
    groups = GroupColumns(roles)
    read = [*wanted, *(other for other in others if _may_name(other, rows))]
    return read_table(RawTable(tuple(names), _slices(read, rows)), head, groups, progress, origin)


def _may_name(array: Array, rows: int) -> bool:
    """Whether an array without a name here may hold one group's name a row."""
    return array.dtype.kind in "iubU" and array.shape == (rows,) and rows * array.dtype.itemsize <= NAMES


def _check(file: str, arrays: Sequence[Array]) -> None:
    """Raises Refused where arrays are no columns of one table, before any of them is read."""
    for array in arrays:
        if array.dtype.kind not in "fiubU" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
            raise Refused(f"{file}: {array.name!r} holds {array.dtype}, and numbers or text are expected.")
        if len(array.shape) not in (1, 2):
            raise Refused(
                f"{file}: {array.name!r} has the shape {array.shape}, and one value or one list a "
                f"question is expected."
            )
        if array.shape[0] != arrays[0].shape[0]:
            raise Refused(
                f"{file}: {arrays[0].name!r} has {arrays[0].shape[0]:,} rows and {array.name!r} has "
                f"{array.shape[0]:,}, and one row a question is expected in both."
            )
    size = sum(prod(array.shape) * array.dtype.itemsize for array in arrays)
    if size > LIMIT:
        raise Refused(
            f"{file} holds {size / 2**20:,.0f} MiB of arrays, one row a question, and at most "
            f"{LIMIT // 2**20} MiB are read. If the rows are positions of a text, name the right classes "
            f"target instead of gold."
        )


def _slices(arrays: Sequence[Array], rows: int) -> Iterator[Slice]:
    columns = {array.name: _series(array) for array in arrays}
    for start in range(0, rows, SLICE):
        parts = {name: values.slice(start, SLICE) for name, values in columns.items()}
        count = min(SLICE, rows - start)
        yield Slice(count, parts, None, (start + count) / rows)


def _series(array: Array) -> pl.Series:
    values = pl.Series(array.name, array.whole())
    return values.cast(pl.List(values.dtype.inner)) if isinstance(values.dtype, pl.Array) else values
