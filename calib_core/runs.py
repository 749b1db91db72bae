"""What is a run, what does the program know of it, and what counts as missing?

Every floor above speaks of these values. A run is one model answering one data set once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import polars as pl

from calib_core.tokens.sums import TokenSums

AnswerSource = Literal["greedy", "majority", "sample_0"]
"""Which answer a stored confidence speaks of."""

RUN_COLUMNS: Final = ("model", "dataset", "shots", "checkpoint")
"""Rows that differ in one of these belong to different runs."""

INFO_COLUMNS: Final = (*RUN_COLUMNS, "params_b", "tuning", "temperature", "tokens_seen")
"""Columns that speak of the run and not of the row."""

ANSWER_SCHEMA: Final[Mapping[str, pl.DataType]] = MappingProxyType(
    {
        "row": pl.Int64(),
        "id": pl.String(),
        "trial_of": pl.String(),
        "subject": pl.String(),
        "question": pl.String(),
        "status": pl.String(),
        "answer_kind": pl.String(),
        "choices": pl.List(pl.String()),
        "gold": pl.String(),
        "gold_index": pl.Int32(),
        "gold_all": pl.List(pl.String()),
        "choice_logprobs": pl.List(pl.Float64()),
        "choice_logprob_floor": pl.Float64(),
        "choice_other_mass": pl.Float64(),
        "choice_probs": pl.List(pl.Float64()),
        "choice_token_counts": pl.List(pl.Int32()),
        "choice_char_counts": pl.List(pl.Int32()),
        "choice_byte_counts": pl.List(pl.Int32()),
        "prediction": pl.String(),
        "prediction_index": pl.Int32(),
        "prediction_text": pl.String(),
        "correct": pl.Boolean(),
        "samples": pl.List(pl.String()),
        "samples_parsed": pl.List(pl.String()),
        "sample_correct": pl.List(pl.Boolean()),
        "sample_cluster": pl.List(pl.Int32()),
        "correct_majority": pl.Boolean(),
        "path_logprobs": pl.List(pl.Float64()),
        "path_mean_prob": pl.Float64(),
        "answer_start": pl.Int32(),
        "answer_end": pl.Int32(),
        "answer_logprobs": pl.List(pl.Float64()),
        "answer_mean_prob": pl.Float64(),
        "p_true": pl.Float64(),
        "p_false": pl.Float64(),
        "p_true_norm": pl.String(),
        "verbal_confidence": pl.Float64(),
        "confidence": pl.Float64(),
    }
)
"""Columns of `AnswerRun.rows` that the program reads, with their dtypes.

A run has only the columns its file has, and always `row` (1-based record number in the file).
A float column (or the floats in a list) may be Float16 or Float32 where the file stores it so: the
stored dtype decides where a value falls between bins (decision 0002). Null means missing; NaN never
occurs.
"""


def is_missing(values: pl.Series) -> pl.Series:
    """Which raw values are *not there*: null, or text that is empty or white space. Boolean, no nulls.

    A value that is there and wrong ("N/A" in a number column, NaN) is bad, not missing.
    """
    if values.dtype != pl.String:
        return values.is_null()
    # White space stands before "!" or behind ASCII, so that few texts have to be looked at more closely.
    maybe = ((values < "!") | (values > "~")).fill_null(value=True)
    if not maybe.any():
        return maybe
    at = maybe.arg_true()
    return maybe.scatter(at, (values.gather(at).str.strip_chars() == "").fill_null(value=True))


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What tells one run from another, and what else its file says of it; None = not said."""

    model: str | None = None
    dataset: str | None = None
    shots: int | None = None
    checkpoint: str | None = None
    params_b: float | None = None
    tuning: str | None = None
    temperature: float | None = None
    tokens_seen: int | None = None
    path_of: AnswerSource = "greedy"
    p_true_of: AnswerSource = "greedy"
    answer_normaliser: str = "auto"

    def label(self, fallback: str) -> str:
        """ "model · dataset · N-shot · checkpoint" of what is known, else `fallback`."""
        shots = None if self.shots is None else f"{self.shots}-shot"
        known = [part for part in (self.model, self.dataset, shots, self.checkpoint) if part]
        return " · ".join(known) or fallback


@dataclass(frozen=True, slots=True)
class RowCounts:
    """What happened to the rows of one run between its file and its numbers.

    read: rows of this run in the file, bad ones included; left_out: bad rows left out by choice;
    clipped: per column, values up to 1e-6 outside [0, 1] that were moved onto the edge;
    off_sum: stored distributions whose sum is within 1e-3 of 1 but not 1 to 1e-6, used as stored;
    notes: whatever else a reader of the numbers has to know.
    """

    n_rows: int
    n_left_out: int = 0
    clipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    n_off_sum: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedMetric:
    """A number that the tool which wrote a file worked out itself.

    name: as the tool calls it; value: as stored; rows: how many rows it stands on, None = not said; method:
    id of the confidence method whose accuracy should be the same number, "" for the greedy answer's, None
    where the program has no such number; why: why it may differ from ours, "" where it should not; subject:
    the one whose rows it is of, None = of the whole run.
    """

    name: str
    value: float
    rows: int | None = None
    method: str | None = None
    why: str = ""
    subject: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AnswerRun:
    """The answers of one run: one row a question, columns as in `ANSWER_SCHEMA`.

    file: the file's name below the data folder; label: unique within its file, for people and for
    the command line's `run`; others: columns that the program has no name for and that sort the rows into
    groups, under the file's own names, as Enum, null where missing; as high as `rows`, or without columns.
    reported: what the tool that wrote the file says of the run; part_of: what runs of several files have in
    common that are parts of one evaluation (its subjects), None for a run that stands by itself.
    """

    file: str
    format: str
    label: str
    info: RunInfo
    rows: pl.DataFrame
    row_counts: RowCounts
    group_columns: pl.DataFrame = field(default_factory=pl.DataFrame)
    reported_metrics: tuple[ReportedMetric, ...] = ()
    evaluation: str | None = None

    @property
    def n_total(self) -> int:
        """Rows of this run in its file, left-out ones included: the "total" beside every number."""
        return self.row_counts.n_rows

    def has_columns(self, *columns: str) -> bool:
        """Whether every named column is there with at least one value."""
        return all(
            name in self.rows.columns and self.rows[name].null_count() < self.rows.height for name in columns
        )


@dataclass(frozen=True, slots=True, eq=False)
class TokenRun:
    """The positions of one run, as sums: the distributions themselves are read once and not kept.

    file, label, info, ledger: as in `AnswerRun`; a row is a position.
    """

    file: str
    format: str
    label: str
    info: RunInfo
    sums: TokenSums
    row_counts: RowCounts

    @property
    def n_total(self) -> int:
        """Positions of this run in its file, left-out ones included."""
        return self.row_counts.n_rows


Run: TypeAlias = AnswerRun | TokenRun
