"""Which of a row's choices is the right one, if gold is a text, a position or a letter?"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Final

import polars as pl

from calib_core.readers.table.cells import CellFault, faults_where
from calib_core.runs import RUN_COLUMNS
from calib_core.wording import plural

LETTER_PATTERN: Final = r"^[(\[]?\s*([A-Za-z])\s*[)\].:]*$"
"""A single letter, possibly in brackets or followed by punctuation: "A", "(b)", "C."."""

_LETTER_POSITIONS: Final = {letter: position for position, letter in enumerate(string.ascii_uppercase)}
_INTEGER_PATTERN: Final = r"^([0-9]{1,9})(?:\.0*)?$"
_EXPECTED_GOLD: Final = "one choice: its text, its position counted from 0, or its letter"
_ONE_BASED_FIX: Final = "If positions are counted from 1, subtract 1."


def match_gold(rows: pl.DataFrame) -> tuple[pl.Series, tuple[tuple[str, CellFault], ...]]:
    """Find the right choice of each row.

    A stored `gold_index` wins, and `gold` must not contradict it. Otherwise `gold` is tried as the text of
    exactly one choice, then as an integer in 0..K−1, then as one of the first K letters.

    Parameters
    ----------
    rows
        Checked columns.

    Returns
    -------
    tuple
        The 0-based position of the right choice (dtype Int32, one per row), and (column, fault) pairs for
        golds that name no choice. A row without gold or without choices is null and not a fault. A gold
        that names no choice is a fault only if the row has probabilities of its choices, which need it.
    """
    rows = _fill_single_gold(rows)
    if not _has_gold(rows):
        return _column_or_null(rows, "gold_index", pl.Int32()).alias("gold_index"), ()
    has_scores, n_choices = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    is_beyond = (stored >= n_choices).fill_null(value=False)
    valid_stored = stored.set(is_beyond, None)
    by_text, n_matches = _match_by_text(rows, gold.is_not_null() & n_choices.is_not_null())
    is_ambiguous = n_matches > 1
    matched = by_text.set(is_ambiguous, None)
    for position in (_match_by_number(gold), _match_by_letter(gold)):
        valid = position.set((position >= n_choices).fill_null(value=True), None)
        matched = matched.zip_with(matched.is_not_null() | is_ambiguous, valid)
    is_needed = gold.is_not_null() & stored.is_null() & has_scores
    gold_faults = (
        *_ambiguous_faults(gold, is_needed & is_ambiguous),
        *_outside_faults(gold, is_needed & ~is_ambiguous & matched.is_null()),
        *_conflict_faults(gold, matched.set(_may_be_unknown_text(rows, gold), None), valid_stored),
    )
    faults = (
        *(("gold_index", fault) for fault in _outside_faults(stored, is_beyond)),
        *(("gold", fault) for fault in gold_faults),
    )
    return valid_stored.zip_with(stored.is_not_null(), matched).alias("gold_index"), faults


def gold_as_text_notes(rows: pl.DataFrame) -> tuple[str, ...]:
    """Write a note on golds that are one choice's text and could be another's position; () if none is."""
    if not _has_gold(rows):
        return ()
    _, n_choices = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    text, n_matches = _match_by_text(rows, gold.is_not_null() & n_choices.is_not_null() & stored.is_null())
    position = _match_by_number(gold)
    count = int(((n_matches == 1) & (position != text) & (position < n_choices)).sum())
    if not count:
        return ()
    note = (
        f"In {plural(count, 'row')} gold is one choice's text and another one's position, and is read as "
        f"the text; name the column gold_index where positions are meant."
    )
    return (note,)


def one_based_column(rows: pl.DataFrame) -> str | None:
    """Return the column, `gold` or `gold_index`, whose positions seem to count from 1; None if neither.

    A column seems to count from 1 if, in some run, most of its values are integers that are not the text of
    a choice, all of them lie in 1..K of their row, and some equal K. Values are not in doubt if `gold` and
    `gold_index` name the same choice when counted from 0.
    """
    if not _has_gold(rows):
        return None
    _, n_choices = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    text, _ = _match_by_text(rows, gold.is_not_null() & n_choices.is_not_null())
    number = _match_by_number(gold)
    agrees = (number.zip_with(number.is_not_null(), _match_by_letter(gold)) == stored).fill_null(value=False)
    candidates = gold.set((stored.is_not_null() & ~agrees) | text.is_not_null(), None)
    run_columns = [name for name in RUN_COLUMNS if name in rows.columns]
    never = pl.repeat(value=False, n=rows.height, eager=True)
    for name, values, positions, is_settled in (
        ("gold_index", stored, stored, never),
        ("gold", candidates, _match_by_number(candidates), agrees),
    ):
        frame = pl.DataFrame(
            {"value": values, "position": positions, "n_choices": n_choices, "is_settled": is_settled}
        )
        frame = frame.hstack(rows.select(run_columns))
        frame = frame.filter(pl.col("value").is_not_null() & (pl.col("n_choices") > 0))
        signs = frame.group_by(run_columns or pl.lit(0)).agg(
            mostly_integers=2 * pl.col("position").count() > pl.len(),
            all_in_range=pl.col("position").is_between(1, pl.col("n_choices")).all(),
            reaches_end=(pl.col("position") == pl.col("n_choices")).any(),
            in_doubt=~pl.col("is_settled").any(),
        )
        looks_one_based = pl.all_horizontal("mostly_integers", "all_in_range", "reaches_end", "in_doubt")
        if signs.select(looks_one_based.any()).item():
            return name
    return None


def _has_gold(rows: pl.DataFrame) -> bool:
    return "gold" in rows.columns or "gold_index" in rows.columns


def _fill_single_gold(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in `gold` where the list `gold_all` has a single element."""
    if "gold_all" not in rows.columns:
        return rows
    single = pl.when(pl.col("gold_all").list.len() == 1).then(pl.col("gold_all").list.first())
    gold = pl.coalesce("gold", single) if "gold" in rows.columns else single
    return rows.with_columns(gold.alias("gold"))


def _may_be_unknown_text(rows: pl.DataFrame, gold: pl.Series) -> pl.Series:
    """Return whether a numeric gold may be the text of a choice, as the file does not give the texts."""
    return (
        _column_or_null(rows, "choices", pl.List(pl.String())).is_null()
        & _match_by_number(gold).is_not_null()
    )


def _column_or_null(rows: pl.DataFrame, name: str, dtype: pl.DataType) -> pl.Series:
    return rows[name] if name in rows.columns else pl.repeat(None, rows.height, dtype=dtype, eager=True)


def _choice_counts(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return which rows have probabilities of their choices, and each row's number of choices or null."""
    n_choices = pl.repeat(None, rows.height, dtype=pl.Int32, eager=True)
    has_scores = n_choices.is_not_null()
    for name in ("choice_logprobs", "choice_probs", "choices"):
        if name in rows.columns:
            n_choices = n_choices.zip_with(n_choices.is_not_null(), rows[name].list.len().cast(pl.Int32))
        if name != "choices":
            has_scores = n_choices.is_not_null()
    return has_scores, n_choices


def _match_by_text(rows: pl.DataFrame, has_gold: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the position of the first choice whose text equals gold, and the number of such choices."""
    if "choices" not in rows.columns or not has_gold.any():
        no_match = pl.repeat(None, rows.height, dtype=pl.Int32, eager=True)
        return no_match, pl.repeat(0, rows.height, dtype=pl.UInt32, eager=True)
    is_comparable = has_gold & (rows["choices"].list.len() > 0).fill_null(value=False)
    matches = (
        rows.select(
            "gold",
            "choices",
            index=pl.int_range(pl.len()),
            position=pl.int_ranges(pl.col("choices").list.len(), dtype=pl.Int32),
        )
        .filter(is_comparable)
        .explode("choices", "position")
        .filter(pl.col("choices") == pl.col("gold"))
        .group_by("index")
        .agg(pl.col("position").min(), n_matches=pl.len())
    )
    by_row = rows.select(index=pl.int_range(pl.len()))
    joined = by_row.join(matches, on="index", how="left", maintain_order="left")
    return joined["position"], joined["n_matches"].fill_null(0)


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
    """Parse each text; if there are few distinct texts, parse each of them only once."""
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
    is_different = (matched != stored).fill_null(value=False)
    if not is_different.any():
        return ()
    shown = pl.select(pl.format("{}, and gold_index {}", gold, stored)).to_series()
    expected = "the choice that gold_index names, counted from 0"
    fix = "Mend one of the two, or leave one column out."
    return faults_where(shown, is_different, "gold and gold_index differ", expected, fix)
