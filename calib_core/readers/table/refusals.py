"""Says why nothing in a table can be used, and what would open it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import polars as pl

from calib_core.advice import Advice, worded
from calib_core.errors import BadCell, cell_lines, shorten
from calib_core.readers.table.cells import PLAIN_NUMBER, number_or_text
from calib_core.readers.table.columns import COUNTED_FROM_ONE, LOG_SCALE, PROBABILITY_COLUMNS, ColumnRoles
from calib_core.readers.table.one_column import NO_VALUES, WRONG_VALUES
from calib_core.readers.table.rows import RowCollector
from calib_core.wording import all_are, join_names, plural

MAX_VALUES_SHOWN: Final = 10
"""Values of a column that a message lists, the most frequent first."""


def _right_values_message(collected: RowCollector, roles: ColumnRoles) -> str | None:
    """Name a column without any of the values that mean right, and the values it has; None if there is none.

    Of systems side by side one may be always wrong, as may a file whose values plainly mean wrong.
    """
    if roles.single_valued:
        return None
    for column, counts in collected.value_counts.items():
        right = roles.right_values[column]
        others = [value for value in counts if value.lower() not in WRONG_VALUES | NO_VALUES]
        if others and len(_absent_values(right, counts)) == len(right):
            commonest = sorted(counts, key=lambda value: (-counts[value], value))[:MAX_VALUES_SHOWN]
            listed = ", ".join(f"{shorten(one, 40)!r} ({plural(counts[one], 'row')})" for one in commonest)
            more = ", …" if len(counts) > MAX_VALUES_SHOWN else ""
            named = " or ".join(map(repr, sorted(right)))
            return (
                f"{collected.file}: no value of column {column!r} is {named}, which should mean right, so "
                f"every row would count as wrong. Its values: {listed}{more}."
            )
    return None


def _absent_values(right: Collection[str], counts: Collection[str]) -> list[str]:
    """Return the values that should mean right and do not occur; numbers are compared as numbers."""
    named = sorted(right)
    forms = number_or_text(pl.Series(named, dtype=pl.String)).to_list()
    return [value for value, form in zip(named, forms, strict=True) if form not in counts]


def absent_value_notes(collected: RowCollector, roles: ColumnRoles) -> Iterator[str]:
    """Yield a note on each column in which some values that should mean right do not occur."""
    for column, counts in collected.value_counts.items():
        absent = _absent_values(roles.right_values[column], counts)
        if absent and not roles.single_valued:
            yield f"No value of column {column!r} is {join_names(list(map(repr, absent)), 'or')}."


def _scale_message(collected: RowCollector, roles: ColumnRoles) -> str | None:
    """Say which column of probabilities holds something else, and how it is read; None if none does."""
    names = {source: name for name, source in collected.source_columns.items()}

    def mapped(column: str, scale: str) -> Advice:
        direction = roles.meaning(column, names[column]).direction
        return Advice(columns={column: f"{names[column]}{scale}{direction}"})

    for column, example, divisor in collected.scaled_columns:
        looks, top, on_page = (
            ("percentages: most of its numbers are above 1", "100", "in percent")
            if divisor == 100
            else (
                "ratings: its numbers are whole and most are above 1",
                f"the top of its scale, such as {divisor}",
                f"out of {divisor}, if that is the top of its scale",
            )
        )
        advice = f"Have it divided by {top}: {mapped(column, f'/{divisor}')}"
        return (
            f"{collected.file}: column {column!r} looks like {looks} (such as {example}), but numbers from "
            f"0 to 1 are expected. {worded(advice, on_page=f'Say that it is {on_page}.')}"
        )
    for column, scale in collected.decimal_comma_columns:
        if names.get(column) in PROBABILITY_COLUMNS:
            advice = worded(
                f"Have them read as decimal commas: {mapped(column, scale)}",
                on_page="Accept that they are decimal commas where that is suggested.",
            )
            return (
                f"{collected.file}: column {column!r} has commas in its numbers, but decimal points are "
                f"expected. {advice}"
            )
    for column, example in collected.logarithm_columns:
        advice = worded(
            f"Have it read as natural logarithms: {mapped(column, f':{LOG_SCALE}')}",
            on_page="Accept it as natural logarithms where that is suggested.",
        )
        return (
            f"{collected.file}: column {column!r} looks like logarithms of probabilities: no number is above "
            f"0 and most are below (such as {example}), but numbers from 0 to 1 are expected. {advice}"
        )
    for column, words in collected.columns_of_words.items():
        by_count = sorted(words, key=lambda word: (-words[word], word))
        listed = ", ".join(f"{shorten(word, 40)!r} ({plural(words[word], 'row')})" for word in by_count)
        written = mapped(column, ":" + "|".join(f"{word}=…" for word in by_count))
        advice = worded(
            f"If you know, write it for the “…”: {written}", on_page="If you know, give each word a number."
        )
        return (
            f"{collected.file}: column {column!r} holds words, but numbers from 0 to 1 are expected: "
            f"{listed}. The file does not say which number each word means. {advice}"
        )
    return None


def _swapped_note(name: str, cells: Sequence[BadCell], collected: RowCollector, frame: pl.DataFrame) -> str:
    """Ask whether outcomes and probabilities are each other's column; "" where nothing suggests it."""
    other = {"correct": "confidence", "event": "event_prob"}.get(name)
    if other is None or other not in frame.columns:
        return ""
    are_outcomes = frame[other].is_in([0.0, 1.0]).all() and frame[other].n_unique() > 1
    are_between = all(re.fullmatch(PLAIN_NUMBER, one.found) and 0 < float(one.found) < 1 for one in cells)
    if not are_outcomes or not are_between:
        return ""
    column, outcomes = (repr(collected.source_columns[each]) for each in (name, other))
    return f" {outcomes} holds only 0 and 1, and {column} numbers in between: they seem to be swapped."


def refusal_message(
    collected: RowCollector, roles: ColumnRoles, one_based: tuple[str, str] | None, frame: pl.DataFrame
) -> str | None:
    """Say why nothing in the file can be used; None if it can.

    `one_based` is what is read from a column whose positions seem to count from 1, and that column.
    """
    if (message := _right_values_message(collected, roles) or _scale_message(collected, roles)) is not None:
        return message
    if one_based is not None:
        name, column = one_based
        index = f"{name.removesuffix('_index')}_index:{COUNTED_FROM_ONE}"
        return (
            f"{collected.file}: column {column!r} looks counted from 1: its positions are 1 to the number of "
            "choices, never 0, but positions counted from 0 are expected. If they do count from 1: "
            f"{Advice(columns={column: index})}"
        )
    if not collected.is_bad.all():
        return None
    collected.keep_all()
    cells = [cell for problem in collected.problems for cell in problem.first_cells[:3]][:4]
    listed = "".join(f"\n{line}" for line in cell_lines(cells))
    wanted = {(cell.column, cell.expected) for problem in collected.problems for cell in problem.first_cells}
    if collected.n_rows > 1 and len(wanted) == len(collected.problems) == 1:
        column, expected = wanted.pop()
        values = f"None of the {collected.n_rows:,} values in column {column!r} is {expected}."
        names = {source: name for name, source in collected.source_columns.items()}
        values += _swapped_note(names.get(column, ""), cells, collected, frame)
        return f"{collected.file}: {values}{listed}"
    return f"{collected.file}: {all_are(collected.n_rows, 'row')} bad, so nothing in it can be used.{listed}"
