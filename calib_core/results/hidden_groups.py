"""Where is the confidence wrong although the whole run looks right? A scan over columns and pairs of them.

Every value of every column, and every pair of values of two columns, is a group of rows. Each is compared
with the other rows of its run at equal confidence (`inference.group_difference`), and the q-values count all
groups that were tried, also those not listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.group_difference import GroupDifferences, compare_groups, confidence_strata
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL, Verdict, judge
from calib_core.methods.columns import column
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import AnswerEvidence, kind_of, restrict_rows, weights_refusal
from calib_core.results.groups import (
    GroupBy,
    ShareProgress,
    group_by_choices,
    no_progress,
    rest_help,
    row_groups,
)
from calib_core.results.recipe import joint_rows_text
from calib_core.terms import TERMS, ProbabilityOf, Terms
from calib_core.wording import format_points, plural, q_value_phrase

LENGTH_ID: Final = "question_length"
ANSWER_ID: Final = "answer_position"

LENGTH_PARTS: Final = 4
"""Questions are cut into this many parts of nearly equal size by their length."""

MAX_PAIRED_COLUMNS: Final = 12
"""Pairs are made of this many columns at most, the first ones, so of 66 pairs of columns."""

MAX_PAIRED_VALUES: Final = 100
"""A column with more values of `MIN_ROWS` rows is scanned alone."""

MAX_LISTED: Final = 20
"""Number of groups listed at most, the clearest ones."""

NO_COLUMN: Final = (
    f"No column here forms a group of at least {MIN_ROWS} rows with at least {MIN_ROWS} others: add a "
    "column with few values, such as a subject, a level or a language."
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One column with one value.

    Attributes
    ----------
    column : str
        Id of the column: that of a `GroupBy`, `LENGTH_ID` or `ANSWER_ID`.
    title : str
        Name of the column, as shown.
    value : str
        The value that the rows have.
    """

    column: str
    title: str
    value: str


@dataclass(frozen=True, slots=True)
class HiddenGroup:
    """One group of rows, compared with the other rows of its run.

    Attributes
    ----------
    run : str
        Key of the run.
    conditions : tuple[Condition, ...]
        One or two; the rows meet all of them.
    n : int
        Number of used rows.
    accuracy, mean_confidence : float
        Of its rows, in [0, 1].
    difference, low, high : float
        Accuracy minus that of the other rows at equal confidence, with its 95 % interval, in [−1, 1], which
        allows for all groups that were tried and leaves out 0 where q ≤ .05 and nowhere else.
    p, q : float
        Of no difference; q counts all groups that were tried in all runs.
    verdict : Verdict
        The verdict on its rows alone, as everywhere.
    """

    run: str
    conditions: tuple[Condition, ...]
    n: int
    accuracy: float
    mean_confidence: float
    difference: float
    low: float
    high: float
    p: float
    q: float
    verdict: Verdict

    @property
    def key(self) -> str:
        """What tells the group from the others, in a link."""
        return "~".join((self.run, *(f"{part.column}={part.value}" for part in self.conditions)))

    @property
    def name(self) -> str:
        """The conditions in words: "subject: law, level: hard"."""
        return ", ".join(f"{part.title}: {part.value}" for part in self.conditions)

    @property
    def is_clear(self) -> bool:
        """Whether it differs from the other rows beyond chance, given how many groups were tried."""
        return self.q <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True, eq=False)
class HiddenGroups:
    """The groups found by the scan.

    Attributes
    ----------
    groups : tuple[HiddenGroup, ...]
        At most `MAX_LISTED`, smallest p-value first. A pair is left out if one of its two parts is clear and
        no less clear than the pair.
    series : Mapping[str, str]
        Run key → title.
    n_tried : int
        Number of groups that were tried: the family of the q-values.
    n_clear : int
        How many of these differ at q ≤ .05, listed or not.
    columns : tuple[str, ...]
        Titles of the columns that were scanned.
    unpaired : tuple[str, ...]
        Titles of those that were not paired with others.
    unavailable : Mapping[str, str]
        Run key → why it was not scanned.
    of : {"answer", "event"}
        What the probabilities are of.
    rows_text : str
        As from `joint_rows_text`.
    """

    groups: tuple[HiddenGroup, ...]
    series: Mapping[str, str]
    n_tried: int
    n_clear: int
    columns: tuple[str, ...]
    unpaired: tuple[str, ...]
    unavailable: Mapping[str, str]
    of: ProbabilityOf = "answer"
    rows_text: str = ""

    @property
    def terms(self) -> Terms:
        """The words for the probabilities of the groups."""
        return TERMS[self.of]

    @property
    def headline(self) -> str:
        """How many groups differ from the other rows, and which is clearest."""
        if not self.n_tried:
            return next(iter(self.unavailable.values()), NO_COLUMN)
        several, terms = len(self.series) > 1, self.terms
        where = ("their run" if self.n_clear > 1 else "its run") if several else "the run"
        if not self.n_clear:
            return (
                f"None of the {plural(self.n_tried, 'group')} tested "
                f"{terms.right_how_often('more or less often', of_one=True)} than the other rows of "
                f"{where} at the same {terms.confidence}, beyond chance."
            )
        first = self.groups[0]
        run = f" of {self.series[first.run]}" if several else ""
        more_or_less = terms.right_how_often("more or less often", of_one=self.n_clear == 1)
        return (
            f"{self.n_clear:,} of the {plural(self.n_tried, 'group')} tested {more_or_less} than the other "
            f"rows of {where} at the same {terms.confidence}. The clearest difference is in "
            f"{first.name}{run}: "
            f"{difference_phrase(first.difference, terms)} (95 % {format_points(first.low)} to "
            f"{format_points(first.high)}; {q_value_phrase(first.q)})."
        )

    @property
    def recipe(self) -> str:
        """How the numbers were made."""
        rows = f", {self.rows_text}" if self.rows_text else ""
        return (
            f"each group against the other rows of its run, in strata of equal {self.terms.confidence} "
            f"(Cochran–Mantel–Haenszel; exact where few {self.terms.answers} vary); q: Benjamini–Hochberg "
            f"over all groups tested, {plural(self.n_tried, 'group')}{rows}"
        )

    @property
    def table_columns(self) -> tuple[Column, ...]:
        """The columns of the table of groups."""
        terms = self.terms
        return (
            Column("run", "Run"),
            Column("group", "Group"),
            Column("n", "Rows", "count"),
            Column("accuracy", terms.accuracy_title, "share"),
            Column("mean_confidence", f"Mean {terms.confidence}", "share"),
            Column("difference", "Against the rest", "points", rest_help(terms)),
            Column("low", "95 %", "points", upper="high"),
            Column("high", kind="points"),
            Column("p", kind="p"),
            Column("q", "q", "p"),
            Column("verdict", "Verdict", "verdict"),
            Column("recipe"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each listed group."""
        return frame_of(
            self.table_columns,
            (
                {
                    **{name: getattr(group, name) for name in _GROUP_FIELDS},
                    "run": self.series[group.run],
                    "group": group.name,
                    "verdict": group.verdict.words,
                    "recipe": self.recipe,
                }
                for group in self.groups
            ),
        )


_GROUP_FIELDS: Final = ("n", "accuracy", "mean_confidence", "difference", "low", "high", "p", "q")


def difference_phrase(difference: float, terms: Terms) -> str:
    """The difference of a group from the other rows in words."""
    direction = "less" if difference < 0 else "more"
    true = "yes is true" if terms.of == "event" else terms.right
    return f"{true} {abs(100 * difference):.1f} points {direction} often"


# --- The columns of the rows ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RowColumn:
    """The groups that one column makes of the used rows.

    Attributes
    ----------
    id, title : str
    names : tuple[str, ...]
        Values with `MIN_ROWS` rows or more, in order of first occurrence.
    code : NDArray[np.int32], shape (n_used,)
        Place of each row's value in `names`; `len(names)` for any other value, or none.
    """

    id: str
    title: str
    names: tuple[str, ...]
    code: NDArray[np.int32]


def scanned_columns(evidence: AnswerEvidence) -> list[RowColumn]:
    """The columns that form groups of the used rows.

    These are the columns that the page Groups offers, the length of the question, and the place of the
    answer among the choices. Neither depends on which answer is right.
    """
    rows = pl.Series(evidence.confidences.pairs.rows, dtype=pl.UInt32)
    series = [
        (grouping, row_groups(evidence.run, grouping).gather(rows))
        for grouping in group_by_choices({"": evidence.run}).values()
        if grouping.target == "rows"
    ]
    for grouping, values in (
        (GroupBy(LENGTH_ID, "question length", "rows"), _question_lengths(evidence)),
        (GroupBy(ANSWER_ID, "place of the answer", "rows"), _answer_positions(evidence)),
    ):
        if values is not None:
            series.append((grouping, values))
    made = (_row_column(grouping, values) for grouping, values in series)
    return [found for found in made if found.names]


def _row_column(grouping: GroupBy, values: pl.Series) -> RowColumn:
    texts = values.cast(pl.String)
    distinct: list[str] = texts.drop_nulls().unique(maintain_order=True).to_list()
    place = texts.cast(pl.Enum(distinct)).to_physical().fill_null(len(distinct)).to_numpy()
    is_kept = np.bincount(place, minlength=len(distinct) + 1)[: len(distinct)] >= MIN_ROWS
    names = tuple(name for name, kept in zip(distinct, is_kept.tolist(), strict=True) if kept)
    code_of_place = np.full(len(distinct) + 1, len(names), np.int32)
    code_of_place[:-1][is_kept] = np.arange(len(names))
    return RowColumn(grouping.id, grouping.title, names, code_of_place[place])


def _question_lengths(evidence: AnswerEvidence) -> pl.Series | None:
    """The length of each used question as a range of characters; None where texts are missing or alike."""
    question = column(evidence.run, "question").gather(
        pl.Series(evidence.confidences.pairs.rows, dtype=pl.UInt32)
    )
    if question.has_nulls() or question.is_empty():
        return None
    length = question.str.len_chars().to_numpy().astype(np.int64)
    ends = np.quantile(length, np.arange(1, LENGTH_PARTS + 1) / LENGTH_PARTS, method="inverted_cdf")
    ends = np.unique(ends).astype(np.int64)
    if ends.size < 2:
        return None
    starts = [int(length.min()), *(int(end) + 1 for end in ends[:-1])]
    labels = [f"{start:,} to {int(end):,} characters" for start, end in zip(starts, ends, strict=True)]
    part = pl.Series(np.searchsorted(ends, length), dtype=pl.UInt32)
    return pl.Series("length", labels).gather(part)


def _answer_positions(evidence: AnswerEvidence) -> pl.Series | None:
    """The place of the judged answer among the choices, from 1; None where it is not known."""
    distribution = evidence.confidences.distribution
    if distribution is not None:
        return (pl.Series("position", distribution.top_index) + 1).cast(pl.String)
    if not evidence.run.has_columns("prediction_index"):
        return None
    index = evidence.run.rows["prediction_index"]
    return (index.gather(pl.Series(evidence.confidences.pairs.rows, dtype=pl.UInt32)) + 1).cast(pl.String)


# --- The scan -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TriedGroup:
    """A group and its test, before it is described.

    Attributes
    ----------
    run : str
        Key of the run.
    columns : tuple[RowColumn, ...]
        One or two columns.
    values : tuple[int, ...]
        Place of the group's value among the names of each column.
    n : int
        Number of used rows.
    difference, low, high, p, q : float
        As in `HiddenGroup`.
    error : float
        Standard error of the difference.
    mirror : int or None
        Of two values that halve the run, the other one, which is not tried: its test is the same.
    """

    run: str
    columns: tuple[RowColumn, ...]
    values: tuple[int, ...]
    n: int
    difference: float
    low: float
    high: float
    p: float
    error: float
    mirror: int | None = None
    q: float = math.nan

    @property
    def is_clear(self) -> bool:
        """Whether it differs from the other rows beyond chance, given how many groups were tried."""
        return self.q <= SIGNIFICANCE_LEVEL

    @property
    def identity(self) -> tuple[str, frozenset[tuple[str, int]]]:
        """The run, and each column with its value."""
        return self.run, frozenset(
            (row_column.id, value) for row_column, value in zip(self.columns, self.values, strict=True)
        )

    @property
    def meets(self) -> NDArray[np.bool_]:
        """Which of the used rows are in the group, shape (n_used,)."""
        meets = np.ones(self.columns[0].code.size, np.bool_)
        for row_column, value in zip(self.columns, self.values, strict=True):
            meets &= row_column.code == value
        return meets


def hidden_groups(
    evidences: Mapping[str, AnswerEvidence],
    *,
    titles: Mapping[str, str] | None = None,
    progress: ShareProgress = no_progress,
) -> HiddenGroups:
    """Scan every run for groups of rows that differ from its other rows at equal confidence.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → the run as seen by one method.
    titles : Mapping[str, str], optional
        Run key → title; its label where omitted.
    progress : callable

    Notes
    -----
    Groups overlap, so their p-values depend on each other. In simulations with overlapping columns the share
    of false groups among the clear ones stayed below 5 % (benchmarks/groups.md).
    """
    columns = {key: scanned_columns(evidence) for key, evidence in evidences.items()}
    unavailable = {
        key: f"Not scanned: {reason}." if reason else NO_COLUMN
        for key, evidence in evidences.items()
        if (reason := _no_scan_reason(evidence)) or not columns[key]
    }
    scanned = {key: row_columns for key, row_columns in columns.items() if key not in unavailable}
    ranked = scan_groups(evidences, scanned, progress=progress)
    listed = itertools.islice(_without_shadows(ranked), MAX_LISTED)
    unpaired = [
        found.title
        for row_columns in scanned.values()
        for found in row_columns
        if len(row_columns) > 1 and found not in _paired_columns(row_columns)
    ]
    return HiddenGroups(
        groups=tuple(_described(group, evidences[group.run]) for group in listed),
        series={key: (titles or {}).get(key, evidences[key].run.label) for key in scanned},
        n_tried=len(ranked),
        n_clear=sum(group.is_clear for group in ranked),
        columns=tuple(dict.fromkeys(found.title for own in scanned.values() for found in own)),
        unpaired=tuple(dict.fromkeys(unpaired)),
        unavailable=unavailable,
        of=kind_of(evidences.values()),
        rows_text=joint_rows_text(evidences[key] for key in scanned),
    )


def _no_scan_reason(evidence: AnswerEvidence) -> str | None:
    """Why no group of a run can be tested, without a full stop; None where groups can."""
    if evidence.weight is not None:
        return weights_refusal("the scan").rstrip(".")
    return evidence.no_null_reason


def scan_groups(
    evidences: Mapping[str, AnswerEvidence],
    columns: Mapping[str, Sequence[RowColumn]],
    *,
    progress: ShareProgress = no_progress,
) -> list[TriedGroup]:
    """Every group that is tried, with its q-value, the smallest p-value first.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → the run as seen by one method.
    columns : Mapping[str, sequence of RowColumn]
        Run key → its columns, as from `scanned_columns`; a run that is not in it is not scanned.
    progress : callable
    """
    tried: list[TriedGroup] = []
    for index, (key, row_columns) in enumerate(columns.items()):
        tried += _scan(
            key,
            evidences[key],
            row_columns,
            lambda share, index=index: progress((index + share) / len(columns)),
        )
    fields = np.array([(one.difference, one.low, one.high, one.p, one.error) for one in tried]).reshape(-1, 5)
    found, q_values = GroupDifferences(*fields.T).of_family()
    corrected = zip(found.low.tolist(), found.high.tolist(), found.p.tolist(), q_values.tolist(), strict=True)
    with_q = [
        replace(group, low=low, high=high, p=p, q=q)
        for group, (low, high, p, q) in zip(tried, corrected, strict=True)
    ]
    return sorted(with_q, key=lambda group: (group.p, -abs(group.difference)))


def _paired_columns(columns: Sequence[RowColumn]) -> list[RowColumn]:
    """The columns of which pairs are made."""
    return [found for found in columns if len(found.names) <= MAX_PAIRED_VALUES][:MAX_PAIRED_COLUMNS]


def hidden_group_evidence(evidence: AnswerEvidence, conditions: Sequence[Condition]) -> AnswerEvidence:
    """The evidence of the rows that meet all conditions.

    Raises
    ------
    Unavailable
        If a column or a value is not one that is scanned.
    """
    found = {row_column.id: row_column for row_column in scanned_columns(evidence)}
    meets = np.ones(evidence.n_used, np.bool_)
    for condition in conditions:
        row_column = found.get(condition.column)
        if row_column is None or condition.value not in row_column.names:
            raise Unavailable(f"No row has {condition.title} {condition.value}.")
        meets &= row_column.code == row_column.names.index(condition.value)
    return restrict_rows(evidence, evidence.confidences.pairs.rows[meets])


def _scan(
    run: str,
    evidence: AnswerEvidence,
    columns: Sequence[RowColumn],
    progress: ShareProgress,
) -> list[TriedGroup]:
    """Every group of one run that has rows enough, alone or in pairs."""
    pairs = evidence.confidences.pairs
    stratum = confidence_strata(pairs.confidence)
    combinations: list[tuple[RowColumn, ...]] = [(single,) for single in columns]
    combinations += itertools.combinations(_paired_columns(columns), 2)
    tried: list[TriedGroup] = []
    sizes: dict[tuple[str, int], int] = {}
    for done, combination in enumerate(combinations):
        code, shape = _joint_code(combination)
        count, found = compare_groups(stratum, pairs.correct, code, math.prod(shape), evidence.cluster)
        if len(combination) == 1:
            sizes |= {(combination[0].id, value): int(n) for value, n in enumerate(count)}
        candidates = np.flatnonzero(~np.isnan(found.p)).tolist()
        mirror = None
        if len(combination) == 1 and len(candidates) == 2 and count.sum() == pairs.n:
            # Of two halves of the run, one is the mirror image of the other: the less accurate one counts.
            candidates.sort(key=lambda place: float(found.difference[place]))
            mirror = candidates.pop()
        for place in candidates:
            values = tuple(int(value) for value in np.unravel_index(place, shape))
            parts = [sizes.get((part.id, value)) for part, value in zip(combination, values, strict=True)]
            if len(combination) == 2 and int(count[place]) in parts:
                continue  # all rows of one part have the other value, too
            tried.append(
                TriedGroup(
                    run,
                    combination,
                    values,
                    int(count[place]),
                    float(found.difference[place]),
                    float(found.low[place]),
                    float(found.high[place]),
                    float(found.p[place]),
                    float(found.error[place]),
                    mirror,
                )
            )
        progress((done + 1) / len(combinations))
    return tried


def _joint_code(columns: Sequence[RowColumn]) -> tuple[NDArray[np.int32], tuple[int, ...]]:
    """The group of each row by one or two columns, and the number of values of each column."""
    first, shape = columns[0], tuple(len(part.names) for part in columns)
    if len(columns) == 1:
        return first.code, shape
    second = columns[1]
    none = np.int32(shape[0] * shape[1])
    code = first.code * np.int32(shape[1]) + second.code
    code[(first.code == shape[0]) | (second.code == shape[1])] = none
    return code, shape


def _without_shadows(ranked: Sequence[TriedGroup]) -> Iterator[TriedGroup]:
    """The groups without pairs of which one part is clear and no less clear, in the same order."""
    clear: set[tuple[str, frozenset[tuple[str, int]]]] = set()
    for group in ranked:
        run, conditions = group.identity
        parts = [(run, frozenset({condition})) for condition in conditions]
        if len(parts) == 2 and any(part in clear for part in parts):
            continue
        if group.is_clear:
            clear.add(group.identity)
            if group.mirror is not None:
                clear.add((run, frozenset({(group.columns[0].id, group.mirror)})))
        yield group


def _described(group: TriedGroup, evidence: AnswerEvidence) -> HiddenGroup:
    """The group with its accuracy, its confidence and its verdict."""
    meets = group.meets
    pairs = evidence.confidences.pairs
    confidence, correct = pairs.confidence[meets], pairs.correct[meets]
    cluster = None if evidence.cluster is None else evidence.cluster[meets]
    return HiddenGroup(
        run=group.run,
        conditions=tuple(
            Condition(row_column.id, row_column.title, row_column.names[value])
            for row_column, value in zip(group.columns, group.values, strict=True)
        ),
        n=group.n,
        accuracy=float(correct.mean()),
        mean_confidence=float(confidence.astype(np.float64).mean()),
        difference=group.difference,
        low=group.low,
        high=group.high,
        p=group.p,
        q=group.q,
        verdict=judge(
            confidence, correct, cluster, tolerance=evidence.tolerance, of=evidence.method.probability_of
        ),
    )
