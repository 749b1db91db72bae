"""Is an answer right, judged against gold or by the file's own outcomes?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.methods.answers.cluster import sample_texts
from calib_core.methods.answers.normalise import AnswerNormaliser, choice_label
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun


def samples_correct(
    run: AnswerRun,
    normaliser: AnswerNormaliser,
    row: NDArray[np.integer[Any]],
    position: NDArray[np.integer[Any]],
) -> pl.Series:
    """Whether the samples at these rows and positions are right; Boolean, null where unknown.

    They are judged against gold, otherwise by `sample_correct`; the other way round where the file labels the
    clusters.
    """
    rows, at = pl.Series(row, dtype=pl.UInt32), pl.Series(position, dtype=pl.Int64)
    by_gold = samples_match_gold(run, normaliser, rows, at)
    stored = _items_at(column(run, "sample_correct"), rows, at)
    labelled = (column(run, "sample_cluster").list.len() > 0).fill_null(value=False).gather(rows)
    return stored.fill_null(by_gold).zip_with(labelled, by_gold.fill_null(stored))


def samples_match_gold(
    run: AnswerRun, normaliser: AnswerNormaliser, row: pl.Series, position: pl.Series
) -> pl.Series:
    """Whether the samples at these rows and positions equal a gold answer; Boolean, null where unknown.

    A sample that exists and does not parse is wrong.
    """
    golds = gold_forms(run, normaliser)
    texts = _items_at(sample_texts(run), row, position)
    parsed = column(run, "samples_parsed").is_not_null().gather(row)
    form = normaliser.output_forms(row, texts.set(parsed, None))
    form = form.fill_null(normaliser.answer_forms(row, texts.set(~parsed, None)))
    there = (position < sample_texts(run).list.len().gather(row)).fill_null(value=False)
    unread = form.is_null() & there & row.is_in(golds["row"].implode())
    return matches_gold(row, form, golds).set(unread, value=False)


def gold_forms(run: AnswerRun, normaliser: AnswerNormaliser) -> pl.DataFrame:
    """Every right answer of each row in its normal form: columns row and form."""
    rows = pl.DataFrame(
        {
            "row": row_positions(run),
            "gold": column(run, "gold"),
            "all": column(run, "gold_all"),
            "index": column(run, "gold_index").set(normaliser.kind != "choice", None),
        }
    )
    golds = normaliser.of_golds()
    by_index = rows.filter(pl.col("index").is_not_null())
    one = rows.filter(pl.col("index").is_null()).select("row", text="gold")
    several = rows.filter(pl.col("all").list.len() > 0).select("row", text="all").explode("text")
    texts = pl.concat([one, several]).drop_nulls()
    return (
        pl.concat(
            [
                texts.select("row", form=golds.output_forms(texts["row"], texts["text"])),
                by_index.select("row", form=choice_label(by_index["index"])),
            ]
        )
        .drop_nulls()
        .unique()
    )


def matches_gold(row: pl.Series, form: pl.Series, golds: pl.DataFrame) -> pl.Series:
    """Whether each form is among the golds of its row: Boolean, null without a form or a gold."""
    asked = pl.DataFrame({"row": row, "form": form})
    hits = golds.with_columns(hit=True)
    hit = asked.join(hits, on=["row", "form"], how="left", maintain_order="left")["hit"]
    known = form.is_not_null() & row.is_in(golds["row"].implode())
    return hit.fill_null(value=False).set(~known, None).alias("correct")


def has_gold(run: AnswerRun) -> pl.Series:
    """Which rows name a right answer, whether or not it parses. Boolean, shape (rows,)."""
    several = (column(run, "gold_all").list.len() > 0).fill_null(value=False)
    return column(run, "gold").is_not_null() | column(run, "gold_index").is_not_null() | several


def _items_at(lists: pl.Series, row: pl.Series, position: pl.Series) -> pl.Series:
    """The items at a position of some rows; null where the row has none there."""
    count = lists.list.len().fill_null(0).cast(pl.Int64)
    there = ((position >= 0) & (position < count.gather(row))).fill_null(value=False)
    # Laid end to end: a row that is asked for often is not copied as often.
    start = count.cum_sum() - count
    return lists.filter(count > 0).explode().gather((start.gather(row) + position).set(~there, None))


def row_positions(run: AnswerRun) -> pl.Series:
    """The position of each row. UInt32, shape (rows,)."""
    return pl.int_range(run.rows.height, dtype=pl.UInt32, eager=True)
