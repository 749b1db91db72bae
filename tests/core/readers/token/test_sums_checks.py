"""Every impossible property of sums is found by its check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calib_core.readers.token.sums import (
    InvalidSumsError,
    check_run_metadata,
    check_sums,
    check_table,
    sums_metadata,
    sums_to_table,
)
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.grid import GridSums
from calib_core.tokens.sums import ExamplePosition, NullDraws, TokenSums, UnstoredBounds
from core.readers.token.array_files import distributions


def make_sums(dtype: type = np.float32) -> TokenSums:
    probs, target = distributions(40, 12)
    probs = probs.astype(dtype)
    probs[0, :2] = (0.5 - probs[0, 2:].sum() / 2).astype(dtype)
    reducer = DenseReducer(12)
    reducer.add(probs, target)
    return reducer.result()


SUMS = make_sums()


def with_changed_cell(grid: GridSums, at: int = 1, **values: Any) -> GridSums:
    """The grid with other values in one cell."""
    arrays = {name: getattr(grid, name).copy() for name in values}
    for name, value in values.items():
        arrays[name][at] = value
    return replace(grid, **arrays)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_what_was_reduced_passes(dtype: type) -> None:
    check_sums(make_sums(dtype))


def with_top(**values: Any) -> TokenSums:
    return replace(SUMS, top_label=with_changed_cell(SUMS.top_label, **values))


def with_draws(**values: Any) -> TokenSums:
    assert SUMS.draws is not None
    return replace(SUMS, draws=replace(SUMS.draws, **values))


def null_draws() -> NullDraws:
    assert SUMS.draws is not None
    return SUMS.draws


def class_draws() -> Any:
    classes = null_draws().by_class
    assert classes is not None
    return classes


def class_sums() -> GridSums:
    assert SUMS.by_class is not None
    return SUMS.by_class


EXAMPLE = ExamplePosition(0, 1, (1, 2), (0.6, 0.2), 0.6, 0.2, 12, 8)

WRONG = {
    "rows": (replace(SUMS, n_rows=41), "number of positions differs"),
    "rows of a grid": (
        replace(SUMS, top_label=replace(SUMS.top_label, n_rows=39)),
        "positions differs .top label.",
    ),
    "classes": (replace(SUMS, n_classes=13), "do not add up .all labels."),
    "count": (with_top(count=SUMS.top_label.count[1] + 1), "pairs do not add up .top label."),
    "order": (with_top(cell=SUMS.top_label.cell[0]), "not in order .top label."),
    "right": (with_top(correct=SUMS.top_label.count[1] + 1), "more are right than there are"),
    "confidence": (
        with_top(confidence=SUMS.top_label.confidence[1] + 0.01),
        "a confidence is outside its cell",
    ),
    "no number": (with_top(confidence=np.nan), "a confidence is outside its cell"),
    "right confidence": (
        with_top(correct_confidence=SUMS.top_label.confidence[1] + 0.01),
        "a right confidence is",
    ),
    "negative": (with_top(correct_confidence=-0.01), "a right confidence is"),
    "squares": (
        with_top(squared_confidence=SUMS.top_label.squared_confidence[1] + 0.01),
        "the squares do not fit",
    ),
    "squares that are none": (with_top(squared_confidence=np.inf), "the squares do not fit"),
    "impossible": (
        replace(SUMS, all_labels=replace(SUMS.all_labels, n_infinite_losses=41)),
        "more are impossible",
    ),
    "log loss": (
        replace(SUMS, all_labels=replace(SUMS.all_labels, log_loss_sum=-1.0)),
        "the log loss is not valid",
    ),
    "infinite log loss": (
        replace(SUMS, all_labels=replace(SUMS.all_labels, log_loss_sum=np.inf)),
        "the log loss is not valid",
    ),
    "right class": (
        replace(SUMS, all_labels=with_changed_cell(SUMS.all_labels, correct=SUMS.all_labels.correct[1] + 1)),
        "exactly one right",
    ),
    "occurrences": (replace(SUMS, occurrences=SUMS.occurrences + 1), "right classes are not one"),
    "excess": (replace(SUMS, sum_deviation=-1.0), "sums of the rows"),
    "other classes": (replace(SUMS, occurrences=np.roll(SUMS.occurrences, 1)), "right classes differ"),
    "groups": (replace(SUMS, by_class=replace(class_sums(), n_groups=11)), "classes are missing"),
    "by class": (
        replace(SUMS, by_class=with_changed_cell(class_sums(), count=0)),
        "do not add up .by class.",
    ),
    "draws": (with_draws(all_labels=null_draws().all_labels + 1), "draws do not add up"),
    "too many draws": (
        with_draws(top_label=null_draws().top_label + 1),
        "more outcomes are drawn than there are positions",
    ),
    "draws by class": (with_draws(by_class=class_draws()[1:]), "draws by class do not add up"),
    "order of draws": (with_draws(by_class=class_draws()[::-1]), "draws by class are not in order"),
    "more draws by class": (
        with_draws(all_labels=null_draws().all_labels[:3], top_label=null_draws().top_label[:3]),
        "draws by class do not",
    ),
    "ambiguous": (
        replace(SUMS, unstored=UnstoredBounds({10: 41}, {10: np.zeros(10)}, 1)),
        "too many positions are ambiguous",
    ),
    "fewest": (replace(SUMS, unstored=UnstoredBounds({10: 4}, {10: np.zeros(10)}, -1)), "is negative"),
    "mass": (
        replace(SUMS, unstored=UnstoredBounds({10: 4}, {10: np.full(10, -1.0)}, 1)),
        "not stored are not valid",
    ),
    "length of mass": (
        replace(SUMS, unstored=UnstoredBounds({10: 4}, {10: np.zeros(9)}, 1)),
        "not stored are not valid",
    ),
    "mass of no M": (
        replace(SUMS, unstored=UnstoredBounds({10: 4}, {5: np.zeros(5)}, 1)),
        "not stored are not valid",
    ),
    "example": (replace(SUMS, examples=(replace(EXAMPLE, target=12),)), "a kept position is not valid"),
    "example's probs": (
        replace(SUMS, examples=(replace(EXAMPLE, probs=(1.2,)),)),
        "kept position is not valid",
    ),
    "example's row": (replace(SUMS, examples=(replace(EXAMPLE, row=-1),)), "kept position is not valid"),
}


@pytest.mark.parametrize("name", WRONG)
def test_impossible_sums_are_found(name: str) -> None:
    sums, said = WRONG[name]
    with pytest.raises(InvalidSumsError, match=said):
        check_sums(sums)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": -1}, "positions"),
        ({"classes": 0}, "classes"),
        ({"classes": 2**40}, "classes"),
        ({"draws": {"number": 10**9}}, "draws"),
        ({"by_class": None, "no_classes": None}, "both there and missing"),
        ({"no_classes": "so"}, "both there and missing"),
    ],
)
def test_sizes_are_asked_before_room_is_made(change: dict[str, Any], message: str) -> None:
    check_run_metadata(sums_metadata(SUMS))
    with pytest.raises(InvalidSumsError, match=message):
        check_run_metadata(dict(sums_metadata(SUMS)) | change)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("draw", -1),
        ("draw", 10**6),
        ("group", 12),
        ("group", -1),
        ("cell", 3000),
        ("cell", -1),
        ("count", -1),
        ("correct", -1),
    ],
)
def test_positions_outside_the_arrays_are_found_before_they_are_filled(column: str, value: int) -> None:
    table, told = sums_to_table(0, SUMS), sums_metadata(SUMS)
    check_table(told, table)
    table[5, column] = value
    with pytest.raises(InvalidSumsError, match=f"a {column} is out of range"):
        check_table(told, table)


def test_a_missing_value_is_found() -> None:
    table = sums_to_table(0, SUMS)
    table[5, "confidence"] = None
    with pytest.raises(InvalidSumsError, match="values are missing"):
        check_table(sums_metadata(SUMS), table)
