"""Which rows of two runs ask the same question?"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun

KEY_SEPARATOR = "\x1f"
"""Separates the parts of a key: a control character that does not occur in a file's ids."""


def common_questions(
    first: AnswerRun, second: AnswerRun
) -> tuple[NDArray[np.intp], NDArray[np.intp], pl.Series]:
    """The questions that two runs have in common.

    A question is identified by its text if both runs have one in every row, otherwise by its id, each
    together with its subject if both runs have one. If both text and id are present, the id only
    distinguishes equal texts. Row numbers do not identify a question.

    Parameters
    ----------
    first, second : AnswerRun
        The two runs.

    Returns
    -------
    first_rows, second_rows : NDArray[np.intp], shape (questions,)
        Positions in the `rows` of each run, in the order of the first.
    key : pl.Series of String, shape (questions,)
        A unique key of each question.

    Raises
    ------
    Unavailable
        If the rows of a run cannot be distinguished, or the runs have no question in common.
    """
    keys = [_row_keys(run, *_key_columns(first, second)) for run in (first, second)]
    for run, key in zip((first, second), keys, strict=True):
        if key.n_unique() < key.len():
            raise Unavailable(f"{run.label}: some questions occur twice and no id tells them apart.")
    left, right = (
        pl.DataFrame({"key": key, f"at_{side}": np.arange(key.len())}) for side, key in enumerate(keys)
    )
    both = left.join(right, on="key", how="inner", maintain_order="left")
    if both.is_empty():
        raise Unavailable(f"{first.label} and {second.label} have no question in common.")
    return (
        both["at_0"].to_numpy().astype(np.intp),
        both["at_1"].to_numpy().astype(np.intp),
        both["key"],
    )


def _key_columns(first: AnswerRun, second: AnswerRun) -> tuple[str, ...]:
    """The columns that identify a question in both runs; raises Unavailable if there are none."""

    def complete(name: str) -> bool:
        return all(run.has_columns(name) and not run.rows[name].has_nulls() for run in (first, second))

    names = tuple(name for name in ("subject", "question", "id") if complete(name))
    texts = tuple(name for name in names if name != "id")
    if "question" in names and _identifies_rows(first, texts) and _identifies_rows(second, texts):
        names = texts  # each run may number its questions differently
    if "question" not in names and "id" not in names:
        raise Unavailable(
            f"{first.label} and {second.label} cannot be paired: "
            "both need an id or the question's text in every row."
        )
    return names


def _identifies_rows(run: AnswerRun, columns: tuple[str, ...]) -> bool:
    return _row_keys(run, *columns).n_unique() == run.rows.height


def _row_keys(run: AnswerRun, *names: str) -> pl.Series:
    parts = pl.DataFrame([column(run, name).cast(pl.String) for name in names])
    return parts.select(key=pl.concat_str(pl.all(), separator=KEY_SEPARATOR))["key"]
