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
from calib_core.files.tables.raw import ROWS_PER_SLICE, ReadProgress, RawTable, Slice
from calib_core.files.tables.roles import ColumnRoles
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import read_table
from calib_core.files.token_level.arrays import StoredArray
from calib_core.problems import Refused

MAX_ANSWER_BYTES: Final = 2**28
"""Bytes of the arrays read, which are all kept in memory."""

MAX_GROUP_NAME_BYTES: Final = 2**24
"""Bytes of an array that may hold the groups' names: a larger one is not looked at."""

_TABLE_NAMES: Final[Mapping[str, str]] = MappingProxyType({
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
    open_array: Callable[[str], StoredArray],
    origin: Origin,
    progress: ReadProgress,
) -> Reading:
    """The runs of the arrays `names`. mapping: as of `Format.read`; raises Refused as a table does."""
    said = {name: mapping.get(name, name) for name in names}
    known = {name: _TABLE_NAMES.get(role, role) for name, role in said.items() if name in mapping or role in _TABLE_NAMES}
    roles = ColumnRoles.from_mapping(known, head.file)
    wanted = [open_array(name) for name in names if roles.is_used(name)]
    _check_answer_arrays(head.file, wanted)
    rows = wanted[0].shape[0] if wanted else 0
    others = [open_array(name) for name in names if name not in known and not roles.is_used(name)]
    groups = GroupColumns(roles)
    read = [*wanted, *(other for other in others if _may_group(other, rows))]
    return read_table(RawTable(tuple(names), _array_slices(read, rows)), head, groups, progress, origin)


def _may_group(array: StoredArray, rows: int) -> bool:
    """Whether an array without a name here may hold one group's name a row."""
    return array.dtype.kind in "iubU" and array.shape == (rows,) and rows * array.dtype.itemsize <= MAX_GROUP_NAME_BYTES


def _check_answer_arrays(file: str, arrays: Sequence[StoredArray]) -> None:
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
    if size > MAX_ANSWER_BYTES:
        raise Refused(
            f"{file} holds {size / 2**20:,.0f} MiB of arrays, one row a question, and at most "
            f"{MAX_ANSWER_BYTES // 2**20} MiB are read. If the rows are positions of a text, name the right classes "
            f"target instead of gold."
        )


def _array_slices(arrays: Sequence[StoredArray], rows: int) -> Iterator[Slice]:
    columns = {array.name: _array_series(array) for array in arrays}
    for start in range(0, rows, ROWS_PER_SLICE):
        parts = {name: values.slice(start, ROWS_PER_SLICE) for name, values in columns.items()}
        count = min(ROWS_PER_SLICE, rows - start)
        yield Slice(count, parts, None, (start + count) / rows)


def _array_series(array: StoredArray) -> pl.Series:
    values = pl.Series(array.name, array.read_all())
    return values.cast(pl.List(values.dtype.inner)) if isinstance(values.dtype, pl.Array) else values
