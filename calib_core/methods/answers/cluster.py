"""Which sampled answers are the same, and which of them is the majority?

The rule of samples that do not parse is this project's own: the self-consistency paper names none
(Wang et al., arXiv 2403.09849).
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

# MERGED answer_codes: Which of many answers are equal?  Texts of many rows → whole numbers, each distinct text read once.

_UNLIMITED: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTexts:
    """Answers of several rows.

    rows: intp, positions of the rows in the run, shape (r,); count: int64, answers of each, shape (r,);
    text: String, the answers end to end; output: bool, shape (r,), whether the texts of a row are whole
    outputs (read by `Normaliser.readings`) rather than answers that stand alone (`Normaliser.forms`).
    """

    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    texts: pl.Series
    is_output: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAnswers:
    """Which answers are equal, and what was done to tell.

    code: int32, shape (answers,), from 0 on, equal within a row just where two answers have one normal
    form, −1 where an answer has none; found: whether some stand at a marker in a longer output; percent:
    whether some are numbers with a percent sign.
    """

    codes: NDArray[np.int32]
    found_at_marker: bool = False
    has_percent: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _AnswersOfKind:
    """Answers of rows of one kind, by the number of their distinct text."""

    kind: AnswerKind
    is_output: bool
    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    text_ids: NDArray[np.uint32]
    distinct: pl.Series


def encode_answers(normaliser: AnswerNormaliser, answers: AnswerTexts) -> EncodedAnswers:
    """The answers as whole numbers."""
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
    """Equal forms → equal numbers, null → −1."""
    numbers, distinct = encode_texts(forms)
    code = np.arange(distinct.len(), dtype=np.int32)
    code[distinct.is_null().to_numpy()] = UNPARSED_CODE
    return code[numbers]


def _encode_choices(normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> EncodedAnswers:
    """The index of the choice that each answer names: equal text first, then letter, then index."""
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
    """Sets the index of the answers whose text is one of their row's choices."""
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
    """Sets the index of the outputs which name a choice at a marker; says whether there is any."""
    at = np.flatnonzero(index == UNPARSED_CODE)
    row = np.repeat(answers.rows, answers.counts)[at].astype(np.uint32)
    asked = pl.DataFrame({"row": row, "number": answers.text_ids[at]})
    pairs = asked.unique()
    texts = answers.distinct.gather(pairs["number"].cast(pl.UInt32))
    read = pairs.with_columns(index=named_choice_index(normaliser.output_forms(pairs["row"], texts)))
    found = asked.join(read, on=["row", "number"], how="left", maintain_order="left")["index"]
    index[at] = found.fill_null(UNPARSED_CODE).cast(pl.Int32).to_numpy()
    return found.null_count() < found.len()


# MERGED sampled: Which answer is each sample?  Samples → whole numbers, equal within a row just where answers are equal.

ABSENT_CODE: Final = -2
"""The code of a sample that is not there, beside `UNPARSED` of one that does not parse."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSamples:
    """The samples of every row of a run.

    count: int64, shape (rows,), samples in the file; code: int32, shape (Σ count,), rows end to end in
    sampling order: equal within a row just where the answers are equal, −1 = does not parse; labelled:
    bool, shape (rows,), whether the file's own labels tell which are equal; found, percent: as in
    `AnswerCodes`; start: int64, shape (rows,), where the codes of each row begin.
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
        """The codes of some rows, shape (rows, most samples), shorter rows filled up with −2 = no sample."""
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


def has_samples(run: AnswerRun) -> bool:
    """Whether any row has a sample, be it as text or as the number of its cluster."""
    return any(run.has_columns(name) for name in ("samples", "samples_parsed", "sample_cluster"))


def sample_texts(run: AnswerRun) -> pl.Series:
    """The samples of each row as the file parsed them, else as it has them: List(String)."""
    parsed, raw = column(run, "samples_parsed"), column(run, "samples")
    if parsed.null_count() in (0, parsed.len()):
        # Not `coalesce`, which would copy every sample.
        return (parsed if parsed.null_count() == 0 else raw).alias("samples")
    return pl.select(pl.coalesce(pl.lit(parsed), pl.lit(raw)).alias("samples"))["samples"]


def encode_samples(run: AnswerRun, normaliser: AnswerNormaliser) -> EncodedSamples:
    """The samples of a run: the file's labels where a row has them, else its texts, normalised."""
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
    """Labels as numbers from 0 on; a null label is a sample that does not parse."""
    flat = labels.explode()
    return (flat.rank("dense").cast(pl.Int32) - 1).fill_null(UNPARSED_CODE).to_numpy()


# MERGED grouped: How many samples of a row say the same?  Codes → groups of equal ones, by sorting.

SORT_THREADS: Final = min(4, os.cpu_count() or 1)
"""Threads that sort: numpy lets the others run meanwhile."""

BLOCK_CELLS: Final = 1 << 18
"""Samples that are sorted at a time: about what a core's own cache holds."""


class _BlockGroups(NamedTuple):
    """The groups of a block of rows, row by row, each row's ascending in code.

    row, size, first: arrays of one shape, the groups'; unparsed: of each row of the block, as in `Groups`.
    """

    row: NDArray[np.int32]
    size: NDArray[np.int32]
    first: NDArray[np.int32]
    unparsed: NDArray[np.int64]


class _BlockSummary(NamedTuple):
    """The groups of a block of rows, and of each row how many, its largest, where that begins, and ties."""

    groups: _BlockGroups
    n_groups: NDArray[np.int64]
    largest_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SampleGroups:
    """The groups of equal samples that parse; arrays int64 of shape (rows,) unless said otherwise.

    size, first: int32, number of members and position of the first one, the groups of a row side by side,
    the rows in any order; start: where a row's begin; number: how many it has; largest: size of its
    largest, 0 where it has none; majority: position of the first member of its largest, of equally large
    ones the one sampled first, −1 where it has none; tied: bool, whether another is as large; unparsed:
    samples that do not parse.
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
        """Puts the samples of each row into groups of equal codes."""
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
        """Those of the rows that have equally many groups, and their sizes, ascending: shape (some, groups).

        Rows without groups are left out; as many tables as there are numbers of groups.
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
        """`size` or `first` with the rows in their own order."""
        before = np.cumsum(self.n_groups) - self.n_groups
        shift = np.repeat(self.starts - before, self.n_groups)
        return values[shift + np.arange(shift.size)]


def row_blocks(count: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Rows of like length, so many at a time that a table of them has at most `CELLS` cells, or one row.

    count: length of each row, shape (rows,); rows of length 0 are in no block.
    """
    order = np.argsort(count, kind="stable")
    lengths = count[order]
    low = int(np.searchsorted(lengths, 1))
    while low < order.size:
        # The table is as wide as its longest row, the last one: with more rows it may be wider.
        high = min(order.size, low + max(1, BLOCK_CELLS // int(lengths[low])))
        high = low + max(1, min(high - low, BLOCK_CELLS // int(lengths[high - 1])))
        yield order[low:high]
        low = high


def _blocks_in_parallel(
    samples: EncodedSamples, blocks: Iterable[NDArray[np.intp]]
) -> Iterator[tuple[NDArray[np.intp], _BlockSummary]]:
    """Each block of rows with its groups, in order; numpy sorts on as many cores as there are."""
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
    # One number by which groups are ranked: first their size, then how early they begin.
    rank = found.size.astype(np.int64) * (latest + 1) + (latest - found.first)
    best = np.maximum.reduceat(rank, (np.cumsum(number) - number)[there])
    largest[there], first[there] = best // (latest + 1), latest - best % (latest + 1)
    tied = np.bincount(found.row[found.size == largest[found.row]], minlength=number.size) > 1
    return largest, first, tied


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of every row of a run; arrays int64 of shape (rows,) unless said otherwise.

    counted: N, samples that count; number: |C|; largest: n_i, size of the majority cluster, 0 where no
    sample parses; first: position of the majority's first sample, -1 where there is none; tied: bool,
    whether another cluster that parses is as large; sampled: samples in the file; unparsed: those among
    them that do not parse; labelled: bool, whether the clusters are the file's own labels rather than
    equal answers; groups: the clusters of samples that parse; samples: which answer each sample is;
    rule: what samples that do not parse count as.
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
        """Sizes of each row's clusters in the order in which their first members were sampled.

        List(Int64), shape (rows,), clusters of samples that do not parse among them; null where there is
        none. Made anew at each call.
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
        """The clusters that samples which do not parse make: row, first, size."""
        row, position = self.samples.locate(self.samples.codes == UNPARSED_CODE)
        alone = pl.DataFrame({"row": row, "first": position, "size": np.ones_like(row)}).cast(pl.Int64)
        if self.rule == "own":
            return alone
        if self.rule == "drop":
            return alone.clear()
        return alone.group_by("row").agg(pl.col("first").min(), pl.col("size").sum())


def cluster_samples(run: AnswerRun, normaliser: AnswerNormaliser, unparseable: UnparseableRule) -> Clusters:
    """Puts the samples of each row into clusters of equal answers.

    Stored labels (`sample_cluster`) are taken where a row has them, a null label being a sample that
    does not parse. The majority is the largest cluster of samples that parse; of equally large ones
    the one sampled first. unparseable: see `method.Unparseable`.
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
