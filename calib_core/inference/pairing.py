"""Which rows of two runs are the same question?"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun

KEY_SEPARATOR = "\x1f"
"""Between the parts of a key: a control character, which no id of a file holds."""


def common_questions(
    first: AnswerRun, second: AnswerRun
) -> tuple[NDArray[np.intp], NDArray[np.intp], pl.Series]:
    """Positions in both runs' `rows` of the questions that both hold, in the order of the first, and a key.

    A question is told by its text where both runs have one in every row, else by its id (with its subject,
    where both have one); where both have text and id, the id only tells equal texts apart. Row numbers tell
    nothing. Shape (questions,) each; the key is text and unique. Raises Unavailable where the rows of a run
    cannot be told apart, or the runs share no question.
    """
    keys = [_row_keys(run, *_key_columns(first, second)) for run in (first, second)]
    for run, key in zip((first, second), keys, strict=True):
        if key.n_unique() < key.len():
            raise Unavailable(f"{run.label}: some questions occur twice and no id tells them apart.")
    place = [pl.DataFrame({"key": key, f"at_{side}": np.arange(key.len())}) for side, key in enumerate(keys)]
    both = place[0].join(place[1], on="key", how="inner", maintain_order="left")
    if both.is_empty():
        raise Unavailable(f"{first.label} and {second.label} have no question in common.")
    return (
        both["at_0"].to_numpy().astype(np.intp),
        both["at_1"].to_numpy().astype(np.intp),
        both["key"],
    )


def _key_columns(first: AnswerRun, second: AnswerRun) -> tuple[str, ...]:
    """The columns that name a question in both runs."""

    def complete(name: str) -> bool:
        return all(run.has_columns(name) and not run.rows[name].has_nulls() for run in (first, second))

    told = tuple(name for name in ("subject", "question", "id") if complete(name))
    texts = tuple(name for name in told if name != "id")
    if "question" in told and _identifies_rows(first, texts) and _identifies_rows(second, texts):
        told = texts  # ids may count anew in each run
    if "question" not in told and "id" not in told:
        raise Unavailable(
            f"{first.label} and {second.label} cannot be paired: "
            "both need an id or the question's text in every row."
        )
    return told


def _identifies_rows(run: AnswerRun, columns: tuple[str, ...]) -> bool:
    return _row_keys(run, *columns).n_unique() == run.rows.height


def _row_keys(run: AnswerRun, *names: str) -> pl.Series:
    parts = pl.DataFrame([column(run, name).cast(pl.String) for name in names])
    return parts.select(key=pl.concat_str(pl.all(), separator=KEY_SEPARATOR))["key"]
