"""The table of a run contains its parts, and nothing twice."""

from __future__ import annotations

import numpy as np
import polars as pl

from calib_core.readers.token.sums import SUMS_SCHEMA, sums_from_table, sums_metadata, sums_to_table
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.sums import N_CLASS_DRAWS, N_DRAWS, TokenSums
from core.readers.token.array_files import distributions

ROWS, CLASSES = 30, 9


def make_sums() -> TokenSums:
    reducer = DenseReducer(CLASSES)
    reducer.add(*distributions(ROWS, CLASSES))
    return reducer.result()


def test_counts_of_each_part() -> None:
    table = sums_to_table(3, make_sums())
    assert dict(table.schema) == dict(SUMS_SCHEMA)
    assert table["run"].unique().to_list() == [3]
    counts = dict(table.group_by("part").agg(pl.col("count").sum()).iter_rows())
    assert counts.pop("draws_top") <= N_DRAWS * ROWS
    assert counts == {
        "top": ROWS,
        "all": ROWS * CLASSES,
        "class": ROWS * CLASSES,
        "occurrences": ROWS,
        "draws_all": N_DRAWS * ROWS,
        "draws_class": N_CLASS_DRAWS * ROWS,
        "examples": 0,
    }


def test_cells_are_unique_and_not_empty() -> None:
    cells = sums_to_table(0, make_sums()).filter(pl.col("part") != "examples")
    assert (cells["count"] > 0).all()
    keys = cells.filter(pl.col("part") != "unseen").select("part", "draw", "group", "cell")
    assert keys.height == keys.unique().height


def test_the_order_of_parts_does_not_matter() -> None:
    sums = make_sums()
    table = sums_to_table(0, sums)
    parts = table.partition_by("part", maintain_order=True)
    again = sums_from_table(sums_metadata(sums), pl.concat(parts[::-1]).lazy())
    assert (again.all_labels.confidence == sums.all_labels.confidence).all()
    assert again.draws is not None
    assert sums.draws is not None
    assert (again.draws.top_label == sums.draws.top_label).all()


def test_a_run_without_positions_has_an_empty_table() -> None:
    sums = DenseReducer(CLASSES, by_class=False, draws=False).result()
    assert sums_to_table(0, sums).is_empty()
    again = sums_from_table(sums_metadata(sums), sums_to_table(0, sums).lazy())
    assert (again.n_rows, again.top_label.n_pairs, again.draws) == (0, 0, None)
    assert again.occurrences.dtype == np.int64
