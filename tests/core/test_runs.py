"""Missing values are distinguished from bad ones."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.runs import forget_last_run, is_missing, kept_for_last_run


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (pl.Series([None, "", " \t", "N/A", "0"]), [True, True, True, False, False]),
        (pl.Series(["\n", "\u00a0\u3000", " a", "\u00a0a ", "~", "é", "\x7f"]), [True] * 2 + [False] * 5),
        (pl.Series(["a", "b"]), [False, False]),
        (pl.Series([None, 0.0, float("nan")]), [True, False, False]),
        (pl.Series([None, [], [None]], dtype=pl.List(pl.String)), [True, False, False]),
        (pl.Series([None, None]), [True, True]),
    ],
)
def test_null_and_blank_text_are_missing_and_nothing_else(values: pl.Series, missing: list[bool]) -> None:
    assert is_missing(values).to_list() == missing


def test_what_is_kept_of_the_last_run_is_kept_until_another_or_forgotten() -> None:
    asked: list[str] = []
    kept = kept_for_last_run(asked.append)
    for run in ("a", "a", "b", "a", "a"):
        kept(run)
    forget_last_run()
    kept("a")
    assert asked == ["a", "b", "a", "a"]
