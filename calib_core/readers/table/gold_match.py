"""Which of a row's choices is the right one, when gold is a text, a position or a letter?"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Final

import polars as pl

from calib_core.readers.table.cells import CellFault, faults_where
from calib_core.runs import RUN_COLUMNS
from calib_core.wording import plural

_LETTER_POSITIONS: Final = {letter: at for at, letter in enumerate(string.ascii_uppercase)}
LETTER_PATTERN: Final = r"^[(\[]?\s*([A-Za-z])\s*[)\].:]*$"
_INTEGER_PATTERN: Final = r"^([0-9]{1,9})(?:\.0*)?$"
_EXPECTED_GOLD: Final = "one choice: its text, its position counted from 0, or its letter"
_ONE_BASED_FIX: Final = "If positions are counted from 1, subtract 1."


def match_gold(rows: pl.DataFrame) -> tuple[pl.Series, tuple[tuple[str, CellFault], ...]]:
    """The 0-based position of the right choice of each row (Int32), and (column, fault) of the others.

    rows: judged columns. A stored `gold_index` wins, and `gold` must not name another choice; else
    `gold` is the text of exactly one choice, then a whole number 0..K-1, then a letter A.. of the
    first K. A row without gold, or without choices, has null and no fault; so has one whose gold names
    no choice where no numbers of the choices are there that it is needed for.
    """
    rows = _fill_single_gold(rows)
    if not _has_gold(rows):
        return _column_or_null(rows, "gold_index", pl.Int32()).alias("gold_index"), ()
    numbered, sizes = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    beyond = (stored >= sizes).fill_null(value=False)
    kept = stored.set(beyond, None)
    position, fits = _match_by_text(rows, gold.is_not_null() & sizes.is_not_null())
    twice = fits > 1
    named = position.set(twice, None)
    for other in (_match_by_number(gold), _match_by_letter(gold)):
        inside = other.set((other >= sizes).fill_null(value=True), None)
        named = named.zip_with(named.is_not_null() | twice, inside)
    asked = gold.is_not_null() & stored.is_null() & numbered
    outside = asked & ~twice & named.is_null()
    problems = (
        *(("gold_index", fault) for fault in _outside_faults(stored, beyond)),
        *(
            ("gold", fault)
            for fault in _ambiguous_faults(gold, asked & twice) + _outside_faults(gold, outside)
        ),
        *(
            ("gold", fault)
            for fault in _conflict_faults(gold, named.set(_may_be_unknown_text(rows, gold), None), kept)
        ),
    )
    return kept.zip_with(stored.is_not_null(), named).alias("gold_index"), problems


def gold_as_text_notes(rows: pl.DataFrame) -> tuple[str, ...]:
    """A remark on golds that are one choice's text and would be another's position; () where none is."""
    if not _has_gold(rows):
        return ()
    _, sizes = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    text, fits = _match_by_text(rows, gold.is_not_null() & sizes.is_not_null() & stored.is_null())
    position = _match_by_number(gold)
    count = int(((fits == 1) & (position != text) & (position < sizes)).sum())
    if not count:
        return ()
    told = plural(count, "row")
    read = f"In {told} gold is one choice's text and another one's position, and is read as the text; "
    return (f"{read}name the column gold_index where positions are meant.",)


def one_based_column(rows: pl.DataFrame) -> str | None:
    """The column, `gold` or `gold_index`, whose positions look counted from 1; None where none does.

    So they look in a run where most of the column are whole numbers that are no choice's text, all of
    them lie in 1..K of their row, and some are K. One stray K is a slip, not another way of counting. Where
    `gold_index` names the choice that `gold` does, counted from 0, there is no doubt.
    """
    if not _has_gold(rows):
        return None
    _, sizes = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    text, _ = _match_by_text(rows, gold.is_not_null() & sizes.is_not_null())
    named = _match_by_number(gold)
    agrees = (named.zip_with(named.is_not_null(), _match_by_letter(gold)) == stored).fill_null(value=False)
    free = gold.set((stored.is_not_null() & ~agrees) | text.is_not_null(), None)
    run = [name for name in RUN_COLUMNS if name in rows.columns]
    never = pl.repeat(value=False, n=rows.height, eager=True)
    for name, there, whole, settled in (
        ("gold_index", stored, stored, never),
        ("gold", free, _match_by_number(free), agrees),
    ):
        known = pl.DataFrame({"there": there, "whole": whole, "size": sizes, "settled": settled})
        known = known.hstack(rows.select(run)).filter(pl.col("there").is_not_null() & (pl.col("size") > 0))
        looks = known.group_by(run or pl.lit(0)).agg(
            most=2 * pl.col("whole").count() > pl.len(),
            inside=pl.col("whole").is_between(1, pl.col("size")).all(),
            last=(pl.col("whole") == pl.col("size")).any(),
            unsettled=~pl.col("settled").any(),
        )
        if looks.select(pl.all_horizontal("most", "inside", "last", "unsettled").any()).item():
            return name
    return None


def _has_gold(rows: pl.DataFrame) -> bool:
    return "gold" in rows.columns or "gold_index" in rows.columns


def _fill_single_gold(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `gold` filled in where the list `gold_all` names a single one."""
    if "gold_all" not in rows.columns:
        return rows
    only = pl.when(pl.col("gold_all").list.len() == 1).then(pl.col("gold_all").list.first())
    gold = pl.coalesce("gold", only) if "gold" in rows.columns else only
    return rows.with_columns(gold.alias("gold"))


def _may_be_unknown_text(rows: pl.DataFrame, gold: pl.Series) -> pl.Series:
    """Whether a gold that is a number may be the text of a choice that the file does not give."""
    return (
        _column_or_null(rows, "choices", pl.List(pl.String())).is_null()
        & _match_by_number(gold).is_not_null()
    )


def _column_or_null(rows: pl.DataFrame, name: str, dtype: pl.DataType) -> pl.Series:
    return rows[name] if name in rows.columns else pl.repeat(None, rows.height, dtype=dtype, eager=True)


def _choice_counts(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Which rows have numbers for their choices, and how many choices each has; null where it has none."""
    sizes = pl.repeat(None, rows.height, dtype=pl.Int32, eager=True)
    numbered = sizes.is_not_null()
    for name in ("choice_logprobs", "choice_probs", "choices"):
        if name in rows.columns:
            sizes = sizes.zip_with(sizes.is_not_null(), rows[name].list.len().cast(pl.Int32))
        if name != "choices":
            numbered = sizes.is_not_null()
    return numbered, sizes


def _match_by_text(rows: pl.DataFrame, has_gold: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The position of the first choice whose text equals gold, and how many do."""
    if "choices" not in rows.columns or not has_gold.any():
        none = pl.repeat(None, rows.height, dtype=pl.Int32, eager=True)
        return none, pl.repeat(0, rows.height, dtype=pl.UInt32, eager=True)
    held = has_gold & (rows["choices"].list.len() > 0).fill_null(value=False)
    equal = (
        rows.select(
            "gold",
            "choices",
            at=pl.int_range(pl.len()),
            position=pl.int_ranges(pl.col("choices").list.len(), dtype=pl.Int32),
        )
        .filter(held)
        .explode("choices", "position")
        .filter(pl.col("choices") == pl.col("gold"))
        .group_by("at")
        .agg(pl.col("position").min(), fits=pl.len())
    )
    joined = rows.select(at=pl.int_range(pl.len())).join(equal, on="at", how="left", maintain_order="left")
    return joined["position"], joined["fits"].fill_null(0)


def _match_by_number(gold: pl.Series) -> pl.Series:
    return _parse_unique(
        gold, lambda text: text.str.extract(_INTEGER_PATTERN, 1).cast(pl.Int32, strict=False)
    )


def _match_by_letter(gold: pl.Series) -> pl.Series:
    def position(text: pl.Series) -> pl.Series:
        letter = text.str.extract(LETTER_PATTERN, 1).str.to_uppercase()
        return letter.replace_strict(_LETTER_POSITIONS, default=None, return_dtype=pl.Int32)

    return _parse_unique(gold, position)


def _parse_unique(gold: pl.Series, parse: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """What is read from each text, looked at once where only a few different ones come again and again."""
    values = gold.drop_nulls().unique()
    if not values.len():
        return pl.repeat(None, gold.len(), dtype=pl.Int32, eager=True)
    if 10 * values.len() > gold.len():
        return parse(gold.str.strip_chars())
    return gold.replace_strict(values, parse(values.str.strip_chars()), default=None, return_dtype=pl.Int32)


def _outside_faults(raw: pl.Series, is_outside: pl.Series) -> tuple[CellFault, ...]:
    return faults_where(raw, is_outside, "label outside the classes", _EXPECTED_GOLD, _ONE_BASED_FIX)


def _ambiguous_faults(raw: pl.Series, is_ambiguous: pl.Series) -> tuple[CellFault, ...]:
    return faults_where(
        raw,
        is_ambiguous,
        "label fits several choices",
        _EXPECTED_GOLD,
        "Give gold_index, the position counted from 0.",
    )


def _conflict_faults(gold: pl.Series, matched: pl.Series, stored: pl.Series) -> tuple[CellFault, ...]:
    differ = (matched != stored).fill_null(value=False)
    if not differ.any():
        return ()
    shown = pl.select(pl.format("{}, and gold_index {}", gold, stored)).to_series()
    expected = "the choice that gold_index names, counted from 0"
    fix = "Mend one of the two, or leave one column out."
    return faults_where(shown, differ, "gold and gold_index differ", expected, fix)
