"""Which sampled answers are equal, and which answer is the majority?

The rule for samples that do not parse is Calib's own (decision 0005), since the self-consistency paper names
none (Wang et al. 2024, arXiv:2403.09849).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.methods.answers.normalise import (
    ANSWER_KINDS,
    AnswerKind,
    AnswerNormaliser,
    encode_texts,
    is_percent,
    named_choice_index,
    normaliser_of_kind,
    text_form,
)
from calib_core.methods.answers.unparseable import (
    UNPARSED_CODE,
    UnparseableRule,
    counted_samples,
    unparsed_clusters,
)
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun

ABSENT_CODE: Final = -2
"""Code of a sample that does not exist, beside `UNPARSED_CODE` for one that does not parse."""

SORT_THREADS: Final = min(4, os.cpu_count() or 1)
"""Number of threads that sort; numpy releases the interpreter lock while sorting."""

BLOCK_CELLS: Final = 1 << 18
"""Number of samples sorted at a time, about as many as fit a core's cache."""

_UNLIMITED: Final = np.iinfo(np.int32).max


# --- Answers as codes: each distinct text is normalised once ------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTexts:
    """Answers of several rows.

    Attributes
    ----------
    rows : NDArray[np.intp], shape (r,)
        Positions of the rows in the run.
    counts : NDArray[np.int64], shape (r,)
        Number of answers of each row.
    texts : pl.Series of String, shape (Σ counts,)
        The answers, row after row.
    is_output : NDArray[np.bool_], shape (r,)
        Whether the texts of a row are whole outputs (`AnswerNormaliser.output_forms`) rather than bare
        answers (`AnswerNormaliser.answer_forms`).
    """

    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    texts: pl.Series
    is_output: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAnswers:
    """Answers as codes that are equal within a row exactly where the answers are.

    Attributes
    ----------
    codes : NDArray[np.int32], shape (answers,)
        From 0; −1 for an answer that does not parse.
    found_at_marker : bool
        Whether any answer was found at a marker in a longer output.
    has_percent : bool
        Whether any answer is a number with a percent sign.
    """

    codes: NDArray[np.int32]
    found_at_marker: bool = False
    has_percent: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _AnswersOfKind:
    """Answers to questions of one kind, as indices into their distinct texts."""

    kind: AnswerKind
    is_output: bool
    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    text_ids: NDArray[np.uint32]
    distinct: pl.Series


def encode_answers(normaliser: AnswerNormaliser, answers: AnswerTexts) -> EncodedAnswers:
    """Encode answers of any kind."""
    numbers, distinct = encode_texts(answers.texts)
    kinds = normaliser.kind.gather(pl.Series(answers.rows, dtype=pl.UInt32))
    parts: list[EncodedAnswers] = []
    code = np.empty(0, np.int32)
    for kind in ANSWER_KINDS:
        is_kind = (kinds == kind).to_numpy()
        for whole in (False, True):
            here = is_kind & (answers.is_output == whole)
            if here.all():
                return _encode_kind(
                    normaliser, _AnswersOfKind(kind, whole, answers.rows, answers.counts, numbers, distinct)
                )
            if here.any():
                of_sort = np.repeat(here, answers.counts)
                rows, count = answers.rows[here], answers.counts[here]
                parts.append(
                    _encode_kind(
                        normaliser, _AnswersOfKind(kind, whole, rows, count, numbers[of_sort], distinct)
                    )
                )
                code = code if code.size else np.full(numbers.size, UNPARSED_CODE, np.int32)
                code[of_sort] = parts[-1].codes
    return EncodedAnswers(
        code, any(part.found_at_marker for part in parts), any(part.has_percent for part in parts)
    )


def _encode_kind(normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> EncodedAnswers:
    if answers.kind == "choice":
        return _encode_choices(normaliser, answers)
    one, row = normaliser_of_kind(answers.kind), pl.zeros(answers.distinct.len(), dtype=pl.UInt32, eager=True)
    forms = alone = one.answer_forms(row, answers.distinct)
    if answers.is_output:
        forms = one.output_forms(row, answers.distinct)
    percent = answers.kind == "number" and bool(
        is_percent(answers.distinct.filter(forms.is_not_null())).any()
    )
    found = bool(forms.ne_missing(alone).any())
    return EncodedAnswers(_encode_forms(forms).take(answers.text_ids), found, percent)


def _encode_forms(forms: pl.Series) -> NDArray[np.int32]:
    """Codes of normal forms: equal for equal forms, −1 for null."""
    numbers, distinct = encode_texts(forms)
    code = np.arange(distinct.len(), dtype=np.int32)
    code[distinct.is_null().to_numpy()] = UNPARSED_CODE
    return code[numbers]


def _encode_choices(normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> EncodedAnswers:
    """The index of the choice that each answer names: by its text, else by letter, else by index."""
    named = named_choice_index(answers.distinct).fill_null(UNPARSED_CODE).cast(pl.Int32).to_numpy()
    index = named.take(answers.text_ids)
    most = (
        normaliser.n_choices.gather(pl.Series(answers.rows, dtype=pl.UInt32)).fill_null(_UNLIMITED).to_numpy()
    )
    if int(named.max(initial=UNPARSED_CODE)) >= int(most.min(initial=_UNLIMITED)):
        index[index >= np.repeat(most, answers.counts)] = UNPARSED_CODE
    _set_listed_choices(index, normaliser, answers)
    found = answers.is_output and _set_marked_choices(index, normaliser, answers)
    return EncodedAnswers(index, found)


def _set_listed_choices(
    index: NDArray[np.int32], normaliser: AnswerNormaliser, answers: _AnswersOfKind
) -> None:
    """Set the index of the answers whose text is one of their row's choices."""
    places = normaliser.form_place(text_form(answers.distinct))
    maybe = places.is_not_null().to_numpy()
    if not maybe.any():
        return
    at = np.flatnonzero(maybe.take(answers.text_ids))
    row = pl.Series(np.repeat(answers.rows, answers.counts)[at], dtype=pl.UInt32)
    # Joined by whole numbers: texts of millions of samples would be hashed once more.
    found = normaliser.index_in_row(row, places.gather(pl.Series(answers.text_ids[at])))
    known = found.is_not_null().to_numpy()
    index[at[known]] = found.drop_nulls().cast(pl.Int32).to_numpy()


def _set_marked_choices(
    index: NDArray[np.int32], normaliser: AnswerNormaliser, answers: _AnswersOfKind
) -> bool:
    """Set the index of the outputs that name a choice at a marker; returns whether there are any."""
    at = np.flatnonzero(index == UNPARSED_CODE)
    row = np.repeat(answers.rows, answers.counts)[at].astype(np.uint32)
    asked = pl.DataFrame({"row": row, "number": answers.text_ids[at]})
    pairs = asked.unique()
    texts = answers.distinct.gather(pairs["number"].cast(pl.UInt32))
    read = pairs.with_columns(index=named_choice_index(normaliser.output_forms(pairs["row"], texts)))
    found = asked.join(read, on=["row", "number"], how="left", maintain_order="left")["index"]
    index[at] = found.fill_null(UNPARSED_CODE).cast(pl.Int32).to_numpy()
    return found.null_count() < found.len()


# --- The samples of a run -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSamples:
    """The samples of every row of a run, as codes.

    Attributes
    ----------
    counts : NDArray[np.int64], shape (rows,)
        Number of samples in the file.
    codes : NDArray[np.int32], shape (Σ counts,)
        Row after row in sampling order; equal within a row exactly where the answers are, −1 for a sample
        that does not parse.
    has_labels : NDArray[np.bool_], shape (rows,)
        Whether the file's own labels decide which samples are equal.
    found_at_marker, has_percent : bool
        As in `EncodedAnswers`.
    starts : NDArray[np.int64], shape (rows,)
        Index of each row's first code.
    """

    counts: NDArray[np.int64]
    codes: NDArray[np.int32]
    has_labels: NDArray[np.bool_]
    found_at_marker: bool = False
    has_percent: bool = False
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", np.cumsum(self.counts) - self.counts)

    def code_table(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """The codes of some rows, shape (rows, most samples); shorter rows are filled up with −2."""
        count = self.counts[rows]
        width, begin = int(count.max(initial=0)), int(self.starts[rows[0]]) if rows.size else 0
        if width and (count == width).all() and rows[-1] - rows[0] == rows.size - 1:
            return self.codes[begin : begin + count.size * width].reshape(-1, width)
        place = np.arange(width)
        there = place < count[:, None]
        table = np.full(there.shape, ABSENT_CODE, np.int32)
        table[there] = self.codes[(self.starts[rows, None] + place)[there]]
        return table

    def locate(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and position of the chosen samples; chosen: shape (Σ count,)."""
        place = np.flatnonzero(chosen)
        row = np.searchsorted(self.starts + self.counts, place, side="right")
        return row, place - self.starts[row]


SAMPLE_COLUMNS: Final = ("samples", "samples_parsed", "sample_cluster")
"""Columns with the samples of a question: as written, as parsed, or as labels of equal answers."""
SAMPLES_REQUIRED: Final = "several sampled answers per question are needed"
"""The end of a message about a run without samples."""
OPEN_ANSWERS_NEED: Final = (
    "answers in open text need sample_cluster (which samples mean the same) and sample_correct (whether each "
    "sample is right)"
)
"""The end of a message about samples that cannot be compared as texts."""


def has_samples(run: AnswerRun) -> bool:
    """Whether any row has a sample, as text or as a cluster label."""
    return any(run.has_columns(name) for name in SAMPLE_COLUMNS)


def sample_texts(run: AnswerRun) -> pl.Series:
    """The samples of each row as parsed in the file, otherwise as written; List(String)."""
    parsed, raw = column(run, "samples_parsed"), column(run, "samples")
    if parsed.null_count() in (0, parsed.len()):
        # Not `coalesce`, which would copy every sample.
        return (parsed if parsed.null_count() == 0 else raw).alias("samples")
    return pl.select(pl.coalesce(pl.lit(parsed), pl.lit(raw)).alias("samples"))["samples"]


def encode_samples(run: AnswerRun, normaliser: AnswerNormaliser) -> EncodedSamples:
    """Encode the samples of a run: by the file's labels if a row has them, otherwise by normalised texts."""
    labels, texts = column(run, "sample_cluster"), sample_texts(run)
    output = column(run, "samples_parsed").is_null().to_numpy()
    labelled = _list_lengths(labels) > 0
    count = np.where(labelled, _list_lengths(labels), _list_lengths(texts))
    rows = np.flatnonzero(~labelled & (count > 0))
    if rows.size == count.size:
        read = encode_answers(normaliser, AnswerTexts(rows, count, texts.explode(), output))
        return EncodedSamples(count, read.codes, labelled, read.found_at_marker, read.has_percent)
    code = np.empty(int(count.sum()), np.int32)
    of_label = np.repeat(labelled, count)
    code[of_label] = _label_codes(labels.filter(pl.Series(labelled)))
    chosen = texts.gather(pl.Series(rows, dtype=pl.UInt32)).explode()
    read = encode_answers(normaliser, AnswerTexts(rows, count[rows], chosen, output[rows]))
    code[~of_label] = read.codes
    return EncodedSamples(count, code, labelled, read.found_at_marker, read.has_percent)


def _list_lengths(lists: pl.Series) -> NDArray[np.int64]:
    return lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()


def _label_codes(labels: pl.Series) -> NDArray[np.int32]:
    """Labels as codes from 0; a null label is a sample that does not parse."""
    flat = labels.explode()
    return (flat.rank("dense").cast(pl.Int32) - 1).fill_null(UNPARSED_CODE).to_numpy()


# --- Groups of equal samples, by sorting --------------------------------------------------------------------


class _BlockGroups(NamedTuple):
    """The groups of a block of rows, sorted by row and code.

    `row`, `size` and `first` have one entry per group; `unparsed` has one per row, as in `SampleGroups`.
    """

    row: NDArray[np.int32]
    size: NDArray[np.int32]
    first: NDArray[np.int32]
    unparsed: NDArray[np.int64]


class _BlockSummary(NamedTuple):
    """The groups of a block of rows, with a summary of each row as in `SampleGroups`."""

    groups: _BlockGroups
    n_groups: NDArray[np.int64]
    largest_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SampleGroups:
    """Groups of equal samples that parse.

    Attributes
    ----------
    sizes, first_positions : NDArray[np.int32], shape (groups,)
        Number of members and position of the first one; the groups of a row are adjacent, the rows unordered.
    starts : NDArray[np.int64], shape (rows,)
        Index of each row's first group.
    n_groups : NDArray[np.int64], shape (rows,)
        Number of groups of each row.
    largest_size : NDArray[np.int64], shape (rows,)
        Size of the largest group, 0 if there is none.
    majority_first : NDArray[np.int64], shape (rows,)
        Position of the first member of the largest group, −1 if there is none; a tie goes to the group
        sampled first.
    is_tied : NDArray[np.bool_], shape (rows,)
        Whether another group is as large.
    n_unparsed : NDArray[np.int64], shape (rows,)
        Number of samples that do not parse.
    """

    sizes: NDArray[np.int32]
    first_positions: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_groups: NDArray[np.int64]
    largest_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]
    n_unparsed: NDArray[np.int64]

    @classmethod
    def from_samples(cls, samples: EncodedSamples) -> Self:
        """Group the samples of each row by equal codes."""
        rows = samples.counts.size
        start, number, largest, unparsed = (np.zeros(rows, np.int64) for _ in range(4))
        majority, tied = np.full(rows, -1, np.int64), np.zeros(rows, np.bool_)
        sizes, firsts = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        begin = 0
        for block, found in _blocks_in_parallel(samples, row_blocks(samples.counts)):
            unparsed[block], number[block] = found.groups.unparsed, found.n_groups
            start[block] = begin + np.cumsum(found.n_groups) - found.n_groups
            largest[block], majority[block], tied[block] = (
                found.largest_size,
                found.majority_first,
                found.is_tied,
            )
            sizes.append(found.groups.size)
            firsts.append(found.groups.first)
            begin += found.groups.size.size
        flat = (np.concatenate(sizes), np.concatenate(firsts))
        return cls(*flat, start, number, largest, majority, tied, unparsed)

    def size_tables(self, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32]]]:
        """Tables of group sizes, one for each number of groups.

        Yields the rows with that number of groups, and their sizes in ascending order, shape (rows, groups).
        Rows without groups are left out.
        """
        number = self.n_groups[rows]
        order = np.argsort(number, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            width = int(number[some[0]]) if some.size else 0
            if width:
                sizes = self.sizes.take(self.starts[rows[some], None] + np.arange(width))
                sizes.sort(axis=1)
                yield rows[some], sizes

    def in_row_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """`sizes` or `first_positions` with the groups in the order of the rows."""
        before = np.cumsum(self.n_groups) - self.n_groups
        shift = np.repeat(self.starts - before, self.n_groups)
        return values[shift + np.arange(shift.size)]


def row_blocks(count: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Blocks of rows of similar length whose table has at most `BLOCK_CELLS` cells, or a single row.

    Parameters
    ----------
    count : NDArray[np.int64], shape (rows,)
        Length of each row; rows of length 0 are in no block.
    """
    order = np.argsort(count, kind="stable")
    lengths = count[order]
    low = int(np.searchsorted(lengths, 1))
    while low < order.size:
        # The table is as wide as its last row, the longest, so adding rows may widen it.
        high = min(order.size, low + max(1, BLOCK_CELLS // int(lengths[low])))
        high = low + max(1, min(high - low, BLOCK_CELLS // int(lengths[high - 1])))
        yield order[low:high]
        low = high


def _blocks_in_parallel(
    samples: EncodedSamples, blocks: Iterable[NDArray[np.intp]]
) -> Iterator[tuple[NDArray[np.intp], _BlockSummary]]:
    """Each block of rows with its groups, in order; blocks are sorted in parallel threads."""
    waiting = deque[tuple[NDArray[np.intp], Future[_BlockSummary]]]()
    with ThreadPoolExecutor(SORT_THREADS) as pool:
        for block in blocks:
            waiting.append((block, pool.submit(_summarise_block, samples, block)))
            if len(waiting) > 2 * SORT_THREADS:
                rows, found = waiting.popleft()
                yield rows, found.result()
        for rows, found in waiting:
            yield rows, found.result()


def _summarise_block(samples: EncodedSamples, rows: NDArray[np.intp]) -> _BlockSummary:
    found = _groups_of_table(samples.code_table(rows))
    number = np.bincount(found.row, minlength=rows.size)
    return _BlockSummary(found, number, *_largest_groups(found, number))


def _groups_of_table(codes: NDArray[np.int32]) -> _BlockGroups:
    """The groups of each row of a table of codes that parse."""
    rows, width = codes.shape
    bits = max(1, (width - 1).bit_length())
    kind = np.int32 if int(codes.max()) < 1 << (31 - bits) else np.int64
    # One sort orders a row by code, and equal codes by position.
    packed = np.left_shift(codes, bits, dtype=kind)
    packed |= np.arange(width, dtype=kind)
    packed.sort(axis=1)
    flat = packed.ravel()
    code = flat >> bits
    begins = np.empty(code.shape, np.bool_)
    np.not_equal(code[1:], code[:-1], out=begins[1:])
    begins[::width] = True
    at = np.flatnonzero(begins).astype(np.int32)
    size = np.diff(at, append=np.int32(code.size))
    row, least = at // np.int32(width), flat.take(at)
    first = (least & ((1 << bits) - 1)).astype(np.int32)
    parsed, unparsed = least >= 0, np.zeros(rows, np.int64)
    if not parsed.all():
        alone = least >> bits == UNPARSED_CODE
        unparsed[row[alone]] = size[alone]
        row, size, first = row[parsed], size[parsed], first[parsed]
    return _BlockGroups(row, size, first, unparsed)


def _largest_groups(
    found: _BlockGroups, number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Size of each row's largest group, position of its first member, and whether another is as large."""
    largest, first = np.zeros(number.size, np.int64), np.full(number.size, -1, np.int64)
    there = np.flatnonzero(number)
    if not there.size:
        return largest, first, np.zeros(number.size, np.bool_)
    latest = int(found.first.max())
    # Groups are ranked by size, then by how early they begin, both packed into one number.
    rank = found.size.astype(np.int64) * (latest + 1) + (latest - found.first)
    best = np.maximum.reduceat(rank, (np.cumsum(number) - number)[there])
    largest[there], first[there] = best // (latest + 1), latest - best % (latest + 1)
    tied = np.bincount(found.row[found.size == largest[found.row]], minlength=number.size) > 1
    return largest, first, tied


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of every row of a run.

    Attributes
    ----------
    n_counted : NDArray[np.int64], shape (rows,)
        N, the number of samples that count.
    n_clusters : NDArray[np.int64], shape (rows,)
        |C|, the number of clusters.
    majority_size : NDArray[np.int64], shape (rows,)
        n_i, the size of the majority cluster; 0 if no sample parses.
    majority_first : NDArray[np.int64], shape (rows,)
        Position of the majority's first sample; −1 if there is none.
    is_tied : NDArray[np.bool_], shape (rows,)
        Whether another cluster that parses is as large.
    n_samples, n_unparsed : NDArray[np.int64], shape (rows,)
        Number of samples in the file, and of those that do not parse.
    has_labels : NDArray[np.bool_], shape (rows,)
        Whether the clusters are the file's own labels rather than equal answers.
    groups : SampleGroups
        The clusters of samples that parse.
    samples : EncodedSamples
        The samples as codes.
    rule : {"own", "one", "drop"}
        How samples that do not parse count.
    """

    n_counted: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    majority_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]
    n_samples: NDArray[np.int64]
    n_unparsed: NDArray[np.int64]
    has_labels: NDArray[np.bool_]
    groups: SampleGroups
    samples: EncodedSamples
    rule: UnparseableRule

    @property
    def cluster_sizes(self) -> pl.Series:
        """Sizes of each row's clusters, ordered by their first samples; computed again at each call.

        List(Int64), shape (rows,), including clusters of samples that do not parse; null without clusters.
        """
        parsed = pl.DataFrame(
            {
                "row": np.repeat(np.arange(self.n_clusters.size), self.groups.n_groups),
                "first": self.groups.in_row_order(self.groups.first_positions),
                "size": self.groups.in_row_order(self.groups.sizes),
            }
        ).cast(pl.Int64)
        every = pl.concat([parsed, self._unparsed_clusters()]).sort("row", "first")
        lists = every.group_by("row").agg("size")
        rows = pl.DataFrame({"row": pl.int_range(self.n_clusters.size, dtype=pl.Int64, eager=True)})
        return rows.join(lists, on="row", how="left", maintain_order="left")["size"].alias("sizes")

    def _unparsed_clusters(self) -> pl.DataFrame:
        """The clusters of samples that do not parse: row, first, size."""
        row, position = self.samples.locate(self.samples.codes == UNPARSED_CODE)
        alone = pl.DataFrame({"row": row, "first": position, "size": np.ones_like(row)}).cast(pl.Int64)
        if self.rule == "own":
            return alone
        if self.rule == "drop":
            return alone.clear()
        return alone.group_by("row").agg(pl.col("first").min(), pl.col("size").sum())


def cluster_samples(run: AnswerRun, normaliser: AnswerNormaliser, unparseable: UnparseableRule) -> Clusters:
    """Cluster the samples of each row by equal answers.

    Stored labels (`sample_cluster`) are used if a row has them; a null label is a sample that does not parse.
    The majority is the largest cluster of samples that parse, and a tie goes to the cluster sampled first.

    Parameters
    ----------
    run : AnswerRun
        A run with samples.
    normaliser : AnswerNormaliser
        The normaliser of the run.
    unparseable : {"own", "one", "drop"}
        How samples that do not parse count; see `UnparseableRule`.
    """
    samples = encode_samples(run, normaliser)
    groups = SampleGroups.from_samples(samples)
    return Clusters(
        n_counted=counted_samples(samples.counts, groups.n_unparsed, unparseable),
        n_clusters=groups.n_groups + unparsed_clusters(groups.n_unparsed, unparseable),
        majority_size=groups.largest_size,
        majority_first=groups.majority_first,
        is_tied=groups.is_tied,
        n_samples=samples.counts,
        n_unparsed=groups.n_unparsed,
        has_labels=samples.has_labels,
        groups=groups,
        samples=samples,
        rule=unparseable,
    )
