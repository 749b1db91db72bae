"""Collects the checked slices of a file, and checks what involves several columns of a row.

A column of which most values are bad does not mean what it is called, and is left out if nothing needs it.

A single number above 1 among probabilities is a slip, and its row is bad. If most are above 1, the column
holds percentages or ratings (`ScaleCheck`): leaving those rows out would keep the lowest as probabilities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import Advice
from calib_core.errors import MAX_CELLS_SHOWN, BadCell, Problem, Refused, shorten
from calib_core.readers.table.cells import (
    MAX_WORDS,
    MIN_LARGEST_PERCENTAGE,
    NOT_A_NUMBER,
    ONE_VALUE,
    OUT_OF_RANGE,
    CellFault,
    JudgedColumn,
    RowPositions,
    faults_where,
    judge_text,
    no_positions,
    number_or_text,
    parse_numbers,
    range_and_fractions,
    rating_top,
    value_text,
    without_percent_sign,
)
from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
    DECIMAL_COMMA,
    LOG_SCALE,
    NEVER_FRACTIONS,
    PROBABILITY_COLUMNS,
    SINGLE_TEXT_COLUMNS,
    TEXT_LIST_COLUMNS,
    ColumnRoles,
)
from calib_core.readers.table.raw import Slice
from calib_core.runs import MAX_NAMED_CONFIDENCES, ROW_DTYPE, RUN_COLUMNS, is_missing, schema_name
from calib_core.wording import join_names, plural

PARALLEL_LISTS: Final = (
    (
        "choice",
        (
            "choice_logprobs",
            "choice_logits",
            "choice_probs",
            "choices",
            "choice_token_counts",
            "choice_char_counts",
            "choice_byte_counts",
        ),
    ),
    ("sample", ("samples", "samples_parsed", "sample_correct", "sample_cluster")),
)
"""Lists that must have the same length within a row: one entry per choice, or per sample."""

CONFIDENCE_COLUMNS: Final = frozenset(
    {
        "confidence",
        "event_prob",
        "verbal_confidence",
        "p_true",
        "choice_logprobs",
        "choice_logits",
        "choice_probs",
        "path_logprobs",
        "path_mean_prob",
        "answer_logprobs",
        "answer_mean_prob",
        "samples",
        "samples_parsed",
        "sample_cluster",
    }
)
"""Columns of which each, with an outcome, is enough for some method."""

OUTCOME_COLUMNS: Final = frozenset({"correct", "correct_majority", "sample_correct", "event"})
GOLD_COLUMNS: Final = frozenset({"gold", "gold_index", "gold_all"})
TRUTH_COLUMNS: Final = OUTCOME_COLUMNS | GOLD_COLUMNS
"""Columns of which a run needs one, so that answers can be right or wrong."""
JUDGED_BY_GOLD: Final = frozenset(
    {
        "prediction",
        "prediction_index",
        "samples",
        "samples_parsed",
        "choice_logprobs",
        "choice_logits",
        "choice_probs",
    }
)

NEVER_LEFT_OUT: Final = TRUTH_COLUMNS - {"event"} | {"id", "trial_of", "weight"}
"""Columns that say which question a row asks, what is right, or how much it counts: without them the numbers
would be others.

What is called an event may as well be its name, in a file of answers; without it, nothing else changes.
"""


MAX_COUNTED_VALUES: Final = 1_000
"""Limit on the different values of a column that are counted."""

_WORD: Final = r"^\p{L}"
_NO_NUMBERS: Final = ("nan", "na", "n/a", "none", "null", "inf", "infinity")
"""What is written where there is no number."""


@dataclass(slots=True)
class ScaleCheck:
    """Whether a column of probabilities holds something else, judged by the numbers added so far.

    Attributes
    ----------
    n_numbers, n_above_one, n_below_zero
        Counts of the numbers.
    largest
        The largest number.
    are_whole
        Whether all numbers are whole.
    example
        The first number out of range, as in the file.
    """

    n_numbers: int = 0
    n_above_one: int = 0
    n_below_zero: int = 0
    largest: float = 0.0
    are_whole: bool = True
    example: str = ""

    def add_slice(self, raw: pl.Series, judged: JudgedColumn) -> None:
        """Add one slice of the column."""
        self._add_numbers(judged.values.drop_nulls())
        for fault in judged.faults:
            if fault.kind == OUT_OF_RANGE:
                outliers, _ = parse_numbers(raw.gather(fault.positions))
                self._add_numbers(outliers)
                self.example = self.example or fault.examples[0]

    def _add_numbers(self, numbers: pl.Series) -> None:
        values = numbers.cast(pl.Float64).to_numpy()
        self.n_numbers += values.size
        self.n_above_one += int((values > 1).sum())
        self.n_below_zero += int((values < 0).sum())
        self.largest = max(self.largest, float(values.max(initial=0.0)))
        self.are_whole = self.are_whole and bool((values == np.floor(values)).all())

    @property
    def divisor(self) -> int | None:
        """What makes the numbers probabilities: 100, or the top of the scale of whole numbers.

        None unless most numbers are above 1.
        """
        if 2 * self.n_above_one <= self.n_numbers or self.largest > 100:
            return None
        if self.largest > MIN_LARGEST_PERCENTAGE:
            return 100
        return rating_top(self.largest) if self.are_whole else None

    @property
    def are_logarithms(self) -> bool:
        """Whether the numbers may be logarithms of probabilities: none above 0, and most below."""
        return self.largest <= 0 and 2 * self.n_below_zero > self.n_numbers


@dataclass(slots=True)
class ColumnTally:
    """How many values of a column are bad, counted over the slices added so far.

    Attributes
    ----------
    n_present, n_bad
        Counts of the values that are not missing, and of those among them that are bad.
    n_nested
        Count of the bad values that are lists or objects in place of a text.
    kinds
        The kinds of their faults.
    run_texts
        Of a column that tells runs apart, the bad values; no more are added to two or more.
    are_in_range, has_fractions
        Of a column that names what is asked, whether all values are numbers from 0 to 1, and whether some lie
        between; only the first is known once it is false.
    """

    n_present: int = 0
    n_bad: int = 0
    n_nested: int = 0
    kinds: set[str] = field(default_factory=set[str])
    run_texts: set[str] = field(default_factory=set[str])
    are_in_range: bool = True
    has_fractions: bool = False

    def add_slice(self, name: str, raw: pl.Series, judged: JudgedColumn) -> None:
        """Add one slice of the column, which is read as `name`."""
        bad = np.unique(np.concatenate([no_positions(), *(fault.positions for fault in judged.faults)]))
        bad_values = judged.values.gather(pl.Series(bad))
        self.n_present += judged.values.len() - judged.values.null_count() + bad_values.null_count()
        self.n_bad += bad.size
        if name != "id" or isinstance(raw.dtype, pl.List):  # an object may well name a question
            self.n_nested += sum(fault.positions.size for fault in judged.faults if fault.fix == ONE_VALUE)
        self.kinds.update(fault.kind for fault in judged.faults)
        if name in NEVER_FRACTIONS and self.are_in_range:
            self.are_in_range, has_fractions = range_and_fractions(raw)
            self.has_fractions = self.has_fractions or has_fractions
        if name in RUN_COLUMNS and len(self.run_texts) < 2:
            self.run_texts.update(
                value_text(value, limit=None) for value in raw.gather(pl.Series(bad)).to_list()
            )

    @property
    def are_fractions(self) -> bool:
        """Whether the column is to name what is asked, and holds numbers from 0 to 1, not all whole."""
        return self.are_in_range and self.has_fractions

    @property
    def are_nested(self) -> bool:
        """Whether all values are lists or objects in place of a text, so that the column holds none."""
        return 0 < self.n_nested == self.n_present

    def may_be_left_out(self, name: str, n_rows: int) -> bool:
        """Whether most values are bad, so that the column does not hold what `name` means.

        A column that tells runs apart has to be the same bad value in all rows, or runs would be merged.
        """
        if name in RUN_COLUMNS:
            return len(self.run_texts) == 1 and self.n_bad == n_rows
        return name not in NEVER_LEFT_OUT and 2 * self.n_bad > self.n_present


@dataclass(slots=True)
class FractionsOfPercent:
    """Numbers between 0 and 1 in a column of percentages, which may be shares already.

    Attributes
    ----------
    count
        How many there are.
    example
        The first, as in the file.
    others_are_whole
        Whether all other numbers are whole; if not, nothing is odd about these.
    """

    count: int = 0
    example: str = ""
    others_are_whole: bool = True

    def add_slice(self, raw: pl.Series) -> None:
        """Add one slice of the column; a number with a percent sign leaves no doubt."""
        numbers = parse_numbers(raw)[0].cast(pl.Float64)
        is_small = (numbers > 0) & (numbers < 1)
        small = raw.filter(is_small)
        self.count += small.len()
        self.example = self.example or next((value_text(value) for value in small), "")
        others = numbers.filter(~is_small)
        self.others_are_whole = self.others_are_whole and bool((others == others.floor()).all())


class RowCollector:
    """Collects checked slices: the values, the bad rows and the problems.

    Attributes
    ----------
    file
        What messages call the file.
    source_columns
        Name → the column of the file that it is read from.
    n_rows
        Number of records so far, bad ones included.
    n_missing
        Column → how many of its values stood for none, as the user said.
    with_decimal_commas
        Columns of the file whose decimal commas were read as points, as an ordered set.
    value_counts
        Column whose values the user named → how many rows have each; of values without a
        meaning, those beyond `MAX_COUNTED_VALUES` are not counted.
    left_out
        Column of the file that is left out as a whole → the sentence that says so.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.source_columns: dict[str, str] = {}
        self.n_rows = 0
        self.n_missing = Counter[str]()
        self.value_counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._value_parts: dict[str, list[pl.Series]] = {}
        self._lines: list[pl.Series] = []
        self.left_out: dict[str, str] = {}
        self.with_decimal_commas: dict[str, None] = {}
        self._decimal_commas: defaultdict[str, list[pl.Series]] = defaultdict(list)
        self._keys: list[pl.Series] = []
        self._tallies: defaultdict[str, ColumnTally] = defaultdict(ColumnTally)
        self._bad_positions: defaultdict[tuple[str, str], list[RowPositions]] = defaultdict(list)
        self._bad_cells: defaultdict[tuple[str, str], list[BadCell]] = defaultdict(list)
        self._run_unknown: defaultdict[str, list[RowPositions]] = defaultdict(list)
        self._clipped: defaultdict[str, list[RowPositions]] = defaultdict(list)
        self._inexact_sums: list[RowPositions] = []
        self._unreadable: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        self._scale_checks: defaultdict[str, ScaleCheck] = defaultdict(ScaleCheck)
        self._fractions: defaultdict[str, FractionsOfPercent] = defaultdict(FractionsOfPercent)
        self._words: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._with_other_texts: set[str] = set()

    def add(
        self, part: Slice, roles: Mapping[str, str], judged_columns: Mapping[str, JudgedColumn] | None = None
    ) -> None:
        """Add a slice.

        Parameters
        ----------
        part
            The slice.
        roles
            Column → name, for the columns of this slice that are read.
        judged_columns
            The result of `judge_slice`, if it is known already.

        Raises
        ------
        Refused
            There are more named confidences than `MAX_NAMED_CONFIDENCES`.
        """
        offset, self.n_rows = self.n_rows, self.n_rows + part.n_rows
        if part.lines is not None:
            self._lines.append(part.lines)
        for broken in part.broken:
            positions = np.array([broken.position], np.int64)
            fault = CellFault(broken.kind, broken.expected, broken.fix, positions, (broken.found,))
            self.mark_bad(broken.column, fault, offset)
            self._run_unknown[""].append(positions + offset)
        if judged_columns is None:
            judged_columns = judge_slice(part, roles)
        for column, judged in judged_columns.items():
            name = roles[column]
            self._tallies[column].add_slice(name, part.columns[column], judged)
            if schema_name(name) in PROBABILITY_COLUMNS:
                self._scale_checks[column].add_slice(part.columns[column], judged)
                self._count_words(column, part.columns[column], judged)
            self._store_column(name, column, judged, offset)
        if sum(schema_name(name) != name for name in self.source_columns) > MAX_NAMED_CONFIDENCES:
            raise Refused(
                f"{self.file} has more than {MAX_NAMED_CONFIDENCES} columns confidence.NAME. Leave out those "
                f"that are not needed, each with {Advice(columns={'confidence.NAME': ''})}"
            )

    def count_values(self, column: str, raw: pl.Series, right: Collection[str]) -> None:
        """Count the values of a slice of a column of single values, as `judge_right_values` compares them."""
        if raw.dtype.is_nested() or raw.dtype == pl.Binary:
            return
        text = number_or_text(raw.filter(~is_missing(raw)).cast(pl.String)).alias("value")
        right = set(number_or_text(pl.Series(sorted(right), dtype=pl.String)).to_list())
        counts = self.value_counts[column]
        for value, count in text.value_counts(sort=True).iter_rows():
            if value in counts or value in right or len(counts) < MAX_COUNTED_VALUES:
                counts[value] += count

    def look_for_shares(self, column: str, raw: pl.Series) -> None:
        """Look for numbers between 0 and 1 in a slice of a column of percentages."""
        if not raw.dtype.is_nested():
            self._fractions[column].add_slice(raw)

    def _count_words(self, column: str, raw: pl.Series, judged: JudgedColumn) -> None:
        """Count the words among the values of a slice of a column of numbers."""
        for fault in judged.faults:
            if raw.dtype == pl.String and fault.kind == NOT_A_NUMBER:
                texts = raw.gather(fault.positions).str.strip_chars()
                texts = texts.filter(~texts.str.to_lowercase().is_in(_NO_NUMBERS))
                words = texts.filter(texts.str.contains(_WORD))
                if words.len() < texts.len():
                    self._with_other_texts.add(column)
                for word, count in words.value_counts(sort=True).iter_rows():
                    if word in self._words[column] or len(self._words[column]) < MAX_COUNTED_VALUES:
                        self._words[column][word] += count

    def add_keys(self, keys: pl.Series) -> None:
        """Add the values of the last slice that a table of right answers is joined on."""
        n_before = self.n_rows - keys.len()
        missing = n_before - sum(part.len() for part in self._keys)
        if missing:
            self._keys.append(pl.repeat(None, missing, dtype=pl.String(), eager=True))
        self._keys.append(judge_text(keys).values)

    def take_keys(self) -> pl.Series | None:
        """Return what a table is joined on in each row, as text; None if there was no such column."""
        if not self._keys:
            return None
        n_missing = self.n_rows - sum(part.len() for part in self._keys)
        return pl.concat([*self._keys, pl.repeat(None, n_missing, dtype=pl.String(), eager=True)])

    def mark_bad(self, column: str, fault: CellFault, offset: int = 0) -> None:
        """Mark the rows of a fault as bad.

        Parameters
        ----------
        column
            The column as in the file; "" for the whole record.
        fault
            The fault.
        offset
            Row of the file at which the positions of the fault begin.
        """
        rows = fault.positions + offset
        self._bad_positions[column, fault.kind].append(rows)
        self._bad_cells[column, fault.kind] += [
            BadCell(self.file, row + 1, self._line_of_row(row), column, fault.expected, example, fault.fix)
            for row, example in zip(rows[:MAX_CELLS_SHOWN].tolist(), fault.examples, strict=False)
        ]

    def leave_out_unneeded(self, chosen_names: Collection[str]) -> None:
        """Leave out columns of which most values are bad, unless nothing could be computed without them.

        Lists and objects, which are no text of an answer or id, are left out also then: what they hold has
        paths of its own.

        Parameters
        ----------
        chosen_names
            The names that the user mapped columns to, which are kept.
        """
        names = {name for name, column in self.source_columns.items() if self._tallies[column].n_present}
        unneeded = {
            name
            for name in names - set(chosen_names)
            if self._tallies[self.source_columns[name]].may_be_left_out(name, self.n_rows)
        }
        unneeded -= {self._name_of(column) for column, _, _ in self.scaled_columns}
        self.left_out = {
            column: f"Column {column!r} is left out: its values are numbers between 0 and 1, which do not "
            f"name questions. If they do: {Advice(columns={column: name})}"
            for name, column in self.source_columns.items()
            if name not in chosen_names and self._tallies[column].are_fractions
        }
        self.left_out |= {
            column: self._left_out_note(column)
            for name, column in self.source_columns.items()
            if name not in {*chosen_names, *TRUTH_COLUMNS, *RUN_COLUMNS, "trial_of"}
            and self._tallies[column].are_nested
        }
        kept = names - unneeded
        if CONFIDENCE_COLUMNS.intersection(map(schema_name, kept)) and (
            _has_outcome(kept) or not _has_outcome(names)
        ):
            columns = [column for name, column in self.source_columns.items() if name in unneeded]
            self.left_out |= {column: self._left_out_note(column) for column in columns}

    def keep_all(self) -> None:
        """Take back `leave_out_unneeded`: the faults of those columns count again."""
        self.left_out = {}

    def take_frame(self) -> pl.DataFrame:
        """Return all rows, bad ones included: `row` from 1 and every column read, null where missing or bad.

        Can be called only once, as it releases the values: a large file would otherwise take memory twice.
        """
        columns = [pl.int_range(1, self.n_rows + 1, dtype=ROW_DTYPE, eager=True).alias("row")]
        for name in dict.fromkeys((*COLUMN_JUDGES, *self._value_parts)):
            if name in self._value_parts and self.source_columns[name] not in self.left_out:
                self._pad(name, self.n_rows, self._value_parts[name][0].dtype)
                columns.append(pl.concat(self._value_parts.pop(name)).alias(name))
        return pl.DataFrame(columns)

    @property
    def is_bad(self) -> NDArray[np.bool_]:
        """Whether each row has at least one bad value; shape (rows,)."""
        counted = [parts for key, parts in self._bad_positions.items() if self._counts(*key)]
        return self._mask([positions for parts in counted for positions in parts])

    @property
    def is_run_unknown(self) -> NDArray[np.bool_]:
        """Whether each row's run is unknown, as the record or a run column is bad; shape (rows,)."""
        counted = [parts for column, parts in self._run_unknown.items() if column not in self.left_out]
        return self._mask([positions for parts in counted for positions in parts])

    @property
    def clipped_positions(self) -> dict[str, RowPositions]:
        """Column of the file → a position for every value that was moved onto the edge of its range."""
        return {
            column: np.concatenate(parts)
            for column, parts in self._clipped.items()
            if column not in self.left_out
        }

    @property
    def inexact_sums(self) -> RowPositions:
        """Rows whose stored distribution sums to 1 only approximately."""
        is_read = self.source_columns.get("choice_probs") not in self.left_out
        return np.concatenate([no_positions(), *(self._inexact_sums if is_read else ())])

    @property
    def unreadable(self) -> dict[str, pl.DataFrame]:
        """Column of the file → values that are unreadable but no fault, as in `JudgedColumn.unreadable`."""
        return {name: pl.concat(parts) for name, parts in self._unreadable.items()}

    @property
    def scaled_columns(self) -> tuple[tuple[str, str, int], ...]:
        """(column, example, divisor) of columns that hold percentages or ratings instead of probabilities."""
        return tuple(
            (name, check.example, divisor)
            for name, check in self._scale_checks.items()
            if (divisor := check.divisor) is not None
        )

    @property
    def logarithm_columns(self) -> tuple[tuple[str, str], ...]:
        """(column, example) of columns that are read and seem to hold logarithms of probabilities."""
        return tuple(
            (name, check.example)
            for name, check in self._scale_checks.items()
            if check.are_logarithms and name not in self.left_out
        )

    @property
    def columns_of_words(self) -> dict[str, Counter[str]]:
        """Columns that are read as numbers and hold none, but a few words → the counts of these."""
        return {
            column: words
            for column, words in self._words.items()
            if column not in {*self.left_out, *self._with_other_texts}
            and len(words) <= MAX_WORDS
            and not self._scale_checks[column].n_numbers
        }

    def missing_notes(self, missing: Iterable[str]) -> tuple[str, ...]:
        """Write a note on each column of which the user counted values as missing, or one that none has."""
        texts = ", ".join(repr(shorten(text, 40)) for text in sorted(missing))
        notes = tuple(
            f"{plural(count, 'value')} of {shorten(column, 40)!r} ({texts}) "
            f"{'counts' if count == 1 else 'count'} as missing."
            for column, count in self.n_missing.items()
            if count
        )
        return notes or ((f"No column that is read holds {texts}.",) if texts else ())

    @property
    def decimal_comma_notes(self) -> tuple[str, ...]:
        """A note that names the columns whose decimal commas were read as points; () if there are none."""
        if not self.with_decimal_commas:
            return ()
        names = [repr(shorten(column, 40)) for column in self.with_decimal_commas]
        return (f"Decimal commas in {join_names(names)} are read as points.",)

    @property
    def share_notes(self) -> tuple[str, ...]:
        """A note on each column of whole percentages in which some numbers may be shares already."""
        return tuple(
            f"The percentages of {shorten(column, 40)!r} are whole except {plural(found.count, 'number')} "
            f"below 1 (such as {found.example}), also read in percent. Correct the file where a share of 1 "
            "is meant."
            for column, found in self._fractions.items()
            if found.count and found.others_are_whole
        )

    def add_decimal_commas(self, column: str, pointed: pl.Series) -> None:
        """Add numbers with commas, here written with points, that were not read as nobody said so."""
        self._decimal_commas[column].append(without_percent_sign(pointed).cast(pl.Float64, strict=False))

    @property
    def decimal_comma_columns(self) -> Iterator[tuple[str, str]]:
        """Columns of which most numbers have commas, and what follows the name that reads them so."""
        for column, parts in self._decimal_commas.items():
            numbers = pl.concat(parts)
            if 2 * numbers.len() <= self.n_rows:
                continue
            low, high = cast("float | None", numbers.min()), cast("float | None", numbers.max())
            is_log = high is not None and high <= 0 and low != high
            yield column, f":{LOG_SCALE}" if is_log else "/100" if (high or 0) > 1 else f":{DECIMAL_COMMA}"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The bad values by kind, in order of their first row."""
        positions: defaultdict[str, list[RowPositions]] = defaultdict(list)
        cells: defaultdict[str, list[BadCell]] = defaultdict(list)
        for column, kind in filter(lambda key: self._counts(*key), self._bad_cells):
            positions[kind] += self._bad_positions[column, kind]
            cells[kind] += self._bad_cells[column, kind]
        problems = [
            Problem(kind, np.unique(np.concatenate(positions[kind])).size, _first_cells(cells[kind]))
            for kind in cells
        ]
        return tuple(sorted(problems, key=lambda problem: problem.first_cells[0].row))

    def _counts(self, column: str, kind: str) -> bool:
        """Whether faults of this kind count: not the values of a column that is left out."""
        return column not in self.left_out or kind not in self._tallies[column].kinds

    def _name_of(self, column: str) -> str:
        return next(name for name, source in self.source_columns.items() if source == column)

    def _left_out_note(self, column: str) -> str:
        tally = self._tallies[column]
        cells = [cell for kind in tally.kinds for cell in self._bad_cells[column, kind]]
        first = min(cells, key=lambda cell: cell.row)
        share = (
            f"{tally.n_bad:,} of {plural(tally.n_present, 'value')} {'is' if tally.n_present == 1 else 'are'}"
        )
        example = f"{shorten(first.found, 40)!r} in row {first.row:,}"
        return f"Column {shorten(column, 40)!r} is left out: {share} not {first.expected}, such as {example}."

    def _store_column(self, name: str, column: str, judged: JudgedColumn, offset: int) -> None:
        self.source_columns[name] = column
        self._pad(name, offset, judged.values.dtype)
        self._value_parts[name].append(judged.values)
        for fault in judged.faults:
            self.mark_bad(column, fault, offset)
            if name in RUN_COLUMNS:
                self._run_unknown[column].append(fault.positions + offset)
        if judged.clipped_positions.size:
            self._clipped[column].append(judged.clipped_positions + offset)
        if judged.inexact_sums.size:
            self._inexact_sums.append(judged.inexact_sums + offset)
        if judged.unreadable is not None and judged.unreadable.height:
            self._unreadable[column].append(judged.unreadable.with_columns(pl.col("at") + offset))

    def _pad(self, name: str, rows: int, dtype: pl.DataType) -> None:
        """Append nulls for slices that did not have this column, up to `rows` values."""
        parts = self._value_parts.setdefault(name, [])
        n_missing = rows - sum(part.len() for part in parts)
        if n_missing:
            parts.append(pl.repeat(None, n_missing, dtype=dtype, eager=True))

    def _line_of_row(self, row: int) -> int | None:
        index = row
        for lines in self._lines:
            if index < lines.len():
                return int(lines[index])
            index -= lines.len()
        return None

    def _mask(self, positions: list[RowPositions]) -> NDArray[np.bool_]:
        mask = np.zeros(self.n_rows, np.bool_)
        for part in positions:
            mask[part] = True
        return mask


def judge_slice(
    part: Slice, names: Mapping[str, str], roles: ColumnRoles | None = None
) -> dict[str, JudgedColumn]:
    """Check the columns of a slice.

    Parameters
    ----------
    part
        The slice.
    names
        Column → name, for the columns that are read.
    roles
        What the user says of the values of columns.
    """
    roles = roles or ColumnRoles({})
    judged: dict[str, JudgedColumn] = {}
    for column, name in names.items():
        raw = part.columns[column]
        judged[column] = roles.meaning(column, name).judge(raw)
        if roles.is_spelled(column) or name in SINGLE_TEXT_COLUMNS:
            judged[column] = _mark_no_text(judged[column], raw, part.nested.get(column), ONE_VALUE)
        if name in SINGLE_TEXT_COLUMNS or name in TEXT_LIST_COLUMNS:
            fix = "Write the text itself, or null if there is none."
            judged[column] = _mark_no_text(judged[column], raw, part.no_texts.get(column), fix)
    return judged


def _mark_no_text(
    judged: JudgedColumn, raw: pl.Series, rows: frozenset[int] | None, fix: str
) -> JudgedColumn:
    """Mark the values in these rows as faults, as they are no texts."""
    if not rows:
        return judged
    positions = np.array(sorted(rows), np.int64)
    examples = tuple(value_text(raw[position]) for position in positions[:MAX_CELLS_SHOWN].tolist())
    fault = CellFault("not a text", "one text or number", fix, positions, examples)
    return replace(judged, faults=(*judged.faults, fault))


def _has_outcome(names: Collection[str]) -> bool:
    """Whether columns with these names, in which there are values, can say which answers are right."""
    has_judged = not JUDGED_BY_GOLD.isdisjoint(names)
    return not OUTCOME_COLUMNS.isdisjoint(names) or (has_judged and not GOLD_COLUMNS.isdisjoint(names))


def _first_cells(cells: list[BadCell]) -> tuple[BadCell, ...]:
    return tuple(sorted(cells, key=lambda cell: cell.row)[:MAX_CELLS_SHOWN])


def disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    """Yield (column, fault) for rows whose lists differ in length, or whose answer span leaves its path."""
    for entry, names in PARALLEL_LISTS:
        present = [name for name in names if name in rows.columns]
        if len(present) > 1:
            yield from _length_disagreements(rows, entry, present)
    if {"path_logprobs", "answer_start", "answer_end"} <= set(rows.columns):
        yield from _span_disagreements(rows)


def _length_disagreements(
    rows: pl.DataFrame, entry: str, names: list[str]
) -> Iterator[tuple[str, CellFault]]:
    """Compare the length of each list with that of the first one that the row has."""
    first = rows[names[0]].list.len()
    for name in names[1:]:
        size = rows[name].list.len()
        differ = (size != first).fill_null(value=False)
        if differ.any():
            expected = f"as many entries as {names[0]}, one per {entry}"
            shown = pl.select(pl.format("{} instead of {}", size, first)).to_series()
            for fault in faults_where(
                shown, differ, "lists of different lengths", expected, "Complete the lists."
            ):
                yield name, fault
        first = first.zip_with(first.is_not_null(), size)


def _span_disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    start, end = rows["answer_start"], rows["answer_end"]
    outside = start.is_not_null() & ((start >= end) | (end > rows["path_logprobs"].list.len()))
    expected = "an end after the start and within the path (positions count from 0, the end not included)"
    shown = pl.select(pl.format("{} to {}", start, end)).to_series()
    kind, fix = "span outside the path", "Give answer_logprobs instead, or correct the span."
    for fault in faults_where(shown, outside.fill_null(value=False), kind, expected, fix):
        yield "answer_end", fault
