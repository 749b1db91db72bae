"""Which of a row's choices is the right one, when gold is a text, a position or a letter?"""

from __future__ import annotations

import string
from typing import Final

import polars as pl

from calib_core.files.judged import Fault, faults

_LETTERS: Final = {letter: at for at, letter in enumerate(string.ascii_uppercase)}
_EXPECTED: Final = "one choice: its text, its position counted from 0, or its letter"
_FIX: Final = "If positions are counted from 1, subtract 1."


def resolve(rows: pl.DataFrame) -> tuple[pl.Series, tuple[tuple[str, Fault], ...]]:
    """The 0-based position of the right choice of each row (Int32), and (column, fault) of the others.

    rows: judged columns. A stored `gold_index` wins; else, where the row has numbers for its choices,
    `gold` is the text of exactly one choice, then a whole number 0..K-1, then a letter A.. of the
    first K. A row without gold, or without such numbers, has null and no fault.
    """
    raw = {name: rows[name] for name in ("gold", "gold_index", "choices") if name in rows.columns}
    sizes = _sizes(rows)
    stored = raw.get("gold_index", pl.repeat(None, rows.height, dtype=pl.Int32, eager=True))
    beyond = (stored >= sizes).fill_null(value=False)
    kept = stored.set(beyond, None)
    problems = [("gold_index", fault) for fault in _outside(stored, beyond)]
    if "gold" not in raw:
        return kept, tuple(problems)
    gold = raw["gold"]
    asked = gold.is_not_null() & sizes.is_not_null() & stored.is_null()
    if not asked.any():
        return kept, tuple(problems)
    position, fits = _by_text(rows, asked) if "choices" in raw else _nowhere(rows.height)
    twice = asked & (fits > 1)
    found = position.set(twice, None)
    for other in (_by_number(gold, sizes), _by_letter(gold, sizes)):
        found = found.zip_with(found.is_not_null() | ~asked | twice, other)
    outside = asked & ~twice & found.is_null()
    problems += [("gold", fault) for fault in _ambiguous(gold, twice) + _outside(gold, outside)]
    return kept.zip_with(stored.is_not_null(), found), tuple(problems)


def _sizes(rows: pl.DataFrame) -> pl.Series:
    """How many choices each row has numbers for; null where it has none."""
    sizes = pl.repeat(None, rows.height, dtype=pl.Int32, eager=True)
    for name in ("choice_logprobs", "choice_probs"):
        if name in rows.columns:
            more = rows[name].list.len().cast(pl.Int32)
            sizes = sizes.zip_with(sizes.is_not_null(), more)
    return sizes


def _nowhere(rows: int) -> tuple[pl.Series, pl.Series]:
    none = pl.repeat(None, rows, dtype=pl.Int32, eager=True)
    return none, pl.repeat(0, rows, dtype=pl.UInt32, eager=True)


def _by_text(rows: pl.DataFrame, asked: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The position of the first choice whose text equals gold, and how many do."""
    held = asked & (rows["choices"].list.len() > 0).fill_null(value=False)
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


def _by_number(gold: pl.Series, sizes: pl.Series) -> pl.Series:
    whole = gold.str.strip_chars().str.extract(r"^([0-9]{1,9})(?:\.0*)?$", 1).cast(pl.Int32, strict=False)
    return whole.set((whole >= sizes).fill_null(value=True), None)


def _by_letter(gold: pl.Series, sizes: pl.Series) -> pl.Series:
    letter = gold.str.strip_chars().str.to_uppercase()
    position = letter.replace_strict(_LETTERS, default=None, return_dtype=pl.Int32)
    return position.set((position >= sizes).fill_null(value=True), None)


def _outside(raw: pl.Series, outside: pl.Series) -> tuple[Fault, ...]:
    return faults(raw, outside, "label outside the classes", _EXPECTED, _FIX)


def _ambiguous(raw: pl.Series, twice: pl.Series) -> tuple[Fault, ...]:
    return faults(
        raw, twice, "label fits several choices", _EXPECTED, "Give gold_index, the position counted from 0."
    )
