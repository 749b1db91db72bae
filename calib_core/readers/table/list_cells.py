"""Checks columns of lists: parses the lists and applies the judge of a single value to their elements.

In delimited text a list is JSON in one cell. A list as Python or NumPy prints it is accepted as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import EllipsisType, MappingProxyType
from typing import Final, TypeAlias, cast

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
from calib_core.wording import ROUNDING_TOLERANCE

SUM_TOLERANCE: Final = 1e-3
"""A distribution whose sum differs from 1 by at most this is used as stored; otherwise it is a fault."""
EXACT_SUM_TOLERANCE: Final = 1e-6
"""A distribution whose sum differs from 1 by more than this is counted as inexact."""

_NUMBER_PATTERN: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBER_LIST_PATTERN: Final = rf"^\[ *(?:{_NUMBER_PATTERN}(?: *, *{_NUMBER_PATTERN})*)? *\]$"

_MAX_SHOWN_ELEMENTS: Final = 5
"""Limit on the wrong elements of one row that a message shows."""

PrintedElement: TypeAlias = str | float | bool | EllipsisType | None

_PRINTED_ARRAY: Final = re.compile(r"(?:array|tensor)\(\s*(\[.*\])\s*(?:,\s*\w+=[^\[\]]*)?\)", re.DOTALL)
_PRINTED_ELEMENT: Final = re.compile(
    r"""(?P<scalar>np\.\w+\()?  # NumPy 2 writes np.float64(0.5) in a list
    (?: (?P<quote>['"]) (?P<text>(?:(?!(?P=quote))[^\\] | \\.)*+) (?P=quote) | (?P<word>[^\s,'"()\[\]{}]++) )
    (?(scalar)\))
    (?: (?P<comma>\s*,\s*) | \s+ | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_PRINTED_WORDS: Final[Mapping[str, PrintedElement]] = MappingProxyType(
    {
        "...": ...,
        "None": None,
        "nan": None,
        "<NA>": None,
        "inf": float("inf"),
        "-inf": float("-inf"),
        "True": True,
        "False": False,
        "np.True_": True,
        "np.False_": False,
    }
)
_PRINTED_INTEGER: Final = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_PRINTED_FLOAT: Final = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv\\'\"]))", re.DOTALL
)
_ESCAPED: Final = MappingProxyType(dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)))


def list_judge(element: ColumnJudge, dtype: pl.DataType) -> ColumnJudge:
    """Make a judge of lists; one wrong element makes the row wrong, and an empty list is missing.

    Parameters
    ----------
    element
        Judge of the elements.
    dtype
        Dtype of the elements if the file does not store one.
    """

    def judge(raw: pl.Series) -> JudgedColumn:
        if dtype.is_numeric() and (lists := _parse_number_lists(raw)) is not None:
            judged = judge_lists(lists)
            if not judged.faults:
                return judged
        return judge_lists(raw)

    def judge_lists(raw: pl.Series) -> JudgedColumn:
        lists, is_no_list = as_lists(raw)
        list_faults = _no_list_faults(raw, is_no_list)
        sizes = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        row_of_element = np.repeat(np.arange(lists.len()), sizes)
        if not row_of_element.size:
            return JudgedColumn(null_series(raw, pl.List(dtype)), list_faults)
        elements = lists.filter((lists.list.len() > 0).fill_null(value=False)).explode()
        judged = element(elements)
        element_faults = (_fault_of_rows(fault, row_of_element, elements) for fault in judged.faults)
        if judged.values is elements:
            values = null_where(lists, pl.Series(sizes == 0))
        else:
            values = _regroup(judged.values, sizes, row_of_element)
        clipped_rows = row_of_element[judged.clipped_positions]
        return JudgedColumn(values.alias(raw.name), (*list_faults, *element_faults), clipped_rows)

    return judge


def _parse_number_lists(raw: pl.Series) -> pl.Series | None:
    """Parse cells that are all lists of plain numbers; None if one of them is not, or `raw` is not text.

    Much faster than cell by cell, with the same numbers, but the spelling for messages is lost.
    """
    if raw.dtype != pl.String:
        return None
    text = raw.str.strip_chars()
    is_present = (text != "").fill_null(value=False)
    if not text.filter(is_present).str.contains(_NUMBER_LIST_PATTERN).all():
        return None
    inner = text.str.strip_chars("[]").str.strip_chars()
    numbers = inner.str.split(",").list.eval(pl.element().str.strip_chars().cast(pl.Float64, strict=False))
    lists = numbers.zip_with(inner != "", pl.Series([[]], dtype=numbers.dtype).new_from_index(0, raw.len()))
    return null_where(lists, ~is_present).alias(raw.name)


def as_lists(raw: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Parse values as lists of plain elements.

    Returns
    -------
    tuple of Series
        The lists, and a mask of values that are present and not such lists.
    """
    match raw.dtype:
        case pl.List(inner=inner) if not inner.is_nested():
            return raw, pl.repeat(False, raw.len(), eager=True)  # noqa: FBT003
        case pl.String():
            texts = null_where(raw, is_missing(raw))
            cells = [None if cell is None else _parse_list(cell.strip()) for cell in texts.to_list()]
            lists, _ = series_from_values(raw.name, cells)
            lists = lists if lists.dtype != pl.Null else lists.cast(pl.List(pl.String))
            return lists, lists.is_null() & texts.is_not_null()
        case _:
            return null_series(raw, pl.List(pl.String())), raw.is_not_null()


def distribution_judge(judge: ColumnJudge) -> ColumnJudge:
    """Extend a judge of lists of probabilities: each list must sum to 1 within `SUM_TOLERANCE`.

    A list with a missing element is missing. The stored values are kept, not renormalised.
    """

    def judge_sums(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        is_incomplete = judged.values.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
        lists = null_where(judged.values, is_incomplete)
        sums = lists.cast(pl.List(pl.Float64)).list.sum().set(lists.is_null(), None)
        error = (sums - 1).abs().fill_null(0.0)
        is_wrong = error > SUM_TOLERANCE + ROUNDING_TOLERANCE
        faults = faults_where(
            sums.round_sig_figs(6),
            is_wrong,
            "distribution does not sum to 1",
            "probabilities of all choices, which sum to 1 within 0.001",
            "Store every choice's probability; letters cut out of a top list belong in choice_logprobs.",
        )
        inexact = true_positions((error > EXACT_SUM_TOLERANCE) & ~is_wrong)
        return JudgedColumn(
            null_where(lists, is_wrong), (*judged.faults, *faults), judged.clipped_positions, inexact
        )

    return judge_sums


def some_finite_judge(judge: ColumnJudge) -> ColumnJudge:
    """Extend a judge of lists of log-probabilities or logits: at least one in each list must be finite."""

    def judge_finite(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        if not judged.values.explode().is_infinite().any():
            return judged
        is_infinite = pl.element().is_infinite().fill_null(value=False)
        is_wrong = judged.values.list.eval(is_infinite).list.all().fill_null(value=False)
        faults = faults_where(
            raw,
            is_wrong,
            "no choice is possible",
            "at least one finite number",
            "Leave the list empty where the model gave none.",
        )
        return JudgedColumn(
            null_where(judged.values, is_wrong), (*judged.faults, *faults), judged.clipped_positions
        )

    return judge_finite


def _regroup(flat: pl.Series, sizes: RowPositions, row_of_element: RowPositions) -> pl.Series:
    """Put elements back into one list per row; null for a row without elements."""
    if (sizes == sizes[0]).all():
        return flat.reshape((sizes.size, int(sizes[0]))).arr.to_list()
    lists = (
        pl.DataFrame({"owner": row_of_element, "value": flat})
        .group_by("owner", maintain_order=True)
        .agg("value")
    )
    if lists.height == sizes.size:
        return lists["value"]
    all_rows = pl.DataFrame({"owner": np.arange(sizes.size)})
    return all_rows.join(lists, on="owner", how="left", maintain_order="left")["value"]


def _fault_of_rows(fault: CellFault, row_of_element: RowPositions, elements: pl.Series) -> CellFault:
    """Turn a fault of elements into a fault of their rows that shows each row's wrong elements."""
    rows = np.unique(row_of_element[fault.positions])
    shown: dict[int, list[str]] = {int(row): [] for row in rows[:MAX_CELLS_SHOWN]}
    for position in fault.positions[
        np.isin(row_of_element[fault.positions], rows[:MAX_CELLS_SHOWN])
    ].tolist():
        if len(examples := shown[int(row_of_element[position])]) < _MAX_SHOWN_ELEMENTS:
            examples.append(value_text(elements[position]))
    texts = tuple(shorten(", ".join(examples)) for examples in shown.values())
    return CellFault(fault.kind, f"a list, each element {fault.expected}", fault.fix, rows, texts)


def _no_list_faults(raw: pl.Series, is_no_list: pl.Series) -> tuple[CellFault, ...]:
    """The faults of values that are no lists, apart from those in which NumPy left elements out."""
    if not is_no_list.any():
        return ()
    rows = is_no_list.arg_true()
    is_cut_row = [_is_abbreviated(value) for value in raw.gather(rows).to_list()]
    is_cut = pl.int_range(raw.len(), eager=True).is_in(rows.filter(pl.Series(is_cut_row)).implode())
    fix = "Write a list such as [0.7, 0.2, 0.1]; in delimited text as JSON in one cell."
    cut_fix = (
        "NumPy printed “...” for the others, so the file does not hold them: save array.tolist() as JSON."
    )
    return (
        *faults_where(raw, is_no_list & ~is_cut, "not a list", "a list", fix),
        *faults_where(
            raw, is_cut, "list without some of its elements", "a list with all its elements", cut_fix
        ),
    )


def _is_abbreviated(value: object) -> bool:
    return isinstance(value, str) and ... in (_parse_printed_list(value.strip()) or ())


def _parse_list(text: str) -> list[object] | None:
    """Parse a cell's text as a list of plain values; None if it is no such list."""
    try:
        value = parse_json(text)
    except (ValueError, RecursionError, RepeatedKeyError):
        value = _parse_printed_list(text)
    if not isinstance(value, list):
        return None
    elements = cast("list[object]", value)
    return elements if all(_is_scalar(element) for element in elements) else None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _parse_printed_list(text: str) -> list[PrintedElement] | None:
    """Parse a list, tuple or array as Python or NumPy prints it; None for any other text.

    The elements stand between commas, or all between white space: Python would join two texts without a
    comma, so a mixture is no list. An element that is not known (nan, None) is None.
    """
    array = _PRINTED_ARRAY.fullmatch(text)
    text = array[1] if array else text
    is_tuple = text[:1] + text[-1:] == "()"
    if not is_tuple and text[:1] + text[-1:] != "[]":
        return None
    inner = text[1:-1].strip()
    elements: list[PrintedElement] = []
    has_comma = list[bool]()
    at = 0
    while at < len(inner):
        found = _PRINTED_ELEMENT.match(inner, at)
        if found is None:
            return None
        try:
            elements.append(_printed_element(found))
        except ValueError:
            return None
        has_comma.append(found["comma"] is not None)
        at = found.end()
    is_separated = all(has_comma[:-1]) if any(has_comma) else not is_tuple or not elements
    return cast("list[PrintedElement]", replace_surrogates(elements)) if is_separated else None


def _printed_element(found: re.Match[str]) -> PrintedElement:
    """The value of an element; raises ValueError if it is neither a quoted text nor a value."""
    if (word := found["word"]) is None:
        return _ESCAPE.sub(_unescape, found["text"])
    if word in _PRINTED_WORDS:
        return _PRINTED_WORDS[word]
    if _PRINTED_INTEGER.fullmatch(word):
        return int(word)
    if _PRINTED_FLOAT.fullmatch(word):
        return float(word)
    raise ValueError(word)


def _unescape(escape: re.Match[str]) -> str:
    """The character that an escape stands for; raises ValueError beyond the last one of Unicode."""
    if character := escape[4]:
        return _ESCAPED.get(character, character)
    return chr(int(escape[1] or escape[2] or escape[3], 16))
