"""Checks columns of lists: parses the lists and applies the judge of a single value to their elements.

In delimited text a list is JSON in one cell. A list as Python or NumPy prints it is accepted as well.
"""

from __future__ import annotations

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
from calib_core.readers.table.json_reader import parse_text
from calib_core.readers.table.raw import series_from_values
from calib_core.runs import is_missing
from calib_core.tokens.row_checks import SUM_TOLERANCE
from calib_core.wording import ROUNDING_TOLERANCE

EXACT_SUM_TOLERANCE: Final = 1e-6
"""A distribution whose sum differs from 1 by more than this is counted as inexact."""

PRINTED_SUM_TOLERANCE: Final = 0.01
"""Probabilities of which the last digits were cut may always miss 1 by this."""

_MAX_DIGITS: Final = 6
_NUMBER_PATTERN: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBER_LIST_PATTERN: Final = rf"^\[ *(?:{_NUMBER_PATTERN}(?: *, *{_NUMBER_PATTERN})*)? *\]$"

_MAX_SHOWN_ELEMENTS: Final = 5
"""Limit on the wrong elements of one row that a message shows."""


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


def combine_columns(raw: Sequence[pl.Series]) -> pl.Series:
    """Combine raw columns of equal length into one column of lists, in the given order.

    An empty cell becomes a null element, and a row of empty cells becomes null. Numbers stay numbers; other
    columns of different dtypes become text. If a column is itself nested, the result is a struct, which
    every judge of lists reports as a fault.
    """
    columns = [null_where(values, is_missing(values)).alias(str(index)) for index, values in enumerate(raw)]
    frame = pl.DataFrame(columns)
    if any(dtype.is_nested() or dtype == pl.Binary for dtype in frame.dtypes):
        return frame.to_struct("list")
    dtypes = [dtype for dtype in frame.dtypes if dtype != pl.Null]
    if len(set(dtypes)) > 1 and not all(dtype.is_numeric() for dtype in dtypes):
        frame = frame.cast(pl.String)
    is_empty = pl.all_horizontal(pl.all().is_null())
    return frame.select(pl.when(~is_empty).then(pl.concat_list(pl.all())).alias("list"))["list"]


def distribution_judge(judge: ColumnJudge, *, as_printed: bool = False) -> ColumnJudge:
    """Extend a judge of lists of probabilities: each list must sum to 1 within `SUM_TOLERANCE`.

    Where they are `as_printed`, the tolerance is that of `printed_tolerance`. A list with a missing element
    is missing. The stored values are kept, not renormalised.
    """

    def judge_sums(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        lists, sums = _complete_lists(judged.values)
        error = (sums - 1).abs().fill_null(0.0)
        tolerance = SUM_TOLERANCE
        if as_printed:
            found = [None if one is None else printed_tolerance(one) for one in lists.to_list()]
            tolerance = pl.Series(found, dtype=pl.Float64).fill_null(SUM_TOLERANCE)
        is_wrong = error > tolerance + ROUNDING_TOLERANCE
        faults = faults_where(
            sums.round_sig_figs(6),
            is_wrong,
            "distribution does not sum to 1",
            "probabilities of all choices, which sum to 1 within 0.001",
            "Store every choice's probability; parts of a whole vocabulary's are read as choice_masses.",
        )
        inexact = true_positions((error > EXACT_SUM_TOLERANCE) & ~is_wrong)
        return JudgedColumn(
            null_where(lists, is_wrong), (*judged.faults, *faults), judged.clipped_positions, inexact
        )

    return judge_sums


def printed_tolerance(probs: Sequence[float]) -> float:
    """How far the sum of printed probabilities may be from 1: by half a last digit each, or by 0.01.

    JSON drops final zeros, so that fewer than two decimals count as two.

    Examples
    --------
    >>> printed_tolerance([0.33, 0.33, 0.3]), printed_tolerance([0.333333, 0.666667])
    (0.015, 0.01)
    """
    digits = next((n for n in range(2, _MAX_DIGITS) if all(round(p, n) == p for p in probs)), _MAX_DIGITS)
    return max(PRINTED_SUM_TOLERANCE, len(probs) * 0.5 * 10.0**-digits)


def mass_judge(judge: ColumnJudge) -> ColumnJudge:
    """Extend a judge of lists of probabilities that are part of a larger distribution.

    Each list must sum to more than 0 and at most 1. A list with a missing element is missing.
    """

    def judge_masses(raw: pl.Series) -> JudgedColumn:
        judged = judge(raw)
        lists, sums = _complete_lists(judged.values)
        is_wrong = ((sums <= 0) | (sums > 1 + EXACT_SUM_TOLERANCE)).fill_null(value=False)
        faults = faults_where(
            sums.round_sig_figs(6),
            is_wrong,
            "mass of the choices out of range",
            "probabilities of the choices, which sum to more than 0 and at most 1",
            "Leave the row empty where the model gave none.",
        )
        return JudgedColumn(null_where(lists, is_wrong), (*judged.faults, *faults), judged.clipped_positions)

    return judge_masses


def _complete_lists(lists: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the lists without those that miss an element, and the sum of each."""
    is_incomplete = lists.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
    complete = null_where(lists, is_incomplete)
    return complete, complete.cast(pl.List(pl.Float64)).list.sum().set(complete.is_null(), None)


def renormalise(masses: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Divide each list of probabilities by its sum; return the quotients and the sums, both in Float64."""
    lists = masses.cast(pl.List(pl.Float64))
    sums = lists.list.sum().set(lists.is_null(), None)
    sizes = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = lists.drop_nulls().explode(empty_as_null=False).to_numpy() / np.repeat(sums.to_numpy(), sizes)
    return _regroup(pl.Series(masses.name, flat), sizes, np.repeat(np.arange(sizes.size), sizes)), sums


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
    parsed = parse_text(value) if isinstance(value, str) else None
    return isinstance(parsed, list) and ... in cast("list[object]", parsed)


def _parse_list(text: str) -> list[object] | None:
    """Parse a cell's text as a list of plain values; None if it is no such list."""
    value = parse_text(text)
    if not isinstance(value, list):
        return None
    elements = cast("list[object]", value)
    return elements if all(_is_scalar(element) for element in elements) else None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)
