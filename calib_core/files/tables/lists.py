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

from calib_core.files.tables.json_lines import RepeatedKeyError, mended, parse
from calib_core.files.tables.judged import (
    Fault,
    Judge,
    Judged,
    Positions,
    faults,
    found,
    null,
    where,
    without,
)
from calib_core.files.tables.raw import series_of
from calib_core.problems import FIRST, shorten
from calib_core.records import is_missing

LITERAL_LIMIT: Final = 100_000
"""Characters of a Python literal that are still parsed: the parser's memory grows with them."""

SUM_TOLERANCE: Final = 1e-3
"""A stored distribution whose sum is this far from 1 is used as stored; farther off it is wrong."""
SUM_EXACT: Final = 1e-6
"""Farther off than this it is counted."""
_ROUNDING: Final = 1e-12
"""What adding a few decimals may lose: .5 + .499 is .001 off, not more."""

_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBERS: Final = rf"^\[ *(?:{_NUMBER}(?: *, *{_NUMBER})*)? *\]$"

_SHOWN: Final = 5
"""Wrong elements of one row that a message shows."""

_STRING: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_ADJACENT: Final = re.compile(r"S\s*S")


def list_of(element: Judge, dtype: pl.DataType) -> Judge:
    """Judges lists whose every element passes `element`; one wrong element makes the row wrong.

    dtype: of the elements, where the file does not store one. An empty list is missing.
    """

    def judge(raw: pl.Series) -> Judged:
        if dtype.is_numeric() and (lists := _plain_numbers(raw)) is not None:
            judged = judge_lists(lists)
            if not judged.faults:
                return judged
        return judge_lists(raw)

    def judge_lists(raw: pl.Series) -> Judged:
        lists, no_list = as_lists(raw)
        fix = "Write a list such as [0.7, 0.2, 0.1]; in delimited text as JSON in one cell."
        wrong = faults(raw, no_list, "not a list", "a list", fix)
        sizes = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        owner = np.repeat(np.arange(lists.len()), sizes)
        if not owner.size:
            return Judged(null(raw, pl.List(dtype)), wrong)
        elements = lists.filter((lists.list.len() > 0).fill_null(value=False)).explode()
        inner = element(elements)
        problems = (*wrong, *(_of_rows(fault, owner, elements) for fault in inner.faults))
        if inner.values is elements:
            values = without(lists, pl.Series(sizes == 0))
        else:
            values = _gathered(inner.values, sizes, owner)
        return Judged(values.alias(raw.name), problems, owner[inner.clipped])

    return judge


def _plain_numbers(raw: pl.Series) -> pl.Series | None:
    """The lists in cells that are all of plain numbers; None where one is not, or there are no cells.

    Much quicker than one cell after another, and the same numbers; how they were written is lost.
    """
    if raw.dtype != pl.String:
        return None
    text = raw.str.strip_chars()
    there = (text != "").fill_null(value=False)
    if not text.filter(there).str.contains(_NUMBERS).all():
        return None
    inner = text.str.strip_chars("[]").str.strip_chars()
    numbers = inner.str.split(",").list.eval(pl.element().str.strip_chars().cast(pl.Float64, strict=False))
    lists = numbers.zip_with(inner != "", pl.Series([[]], dtype=numbers.dtype).new_from_index(0, raw.len()))
    return without(lists, ~there).alias(raw.name)


def as_lists(raw: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The values as lists of plain elements, and which of them are there and no such list."""
    match raw.dtype:
        case pl.List(inner=inner) if not inner.is_nested():
            return raw, pl.repeat(False, raw.len(), eager=True)  # noqa: FBT003
        case pl.String():
            held = without(raw, is_missing(raw))
            cells = [None if cell is None else _list_in(cell.strip()) for cell in held.to_list()]
            lists, _ = series_of(raw.name, cells)
            lists = lists if lists.dtype != pl.Null else lists.cast(pl.List(pl.String))
            return lists, lists.is_null() & held.is_not_null()
        case _:
            return null(raw, pl.List(pl.String())), raw.is_not_null()


def distribution(judge: Judge) -> Judge:
    """Adds to a judge of lists of probabilities that each is complete and sums to 1.

    A list with a missing element is missing. The stored values are kept, not renormalised.
    """

    def judge_sums(raw: pl.Series) -> Judged:
        judged = judge(raw)
        holed = judged.values.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
        lists = without(judged.values, holed)
        sums = lists.cast(pl.List(pl.Float64)).list.sum().set(lists.is_null(), None)
        off = (sums - 1).abs().fill_null(0.0)
        wrong = off > SUM_TOLERANCE + _ROUNDING
        fault = faults(
            sums.round_sig_figs(6),
            wrong,
            "distribution does not sum to 1",
            "probabilities of all choices, which sum to 1 within 0.001",
            "Store every choice's probability; letters cut out of a top list belong in choice_logprobs.",
        )
        nearly = where((off > SUM_EXACT) & ~wrong)
        return Judged(without(lists, wrong), (*judged.faults, *fault), judged.clipped, nearly)

    return judge_sums


def possible(judge: Judge) -> Judge:
    """Adds to a judge of lists of log-probabilities that not every choice is impossible."""

    def judge_finite(raw: pl.Series) -> Judged:
        judged = judge(raw)
        if not judged.values.explode().is_infinite().any():
            return judged
        infinite = pl.element().is_infinite().fill_null(value=False)
        wrong = judged.values.list.eval(infinite).list.all().fill_null(value=False)
        fault = faults(
            raw,
            wrong,
            "no choice is possible",
            "at least one finite log-probability",
            "Leave the list empty where the model gave none.",
        )
        return Judged(without(judged.values, wrong), (*judged.faults, *fault), judged.clipped)

    return judge_finite


def _gathered(flat: pl.Series, sizes: Positions, owner: Positions) -> pl.Series:
    """Elements put back into one list a row; a row that owns none is null."""
    if (sizes == sizes[0]).all():
        return flat.reshape((sizes.size, int(sizes[0]))).arr.to_list()
    lists = pl.DataFrame({"owner": owner, "value": flat}).group_by("owner", maintain_order=True).agg("value")
    if lists.height == sizes.size:
        return lists["value"]
    every = pl.DataFrame({"owner": np.arange(sizes.size)})
    return every.join(lists, on="owner", how="left", maintain_order="left")["value"]


def _of_rows(fault: Fault, owner: Positions, elements: pl.Series) -> Fault:
    """A fault of elements as a fault of their rows, which shows each row's wrong elements."""
    rows = np.unique(owner[fault.at])
    shown: dict[int, list[str]] = {int(row): [] for row in rows[:FIRST]}
    for at in fault.at[np.isin(owner[fault.at], rows[:FIRST])].tolist():
        if len(parts := shown[int(owner[at])]) < _SHOWN:
            parts.append(found(elements[at]))
    texts = tuple(shorten(", ".join(parts)) for parts in shown.values())
    return Fault(fault.kind, f"a list, each element {fault.expected}", fault.fix, rows, texts)


def _list_in(text: str) -> list[object] | None:
    """The list of plain values that a cell's text holds; None where it holds no such list."""
    try:
        value = parse(text)
    except (ValueError, RecursionError, RepeatedKeyError):
        value = _python_list(text)
    if not isinstance(value, list):
        return None
    elements = cast("list[object]", value)
    return elements if all(_is_plain(element) for element in elements) else None


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _python_list(text: str) -> object:
    """The value of a Python literal, None where it is none.

    Refused besides: strings side by side, which Python would join (NumPy prints arrays so).
    """
    if len(text) > LITERAL_LIMIT or text[0] not in "[(" or _ADJACENT.search(_STRING.sub("S", text)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown escape such as "\d" warns and stays as it is
            value = cast("object", ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if isinstance(value, tuple):
        value = list(cast("Sequence[object]", value))
    return mended(value)
