"""Is this value a list, and is each of its elements what it must be?

In delimited text a list is JSON in one cell; a Python literal is taken as well, parsed and never run.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from typing import Final, cast

import numpy as np
import polars as pl

from calib_core.errors import MAX_CELLS_SHOWN, shorten
from calib_core.readers.table.cells import (
    CellFault,
    ColumnJudge,
    JudgedColumn,
    RowPositions,
    faults_where,
    null_series,
    null_where,
    true_positions,
    value_text,
)
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json, replace_surrogates
from calib_core.readers.table.raw import series_from_values
from calib_core.runs import is_missing

LITERAL_LIMIT: Final = 100_000
"""Characters of a Python literal that are still parsed: the parser's memory grows with them."""

SUM_TOLERANCE: Final = 1e-3
"""A stored distribution whose sum is this far from 1 is used as stored; farther off it is wrong."""
EXACT_SUM_TOLERANCE: Final = 1e-6
"""Farther off than this it is counted."""
_DECIMAL_ROUNDING: Final = 1e-12
"""What adding a few decimals may lose: .5 + .499 is .001 off, not more."""

_NUMBER_PATTERN: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBER_LIST_PATTERN: Final = rf"^\[ *(?:{_NUMBER_PATTERN}(?: *, *{_NUMBER_PATTERN})*)? *\]$"

_MAX_SHOWN_ELEMENTS: Final = 5
"""Wrong elements of one row that a message shows."""

_STRING_LITERAL: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_ADJACENT_STRINGS: Final = re.compile(r"S\s*S")


def list_judge(element: ColumnJudge, dtype: pl.DataType) -> ColumnJudge:
    """Judges lists whose every element passes `element`; one wrong element makes the row wrong.

    dtype: of the elements, where the file does not store one. An empty list is missing.
    """

    def judge(raw: pl.Series) -> JudgedColumn:
        if dtype.is_numeric() and (lists := _parse_number_lists(raw)) is not None:
            judged = judge_lists(lists)
            if not judged.faults:
                return judged
        return judge_lists(raw)

    def judge_lists(raw: pl.Series) -> JudgedColumn:
        lists, no_list = as_lists(raw)
        fix = "Write a list such as [0.7, 0.2, 0.1]; in delimited text as JSON in one cell."
        wrong = faults_where(raw, no_list, "not a list", "a list", fix)
        sizes = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        owner = np.repeat(np.arange(lists.len()), sizes)
        if not owner.size:
            return JudgedColumn(null_series(raw, pl.List(dtype)), wrong)
        elements = lists.filter((lists.list.len() > 0).fill_null(value=False)).explode()
        inner = element(elements)
        problems = (*wrong, *(_fault_of_rows(fault, owner, elements) for fault in inner.faults))
        if inner.values is elements:
            values = null_where(lists, pl.Series(sizes == 0))
        else:
            values = _regroup(inner.values, sizes, owner)
        return JudgedColumn(values.alias(raw.name), problems, owner[inner.clipped_positions])

    return judge


def _parse_number_lists(raw: pl.Series) -> pl.Series | None:
    """The lists in cells that are all of plain numbers; None where one is not, or there are no cells.

    Much quicker than one cell after another, and the same numbers; how they were written is lost.
    """
    if raw.dtype != pl.String:
        return None
    text = raw.str.strip_chars()
    there = (text != "").fill_null(value=False)
    if not text.filter(there).str.contains(_NUMBER_LIST_PATTERN).all():
        return None
    inner = text.str.strip_chars("[]").str.strip_chars()
    numbers = inner.str.split(",").list.eval(pl.element().str.strip_chars().cast(pl.Float64, strict=False))
    lists = numbers.zip_with(inner != "", pl.Series([[]], dtype=numbers.dtype).new_from_index(0, raw.len()))
    return null_where(lists, ~there).alias(raw.name)


def as_lists(raw: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The values as lists of plain elements, and which of them are there and no such list."""
    match raw.dtype:
        case pl.List(inner=inner) if not inner.is_nested():
            return raw, pl.repeat(False, raw.len(), eager=True)  # noqa: FBT003
        case pl.String():
            held = null_where(raw, is_missing(raw))
            cells = [None if cell is None else _parse_list(cell.strip()) for cell in held.to_list()]
            lists, _ = series_from_values(raw.name, cells)
            lists = lists if lists.dtype != pl.Null else lists.cast(pl.List(pl.String))
            return lists, lists.is_null() & held.is_not_null()
        case _:
            return null_series(raw, pl.List(pl.String())), raw.is_not_null()


def distribution_judge(judge: ColumnJudge) -> ColumnJudge:
    """Adds to a judge of lists of probabilities that each is complete and sums to 1.

    A list with a missing element is missing. The stored values are kept, not renormalised.
    """

    def judge_sums(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        holed = judged.values.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
        lists = null_where(judged.values, holed)
        sums = lists.cast(pl.List(pl.Float64)).list.sum().set(lists.is_null(), None)
        off = (sums - 1).abs().fill_null(0.0)
        wrong = off > SUM_TOLERANCE + _DECIMAL_ROUNDING
        fault = faults_where(
            sums.round_sig_figs(6),
            wrong,
            "distribution does not sum to 1",
            "probabilities of all choices, which sum to 1 within 0.001",
            "Store every choice's probability; letters cut out of a top list belong in choice_logprobs.",
        )
        nearly = true_positions((off > EXACT_SUM_TOLERANCE) & ~wrong)
        return JudgedColumn(
            null_where(lists, wrong), (*judged.faults, *fault), judged.clipped_positions, nearly
        )

    return judge_sums


def some_finite_judge(judge: ColumnJudge) -> ColumnJudge:
    """Adds to a judge of lists of log-probabilities that not every choice is impossible."""

    def judge_finite(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        if not judged.values.explode().is_infinite().any():
            return judged
        infinite = pl.element().is_infinite().fill_null(value=False)
        wrong = judged.values.list.eval(infinite).list.all().fill_null(value=False)
        fault = faults_where(
            raw,
            wrong,
            "no choice is possible",
            "at least one finite log-probability",
            "Leave the list empty where the model gave none.",
        )
        return JudgedColumn(
            null_where(judged.values, wrong), (*judged.faults, *fault), judged.clipped_positions
        )

    return judge_finite


def _regroup(flat: pl.Series, sizes: RowPositions, owner: RowPositions) -> pl.Series:
    """Elements put back into one list a row; a row that owns none is null."""
    if (sizes == sizes[0]).all():
        return flat.reshape((sizes.size, int(sizes[0]))).arr.to_list()
    lists = pl.DataFrame({"owner": owner, "value": flat}).group_by("owner", maintain_order=True).agg("value")
    if lists.height == sizes.size:
        return lists["value"]
    every = pl.DataFrame({"owner": np.arange(sizes.size)})
    return every.join(lists, on="owner", how="left", maintain_order="left")["value"]


def _fault_of_rows(fault: CellFault, owner: RowPositions, elements: pl.Series) -> CellFault:
    """A fault of elements as a fault of their rows, which shows each row's wrong elements."""
    rows = np.unique(owner[fault.positions])
    shown: dict[int, list[str]] = {int(row): [] for row in rows[:MAX_CELLS_SHOWN]}
    for at in fault.positions[np.isin(owner[fault.positions], rows[:MAX_CELLS_SHOWN])].tolist():
        if len(parts := shown[int(owner[at])]) < _MAX_SHOWN_ELEMENTS:
            parts.append(value_text(elements[at]))
    texts = tuple(shorten(", ".join(parts)) for parts in shown.values())
    return CellFault(fault.kind, f"a list, each element {fault.expected}", fault.fix, rows, texts)


def _parse_list(text: str) -> list[object] | None:
    """The list of plain values that a cell's text holds; None where it holds no such list."""
    try:
        value = parse_json(text)
    except (ValueError, RecursionError, RepeatedKeyError):
        value = _parse_python_list(text)
    if not isinstance(value, list):
        return None
    elements = cast("list[object]", value)
    return elements if all(_is_scalar(element) for element in elements) else None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _parse_python_list(text: str) -> object:
    """The value of a Python literal, None where it is none.

    Refused besides: strings side by side, which Python would join (NumPy prints arrays so).
    """
    if (
        len(text) > LITERAL_LIMIT
        or text[0] not in "[("
        or _ADJACENT_STRINGS.search(_STRING_LITERAL.sub("S", text))
    ):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown escape such as "\d" warns and stays as it is
            value = cast("object", ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if isinstance(value, tuple):
        value = list(cast("Sequence[object]", value))
    return replace_surrogates(value)
