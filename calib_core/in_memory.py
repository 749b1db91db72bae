"""Tables and arrays of other libraries as the readers take them, under one rule for what is missing.

What a library keeps beside the values is not lost: named levels of an index are columns, and Series are
paired by their index. NaN, null and None are missing, whatever holds them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Final, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Refused
from calib_core.wording import join_names

TOKEN_ARRAYS: Final = ("probs", "logprobs", "logits")
"""Arrays of shape (T, K) that make a token-level run together with `target`, of shape (T,)."""

Values: TypeAlias = "pl.DataFrame | list[dict[str, Any]] | dict[str, NDArray[Any]]"
"""A table, rows, or arrays of which one is a distribution, as the readers take them."""


def plain_values(source: Any, missing: Sequence[object] = ()) -> Values:  # noqa: ANN401  any table
    """The table, rows or arrays as the readers take them, with null for what is missing.

    Parameters
    ----------
    source : data frame, list of dict, or dict of columns
    missing : sequence
        Values that count as missing; numbers may be texts ("-1").

    Raises
    ------
    Refused
        If it is none of these, or cannot be read as columns.
    """
    numbers = [number for value in missing if (number := _as_number(value)) is not None]
    try:
        if isinstance(source, Mapping):
            columns = _columns(_with_index_of_series(cast("Mapping[str, Any]", source)))
            return _cleaned(columns, numbers) if isinstance(columns, pl.DataFrame) else columns
        if isinstance(source, pl.LazyFrame):
            source = source.collect()
        if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__"):
            return _cleaned(pl.DataFrame(_with_index_levels(source)), numbers)
        rows = [json.loads(json.dumps(dict(row), default=_plain)) for row in source]
        return [{key: _cleaned_value(value, numbers) for key, value in row.items()} for row in rows]
    except (TypeError, ValueError, pl.exceptions.PolarsError) as reason:
        if near := _nearly_a_table(source):
            raise Refused(near) from reason
        where = _mixed_column(source)
        raise Refused(
            f"{where or 'These rows cannot be read as a table'}: {reason}. Give a file, a data frame, a list "
            "of dicts, or arrays of one length, with values of one type in each column."
        ) from reason


# --- What is missing ------------------------------------------------------------------------------------


def _as_number(value: object) -> float | None:
    try:
        number = float(cast("Any", value))
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def _cleaned(frame: pl.DataFrame, numbers: Sequence[float]) -> pl.DataFrame:
    """The frame with null for NaN, also in lists, and for the numbers that count as missing."""
    return frame.select(_cleaned_series(frame[name], numbers) for name in frame.columns)


def _cleaned_series(series: pl.Series, numbers: Sequence[float]) -> pl.Series:
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    if series.dtype in (pl.List(pl.Float32), pl.List(pl.Float64)):
        return series.list.eval(pl.element().fill_nan(None))
    if not series.dtype.is_numeric():
        return series
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if not numbers:
        return series
    is_missing = series.cast(pl.Float64, strict=False).is_in(numbers).fill_null(value=False)
    return pl.select(pl.when(~is_missing).then(series).alias(series.name)).to_series()


def _cleaned_value(value: object, numbers: Sequence[float]) -> object:
    """The value of a cell, with None for what is missing."""
    if isinstance(value, list):
        return [None if part != part else part for part in cast("list[object]", value)]  # noqa: PLR0124  NaN
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return None if math.isnan(value) or value in numbers else value


# --- Frames and Series with an index --------------------------------------------------------------------


def _with_index_levels(frame: Any) -> Any:  # noqa: ANN401  any data frame
    """A pandas frame with the named levels of its index as columns; any other frame as it is."""
    names = _level_names(frame)
    if not names:
        return frame
    if repeated := [name for name in names if name in frame.columns]:
        raise ValueError(
            f"{repeated[0]!r} names both a level of the index and a column, so it is unclear which one is "
            "meant; rename one, or drop the index with reset_index(drop=True)"
        )
    return frame.reset_index(level=names)


def _level_names(value: Any) -> list[str]:  # noqa: ANN401  any frame or Series
    index = getattr(value, "index", None)
    names = cast("Iterable[object]", getattr(index, "names", None) or ())
    return [name for name in names if isinstance(name, str)]


def _with_index_of_series(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns with Series in the order of the first one, and the named levels of its index as columns."""
    series = {name: values for name, values in columns.items() if hasattr(values, "reindex")}
    if not series:
        return columns
    first_name, first = next(iter(series.items()))
    aligned: dict[str, Any] = {}
    for name, values in series.items():
        if values.index.equals(first.index):
            aligned[name] = values
            continue
        can_align = (
            first.index.is_unique
            and values.index.is_unique
            and len(values) == len(first)
            and bool(values.index.isin(first.index).all())
        )
        if not can_align:
            raise ValueError(
                f"the Series {first_name!r} and {name!r} have different indexes, so it is unclear which "
                "values belong together; join them first (pandas.concat(…, axis=1, join='inner')), or "
                "give arrays (.to_numpy()) to pair them in their order"
            )
        aligned[name] = values.reindex(first.index)
    levels = {name: first.index.get_level_values(name) for name in _level_names(first) if name not in columns}
    return {**levels, **columns, **aligned}


# --- Arrays ---------------------------------------------------------------------------------------------


def _columns(columns: Mapping[str, Any]) -> pl.DataFrame | dict[str, NDArray[Any]]:
    """The columns as a table, or arrays by name where one is a distribution over classes."""
    arrays = {name: _array(values) for name, values in columns.items()}
    if any(name in arrays and arrays[name].ndim >= 2 for name in TOKEN_ARRAYS):
        return _positions(arrays)
    arrays = {
        name: array[:, 0] if array.ndim == 2 and array.shape[1] == 1 and array.dtype != object else array
        for name, array in arrays.items()
    }
    if deep := [name for name, array in arrays.items() if array.ndim not in {1, 2}]:
        shape = arrays[deep[0]].shape
        raise ValueError(
            f"{deep[0]!r} has the shape {shape}; expected one value per row, shape (n,), or one list per row"
        )
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = join_names([f"{name} {length:,}" for name, length in lengths.items()])
        raise ValueError(f"the columns differ in length: {told}")
    return pl.DataFrame([_series(name, values) for name, values in arrays.items()])


def _array(values: Any) -> NDArray[Any]:  # noqa: ANN401  whatever NumPy takes
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype == np.longdouble else array


def _positions(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays with one axis of positions in place of several: (B, T, V) → (B·T, V)."""
    found = {name: array for name, array in arrays.items() if name in TOKEN_ARRAYS}
    shape = next(iter(found.values())).shape[:-1]
    flat: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name in found:
            flat[name] = array.reshape(-1, array.shape[-1])
        elif array.shape in (shape, (*shape, 1)):
            flat[name] = array.reshape(-1)
        else:
            flat[name] = array
    return flat


def _series(name: str, values: NDArray[Any]) -> pl.Series:
    """A column of values, or of lists where the array has two dimensions or holds lists."""
    return pl.Series(name, values.tolist()) if values.dtype == object else pl.Series(name, values)


def _nearly_a_table(source: Any) -> str:  # noqa: ANN401  anything
    """What to give instead of an open file or several paths; "" for anything else."""
    if hasattr(source, "read"):
        return "An open file is given: give its path."
    if isinstance(source, list | tuple) and any(
        isinstance(one, str | PathLike) for one in cast("Any", source)
    ):
        return "Several paths are given: load one file at a time."
    return ""


def _mixed_column(source: Any) -> str:  # noqa: ANN401  any table
    """Which column of a data frame holds values that are no column; "" if that cannot be told."""
    for name in getattr(source, "columns", ()):
        try:
            pl.Series(source[name])
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            return f"The column {name!r} cannot be read"
    return ""


def _plain(value: Any) -> Any:  # noqa: ANN401  a value of any library
    """NumPy's numbers and arrays as those of Python."""
    if isinstance(value, (np.generic, np.ndarray)):
        return cast("Any", value).tolist()
    raise TypeError(f"{type(value).__name__} is not a number, text, list or dict")
