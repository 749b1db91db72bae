"""Which of a row's choices is the right one, if gold is a text, a position or a letter?"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from calib_core.advice import Advice
from calib_core.errors import Refused
from calib_core.readers.table.cells import CellFault, faults_where, number_or_text
from calib_core.runs import RUN_COLUMNS
from calib_core.wording import plural

LETTER_PATTERN: Final = r"^[(\[]?\s*([A-Za-z])\s*[)\].:]*$"
"""A single letter, possibly in brackets or followed by punctuation: "A", "(b)", "C."."""

_INTEGER_PATTERN: Final = r"^([0-9]{1,9})(?:\.0*)?$"
_NUMBERED_CLASS: Final = r"^([A-Za-z]+[ _-]?)([0-9]{1,4})$"
_EXPECTED_GOLD: Final = "one choice: its text, its position counted from 0, or its letter"
_ONE_BASED_FIX: Final = "If positions are counted from 1, subtract 1."


@dataclass(frozen=True, slots=True, eq=False)
class GoldMatch:
    """The right choice of each row of a file, and what is to be said about it.

    Attributes
    ----------
    gold_index
        The 0-based position of the right choice; Int32, shape (rows,), null where it is not known.
    faults
        (column, fault) pairs for golds that name no choice.
    notes
        Sentences on golds that could mean two things.
    one_based_column
        The column, `gold` or `gold_index`, whose positions seem to count from 1; None if neither does.
    """

    gold_index: pl.Series
    faults: tuple[tuple[str, CellFault], ...] = ()
    notes: tuple[str, ...] = ()
    one_based_column: str | None = None


def are_letters(labels: Sequence[str]) -> bool:
    """Return whether labels are letters, which need no looking up as texts."""
    return all(len(label) == 1 and label.isalpha() for label in labels)


def number_classes(rows: pl.DataFrame, labels: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Leave out the word before the numbers of classes, as in LABEL_1, where other columns have bare numbers.

    Parameters
    ----------
    rows
        Checked columns.
    labels
        The labels of the choices, if their columns name them.

    Returns
    -------
    tuple
        The rows, and a note on each column that is changed.
    """
    answers = {name: rows[name].drop_nulls() for name in ("gold", "prediction") if name in rows.columns}
    choices = rows["choices"].explode().drop_nulls() if "choices" in rows.columns else None
    texts = answers if choices is None else {**answers, "choices": choices}
    groups = {name: raw.str.extract_groups(_NUMBERED_CLASS) for name, raw in texts.items()}
    parts = {name: found.unique().struct.unnest() for name, found in groups.items()}
    words = {name: found["1"][0] for name, found in parts.items() if found["1"].n_unique() == 1}
    words = {name: word for name, word in words.items() if word is not None}
    bare = [pl.Series(labels, dtype=pl.String), *answers.values()] if words else []
    numbers = {text for raw in bare if raw.str.contains(_INTEGER_PATTERN).all() for text in raw.unique()}
    notes: list[str] = []
    for name, word in words.items() if numbers else ():
        found = {*parts[name]["2"]}
        if found <= numbers or numbers <= found:
            is_list = name == "choices"
            bared = (pl.element() if is_list else pl.col(name)).str.strip_prefix(word)
            rows = rows.with_columns(pl.col(name).list.eval(bared) if is_list else bared)
            notes.append(f"{name} is the number after {word!r}, as other columns have bare numbers.")
    return rows, tuple(notes)


def name_choices(rows: pl.DataFrame, labels: Sequence[str], file: str) -> tuple[pl.DataFrame, bool]:
    """Name the choices by the labels of their columns, where these are no letters and the rows name none.

    Parameters
    ----------
    rows
        Checked columns.
    labels
        The labels of the choices, in their order.
    file
        What messages call the file.

    Returns
    -------
    tuple
        The rows, in which golds and predictions are written as the labels are, and whether an integer counts
        the choices from 0: not where the labels are numbers, and golds mean these.

    Raises
    ------
    Refused
        All golds are numbers of columns and also positions in their order, and the two are not the same.
    """
    if not labels or are_letters(labels) or "choices" in rows.columns:
        return rows, True
    forms = number_or_text(pl.Series(labels)).str.to_lowercase()
    if forms.is_duplicated().any():
        return rows, True
    names = pl.Series([list(labels)]).new_from_index(0, rows.height).alias("choices")
    written = [
        number_or_text(rows[name]).str.to_lowercase().replace_strict(forms, labels, default=rows[name])
        for name in ("gold", "prediction")
        if name in rows.columns
    ]
    named = rows.with_columns(names, *written)
    if not all(label.isdecimal() for label in labels) or "gold" not in rows.columns:
        return named, True
    gold = named["gold"].drop_nulls()
    position = _match_by_number(gold)
    are_labels, are_positions = (
        gold.is_in(labels).all(),
        (position < len(labels)).fill_null(value=False).all(),
    )
    if not (are_labels and are_positions):
        return (named, False) if are_labels or not are_positions else (rows, True)
    if all(labels[at] == label for at, label in zip(position.to_list(), gold.to_list(), strict=True)):
        return named, True
    raise Refused(
        f"{file}: gold may be the number in the name of a column or a position in their order "
        f"({', '.join(labels)}), counted from 0, and the two differ. Map the columns in the order of their "
        f"numbers, from 0; or have positions counted: {Advice(columns={'COLUMN': 'gold_index'})}"
    )


def match_gold(rows: pl.DataFrame, labels: Sequence[str] = (), *, counts: bool = True) -> GoldMatch:
    """Find the right choice of each row.

    A stored `gold_index` wins, and `gold` must not contradict it. What `gold` means is decided for a whole
    run: where all of it are integers in 0..K−1, or all letters, it is a position also in a row in which
    another choice has this text. Elsewhere each is tried as the text of exactly one choice, then as an
    integer, then as a letter.

    Parameters
    ----------
    rows
        Checked columns.
    labels
        The letters of the choices in their order, if they are known; otherwise A, B, C ….
    counts
        Whether an integer is the position of a choice, counted from 0.

    Returns
    -------
    GoldMatch
        A row without gold or without choices is null and not a fault. A gold that names no choice is a fault
        only if the row has probabilities of its choices, which need it.
    """
    rows = _fill_single_gold(rows)
    if not _has_gold(rows):
        return GoldMatch(_column_or_null(rows, "gold_index", pl.Int32()).alias("gold_index"))
    readings = _read_golds(
        rows, labels if labels and are_letters(labels) else string.ascii_uppercase, counts=counts
    )
    gold, stored = readings.gold, readings.stored
    is_beyond = (stored >= readings.n_choices).fill_null(value=False)
    valid_stored = stored.set(is_beyond, None)
    matched, is_ambiguous = readings.matched, readings.is_ambiguous
    is_needed = gold.is_not_null() & stored.is_null() & readings.has_scores
    gold_faults = (
        *_ambiguous_faults(gold, is_needed & is_ambiguous),
        *_outside_faults(gold, is_needed & ~is_ambiguous & matched.is_null()),
        *_conflict_faults(gold, matched.set(_may_be_unknown_text(rows, gold), None), valid_stored),
    )
    return GoldMatch(
        gold_index=valid_stored.zip_with(stored.is_not_null(), matched).alias("gold_index"),
        faults=(
            *(("gold_index", fault) for fault in _outside_faults(stored, is_beyond)),
            *(("gold", fault) for fault in gold_faults),
        ),
        notes=tuple(_notes_on_two_meanings(readings)),
        one_based_column=_one_based_column(rows, readings),
    )


# --- What each gold could mean ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _GoldReadings:
    """What the gold of each row names by each reading; all of shape (rows,).

    Attributes
    ----------
    gold, stored
        The columns `gold` (String) and `gold_index` (Int32).
    has_scores, n_choices
        Whether there are probabilities of the choices, and the number of choices.
    text, n_matches
        The first choice whose text equals gold, and the number of such choices.
    integer, letter
        The integer that gold is, and the position that its letter names; null if beyond the choices.
    is_position
        Whether all golds of the row's run are integers, or all letters, so that no choice's text counts.
    """

    gold: pl.Series
    stored: pl.Series
    has_scores: pl.Series
    n_choices: pl.Series
    text: pl.Series
    n_matches: pl.Series
    integer: pl.Series
    letter: pl.Series
    is_position: pl.Series

    @property
    def is_ambiguous(self) -> pl.Series:
        """Whether gold is the text of several choices, and nothing else."""
        return (self.n_matches > 1) & ~self.is_position

    @property
    def position(self) -> pl.Series:
        """The choice that gold names as an integer or as a letter."""
        return self.integer.zip_with(self.integer.is_not_null(), self.letter)

    @property
    def matched(self) -> pl.Series:
        """The choice that gold names; null where it names none, or several."""
        by_text = self.text.set((self.n_matches > 1) | self.is_position, None)
        return by_text.zip_with(by_text.is_not_null() | self.is_ambiguous, self.position)


def _read_golds(rows: pl.DataFrame, letters: Sequence[str], *, counts: bool) -> _GoldReadings:
    has_scores, n_choices = _choice_counts(rows)
    stored, gold = _column_or_null(rows, "gold_index", pl.Int32()), _column_or_null(rows, "gold", pl.String())
    is_judged = gold.is_not_null() & (n_choices > 0).fill_null(value=False)
    text, n_matches = _match_by_text(rows, gold.is_not_null() & n_choices.is_not_null())
    integer, letter = _match_by_number(gold), _match_by_letter(gold, letters)
    if not counts:
        integer = integer.clear(integer.len())
    integer, letter = (
        position.set((position >= n_choices).fill_null(value=True), None) for position in (integer, letter)
    )
    frame = pl.DataFrame(
        {
            "is_integer": integer.is_not_null(),
            "is_letter": letter.is_not_null(),
            "is_text": n_matches > 0,
            "is_judged": is_judged,
        }
    ).hstack(rows.select(run_columns := [name for name in RUN_COLUMNS if name in rows.columns]))
    is_judged_row = pl.col("is_judged")
    of_one_kind = pl.any_horizontal(
        (pl.col(name) | ~is_judged_row).all() for name in ("is_integer", "is_letter")
    )
    is_rarely_text = 2 * (pl.col("is_text") & is_judged_row).sum() < is_judged_row.sum()
    is_position = of_one_kind & is_rarely_text
    is_position = is_position.over(run_columns) if run_columns else is_position
    return _GoldReadings(
        gold=gold,
        stored=stored,
        has_scores=has_scores,
        n_choices=n_choices,
        text=text,
        n_matches=n_matches,
        integer=integer,
        letter=letter,
        is_position=frame.with_columns(is_position=is_position)["is_position"],
    )


def _notes_on_two_meanings(readings: _GoldReadings) -> Iterator[str]:
    """Notes on golds that are one choice's text and could be another's position or letter."""
    in_doubt = (readings.stored.is_null() & (readings.n_matches > 0)).fill_null(value=False)
    kept_text = in_doubt & (readings.n_matches == 1) & ~readings.is_position
    for name, position in (("position", readings.integer), ("letter", readings.letter)):
        count = int((kept_text & (position != readings.text)).sum())
        if count:
            yield (
                f"In {plural(count, 'row')} gold is one choice's text and another one's {name}, and is read "
                f"as the text; name the column gold_index where positions are meant."
            )
    count = int((in_doubt & readings.is_position & (readings.position != readings.text)).sum())
    if count:
        yield (
            f"In {plural(count, 'row')} gold is one choice's position or letter, as in all others, and also "
            f"another one's text; it is read as in all others."
        )


def _one_based_column(rows: pl.DataFrame, readings: _GoldReadings) -> str | None:
    """Return the column of golds or predictions whose positions seem to count from 1; None without one.

    Predictions are looked at only where they are judged by gold. A column seems to count from 1 if, in
    some run, most of its values are integers that are not the text of a choice, all of them lie in 1..K
    of their row, and some equal K. Values are not in doubt if `gold` and `gold_index` name the same
    choice when counted from 0.
    """
    gold, stored = readings.gold, readings.stored
    number = _match_by_number(gold)
    agrees = (number.zip_with(number.is_not_null(), readings.letter) == stored).fill_null(value=False)
    candidates = gold.set((stored.is_not_null() & ~agrees) | readings.text.is_not_null(), None)
    run_columns = [name for name in RUN_COLUMNS if name in rows.columns]
    never = pl.repeat(value=False, n=rows.height, eager=True)
    for name, values, positions, is_settled in (
        ("gold_index", stored, stored, never),
        ("gold", candidates, _match_by_number(candidates), agrees),
        *((name, values, _match_by_number(values), never) for name, values in _numbered_predictions(rows)),
    ):
        frame = pl.DataFrame(
            {
                "value": values,
                "position": positions,
                "n_choices": readings.n_choices,
                "is_settled": is_settled,
            }
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


def _numbered_predictions(rows: pl.DataFrame) -> Iterator[tuple[str, pl.Series]]:
    """Yield the columns that name predicted choices, if these are judged, without texts of choices."""
    if "correct" in rows.columns:
        return
    if "prediction" in rows.columns:
        values = rows["prediction"]
        if "choices" in rows.columns:
            is_text = rows.select(pl.col("choices").list.contains(pl.col("prediction"))).to_series()
            values = values.set(is_text.fill_null(value=False), None)
        yield "prediction", values
    if "prediction_index" in rows.columns:
        yield "prediction_index", rows["prediction_index"].cast(pl.String)


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
    for name in ("choice_logprobs", "choice_logits", "choice_probs", "choices"):
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


def _match_by_letter(gold: pl.Series, labels: Sequence[str]) -> pl.Series:
    positions = {label.upper(): position for position, label in enumerate(labels)}

    def position(text: pl.Series) -> pl.Series:
        letter = text.str.extract(LETTER_PATTERN, 1).str.to_uppercase()
        return letter.replace_strict(positions, default=None, return_dtype=pl.Int32)

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
    fix = "Correct one of the two, or leave one column out."
    return faults_where(shown, is_different, "gold and gold_index differ", expected, fix)
