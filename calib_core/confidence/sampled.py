"""Which answer is each sample?  Samples → whole numbers, equal within a row just where answers are equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answer_codes import UNPARSED_CODE, AnswerTexts, encode_answers
from calib_core.confidence.answers import AnswerNormaliser
from calib_core.confidence.columns import column
from calib_core.records import AnswerRun

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
        object.__setattr__(self, "start", np.cumsum(self.counts) - self.counts)

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
