"""The columns of a result's table: one list, from which its frame and every shown table are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import polars as pl

from calib_core.inference.verdict import marked_verdict
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.wording import (
    NO_VALUE,
    compact_count,
    format_column,
    format_number,
    format_p_value,
    format_percent,
    format_percent_down,
    format_points,
    format_short,
    format_signed,
    threshold_text,
)

Kind: TypeAlias = Literal[
    "text",
    "verdict",
    "method",
    "metric",
    "count",
    "amount",
    "number",
    "mixed",
    "exact",
    "signed",
    "share",
    "part",
    "bound",
    "points",
    "p",
]
"""What a column holds: text; words of verdicts, read after their shape; ids of methods or metrics, read as
their titles; whole numbers; large numbers, written in short; numbers; numbers of several scales, each with
the digits that it needs; numbers with every digit that they have; differences; shares in [0, 1], in
percent; shares of a whole, drawn as bars where there is room; lower bounds of shares, rounded down;
differences of shares, in percentage points; p- or q-values."""

DTYPES: Final = MappingProxyType[Kind, type[pl.DataType]](
    {
        "text": pl.String,
        "verdict": pl.String,
        "method": pl.String,
        "metric": pl.String,
        "count": pl.Int64,
        "amount": pl.Float64,
        "number": pl.Float64,
        "mixed": pl.Float64,
        "exact": pl.Float64,
        "signed": pl.Float64,
        "share": pl.Float64,
        "part": pl.Float64,
        "bound": pl.Float64,
        "points": pl.Float64,
        "p": pl.Float64,
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result's table.

    Attributes
    ----------
    name : str
        Its name in frames, files and JSON.
    title : str
        Its heading where the table is shown; "" for a column that only frames and files have.
    kind : Kind
        What it holds, and so how it is written.
    help : str
        What the numbers mean.
    upper : str
        Name of the column with the upper ends, where a cell shows an interval; "" where it shows one value,
        as does a cell without an upper end.
    digits : int, optional
        Decimals of numbers, differences and percentages, where not those of the kind.
    draws : str
        Of p-values: name of the column with the number of draws; "" for exact ones.
    dtype : type of pl.DataType, optional
        Where it is not the one of the kind.
    repeats : bool
        Whether it says what another column or the figure beside the table shows, so that it is left out where
        there is little room.
    """

    name: str
    title: str = ""
    kind: Kind = "text"
    help: str = ""
    upper: str = ""
    digits: int | None = None
    draws: str = ""
    dtype: type[pl.DataType] | None = None
    repeats: bool = False

    @property
    def has_words(self) -> bool:
        """Whether its cells are words, not numbers."""
        return self.kind in ("text", "verdict", "method", "metric")


def frame_of(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the table as numbers in full, one row for each mapping from column name to value.

    Examples
    --------
    >>> frame_of([Column("run"), Column("ece", "ECE", "number")], [{"run": "a", "ece": 0.125}]).row(0)
    ('a', 0.125)
    """
    schema = {column.name: column.dtype or DTYPES[column.kind] for column in columns}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def column_texts(column: Column, frame: pl.DataFrame) -> list[str]:
    """Return the cells of one column as they are read; "–" where there is no value.

    Examples
    --------
    >>> frame = pl.DataFrame({"low": [0.1, None], "high": [0.25, None]})
    >>> column_texts(Column("low", "95 %", "number", upper="high"), frame)
    ['0.1000 to 0.2500', '–']
    >>> column_texts(Column("low", "95 %", "share", upper="high"), frame)
    ['10.0 to 25.0 %', '–']
    >>> column_texts(Column("high", "Gap", "points"), frame)
    ['+25.0', '–']
    >>> column_texts(Column("high", "Bins", "number", digits=1), frame)
    ['0.2', '–']
    """
    if column.draws:
        pairs = zip(frame[column.name], frame[column.draws], strict=True)
        return [format_p_value(p, draws) for p, draws in pairs]
    write = _WRITERS[column.kind] if column.digits is None else _with_digits(column.kind, column.digits)
    lows = write(frame[column.name].to_list())
    if not column.upper:
        return lows
    highs = write(frame[column.upper].to_list())
    return [
        low if high == NO_VALUE else f"{low.removesuffix(' %')} to {high}"
        for low, high in zip(lows, highs, strict=True)
    ]


def _each(write: Callable[[Any], str]) -> Callable[[Sequence[Any]], list[str]]:
    return lambda values: [NO_VALUE if value is None else write(value) for value in values]


def _with_digits(kind: Kind, digits: int) -> Callable[[Sequence[Any]], list[str]]:
    if kind == "share":
        return _each(lambda value: f"{100 * value:.{digits}f} %")
    spec = f"{'+' if kind == 'signed' else ''}.{digits}f"
    return _each(lambda value: format_number(value, spec))


_WRITERS: Final[Mapping[Kind, Callable[[Sequence[Any]], list[str]]]] = MappingProxyType(
    {
        "text": _each(str),
        "verdict": _each(marked_verdict),
        "method": _each(lambda id_: METHODS[id_].heading),
        "metric": _each(lambda id_: METRICS[id_].title),
        "count": _each("{:,.0f}".format),
        "amount": _each(lambda value: compact_count(round(value))),
        "number": format_column,
        "mixed": _each(format_short),
        "exact": _each(threshold_text),
        "signed": _each(format_signed),
        "share": _each(format_percent),
        "part": _each(format_percent),
        "bound": _each(format_percent_down),
        "points": _each(format_points),
        "p": _each(lambda value: format_p_value(value, None)),
    }
)
