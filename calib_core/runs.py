"""What is a run, and which of its values count as missing?

A run is one model answering one data set once. Every layer above works with the classes defined here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from types import MappingProxyType
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import shorten
from calib_core.tokens.sums import TokenSums
from calib_core.values import Value
from calib_core.wording import plural

AnswerSource = Literal["greedy", "majority", "sample_0"]
"""The answer that a stored confidence refers to."""

ChoicesAre = Literal["options", "levels"]
"""What the choices of a decision are: options, or the levels of a scale in their order."""

RUN_COLUMNS: Final = ("model", "dataset", "shots", "checkpoint")
"""Rows that differ in any of these columns belong to different runs."""

INFO_COLUMNS: Final = (*RUN_COLUMNS, "params_b", "tuning", "temperature", "tokens_seen", "choices_are")
"""Columns that describe the run rather than the row."""

ROW_DTYPE: Final = pl.Int32()
"""Of record numbers: the eight bytes that counting takes elsewhere are felt in runs of millions of rows."""

ANSWER_SCHEMA: Final[Mapping[str, pl.DataType]] = MappingProxyType(
    {
        "row": ROW_DTYPE,
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
        "choice_logits": pl.List(pl.Float64()),
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
        "server_confidence": pl.Float64(),
        "event_prob": pl.Float64(),
        "event": pl.Boolean(),
        "weight": pl.Float64(),
        "judge": pl.String(),
        "judge_score": pl.Float64(),
        "human": pl.String(),
        "swap_of": pl.String(),
    }
)
"""Columns of `AnswerRun.rows` that Calib reads, with their dtypes.

A run has the columns of its file, and always `row` (1-based record number in the file). A float column, or
the floats in a list, may be Float16 or Float32 if the file stores it that way: the stored dtype decides which
bin a value falls into (decision 0002). Null means missing; NaN never occurs.

A row may hold several confidences, each in a column `confidence.NAME` of its own, which is checked and stored
as `confidence` is, and the labels of several people, each in a column `human.NAME`: see `schema_name`.
"""

FILE_COLUMN: Final = "file"
"""The column of a merged run that holds each row's file; `row` counts the records of that file."""

MAX_NAMED_CONFIDENCES: Final = 50
"""Limit on the columns `confidence.NAME` of a file."""

NAMED_COLUMN_RULE: Final = 'letters from A to Z, digits, "_", "-" and ".", 40 characters at most'
"""What the NAME of a column `confidence.NAME` or `human.NAME` may consist of."""

_NAMED_COLUMN: Final = re.compile(r"(?P<family>confidence|human)\.(?P<name>[A-Za-z0-9_.-]{1,40})")


def confidence_name(column: str) -> str | None:
    """The NAME of a column `confidence.NAME`; None for any other column.

    Examples
    --------
    >>> confidence_name("confidence.stated"), confidence_name("confidence"), confidence_name("confidence.a b")
    ('stated', None, None)
    """
    match = _NAMED_COLUMN.fullmatch(column)
    return match["name"] if match and match["family"] == "confidence" else None


def schema_name(column: str) -> str:
    """The name in `ANSWER_SCHEMA` whose rules hold for a column: "confidence" for `confidence.NAME`.

    Examples
    --------
    >>> schema_name("confidence.stated"), schema_name("human.anna"), schema_name("correct")
    ('confidence', 'human', 'correct')
    """
    match = _NAMED_COLUMN.fullmatch(column)
    return match["family"] if match else column


def is_missing(values: pl.Series) -> pl.Series:
    """Which raw values are missing: null, or text that is empty or only white space.

    A value that is present and wrong ("N/A" in a number column, NaN) is bad, not missing (decision 0004).

    Parameters
    ----------
    values : pl.Series, shape (n,)
        Raw values of a column.

    Returns
    -------
    pl.Series of Boolean, shape (n,)
        Without nulls.

    Examples
    --------
    >>> is_missing(pl.Series(["A", " ", None, "N/A"])).to_list()
    [False, True, True, False]
    """
    if values.dtype != pl.String:
        return values.is_null()
    # White space sorts before "!" or after ASCII, so only few texts need a closer look.
    maybe = ((values < "!") | (values > "~")).fill_null(value=True)
    if not maybe.any():
        return maybe
    candidates = maybe.arg_true()
    blank = (values.gather(candidates).str.strip_chars() == "").fill_null(value=True)
    return maybe.scatter(candidates, blank)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What distinguishes one run from another, and what else its file says about it.

    Attributes
    ----------
    model, dataset, checkpoint : str or None
        Names, as in the file; None where the file does not say.
    shots : int or None
        Number of examples in the prompt.
    params_b : float or None
        Size of the model, in billions of parameters.
    tuning : str or None
        How the model was tuned.
    temperature : float or None
        Sampling temperature.
    tokens_seen : int or None
        Number of training tokens up to this checkpoint.
    path_of, p_true_of : {"greedy", "majority", "sample_0"}
        The answer that the token probabilities and P(True) refer to.
    answer_normaliser : str
        Kind of answer used to compare answers; "auto" decides row by row.
    choice_order : str
        The letters of the choices in the order of their columns, such as "A, B, C, D"; "" if the choices are
        not made of columns that have letters.
    judged : {"greedy", "majority"}
        The answer that stands for the greedy one where a run has none: the majority of the samples.
    choices_are : {"options", "levels"} or None
        What the choices of a decision are: options, or levels of a scale from the lowest to the highest;
        None for any other run.
    """

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
    choice_order: str = ""
    judged: AnswerSource = "greedy"
    choices_are: ChoicesAre | None = None

    def label(self, fallback: str) -> str:
        """ "model · dataset · N-shot · checkpoint", as far as known; `fallback` if nothing is known."""
        shots = None if self.shots is None else f"{self.shots}-shot"
        known = [part for part in (self.model, self.dataset, shots, self.checkpoint) if part]
        return " · ".join(known) or fallback


@dataclass(frozen=True, slots=True)
class RowCounts:
    """What happened to the rows of one run between its file and its numbers.

    Attributes
    ----------
    n_rows : int
        Rows of this run in the file, including bad ones.
    n_left_out : int
        Bad rows that the user chose to leave out.
    clipped : Mapping[str, int]
        Number of values per column that lay up to 1e-6 outside [0, 1] and were clipped.
    n_inexact_sums : int
        Stored distributions whose sum differs from 1 by more than 1e-6 and at most 1e-3; used as stored.
    notes : tuple of str
        Anything else a reader of the numbers needs to know.
    """

    n_rows: int
    n_left_out: int = 0
    clipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    n_inexact_sums: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedMetric:
    """A number that the tool which wrote the file computed itself.

    Attributes
    ----------
    name : str
        The tool's name for it.
    value : float
        The value as stored.
    n_rows : int or None
        Number of rows it was computed from; None if the file does not say.
    method : str or None
        Id of the confidence method whose accuracy should equal it, "" for the accuracy of the greedy answer;
        None if Calib has no such number.
    difference_reason : str
        Why it may differ from Calib's number; "" if it should not.
    subject : str or None
        The subject whose rows it describes; None for the whole run.
    """

    name: str
    value: float
    n_rows: int | None = None
    method: str | None = None
    difference_reason: str = ""
    subject: str | None = None


def row_key(rows: pl.DataFrame) -> list[str]:
    """Return the columns that together identify a row of a run."""
    return [name for name in (FILE_COLUMN, "row") if name in rows.columns]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corrections(Value):
    """What a table of corrections changed in the rows of one run.

    Attributes
    ----------
    file : str
        Name of the table.
    n_left_out : int
        Rows that were left out.
    n_corrected : int
        Rows that have another right answer, or another outcome, than in their file.
    changes : pl.DataFrame
        One row for each of these: `row`, `id`, `subject`, `change` ("left out", "right answer" or
        "outcome"), what it was `before` and is `after`, and the `reason` in the table.
    original_rows : pl.DataFrame
        The same rows as their file has them.
    added_columns : tuple of str
        Columns of the run that its file does not have.
    """

    file: str
    n_left_out: int
    n_corrected: int
    changes: pl.DataFrame
    original_rows: pl.DataFrame
    added_columns: tuple[str, ...] = ()

    @property
    def recipe(self) -> str:
        """ "with corrections fixes.csv: 12 left out, 7 corrected"."""
        return f"with corrections {self.file}: {self.n_left_out:,} left out, {self.n_corrected:,} corrected"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerRun(Value):
    """The answers of one run.

    Attributes
    ----------
    file : str
        Name of the file below the data folder.
    format : str
        Id of the file's format.
    label : str
        Name shown to people and used on the command line; unique within the file.
    info : RunInfo
        What the file says about the run.
    rows : pl.DataFrame
        One row per question, columns as in `ANSWER_SCHEMA`, and those of named confidences.
    row_counts : RowCounts
        Rows read, left out and changed.
    group_columns : pl.DataFrame
        Further columns of the file that sort the rows into groups, under the file's own names, as Enum with
        null for missing; as high as `rows`, or without columns.
    reported_metrics : tuple of ReportedMetric
        Numbers that the tool which wrote the file reports for the run.
    evaluation : str or None
        Name shared by runs in several files that are parts of one evaluation, such as its subjects; None for
        a run on its own.
    corrections : Corrections or None
        What a table of corrections changed; None where none was given.
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
    corrections: Corrections | None = None

    @property
    def n_total(self) -> int:
        """Rows of this run in its file, including those left out: the "total" shown beside every number.

        Questions that a table of corrections leaves out are not counted, as if the file did not have them.
        """
        return self.row_counts.n_rows

    @property
    def uncorrected(self) -> AnswerRun:
        """The run as its file has it, without groups; the run itself where nothing was corrected."""
        if self.corrections is None:
            return self
        original = self.corrections.original_rows
        key = row_key(original)
        kept = self.rows.join(original, on=key, how="anti") if original.height else self.rows
        rows = pl.concat([kept.drop(self.corrections.added_columns), original], how="diagonal_relaxed")
        counts = replace(self.row_counts, n_rows=self.n_total + self.corrections.n_left_out)
        return replace(
            self,
            rows=rows.sort(key, maintain_order=True) if original.height else rows,
            row_counts=counts,
            group_columns=pl.DataFrame(),
            corrections=None,
        )

    def __repr__(self) -> str:
        return f"<AnswerRun {run_line(self)}>"

    def _repr_html_(self) -> str:
        return runs_table((self,))

    def has_columns(self, *columns: str) -> bool:
        """Whether the run has every named column, each with at least one value."""
        return all(
            name in self.rows.columns and self.rows[name].null_count() < self.rows.height for name in columns
        )

    def weights(self, rows: NDArray[np.intp] | None) -> NDArray[np.float64] | None:
        """How many cases some rows stand for, shape (n,), NaN where not known; None where none has a weight.

        Parameters
        ----------
        rows : NDArray[np.intp] or None, shape (n,)
            Positions in `rows`; None for all of them.
        """
        if not self.has_columns("weight"):
            return None
        weight = self.rows["weight"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return weight if rows is None else weight[rows]

    @property
    def human_columns(self) -> tuple[str, ...]:
        """The columns of people's labels that have values: `human` and each `human.NAME`."""
        found = (name for name in self.rows.columns if schema_name(name) == "human")
        return tuple(name for name in found if self.has_columns(name))

    @property
    def has_judge_and_people(self) -> bool:
        """Whether it has a judge's labels beside people's."""
        return self.has_columns("judge") and bool(self.human_columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TokenRun(Value):
    """The token positions of one run, as sums: the distributions are read once and not stored.

    Attributes
    ----------
    file, format, label, info, row_counts
        As in `AnswerRun`; here a row is a position.
    sums : TokenSums
        Sums over all positions.
    """

    file: str
    format: str
    label: str
    info: RunInfo
    sums: TokenSums
    row_counts: RowCounts

    @property
    def n_total(self) -> int:
        """Positions of this run in its file, including those left out."""
        return self.row_counts.n_rows

    def __repr__(self) -> str:
        return f"<TokenRun {run_line(self)}>"

    def _repr_html_(self) -> str:
        return runs_table((self,))


Run: TypeAlias = AnswerRun | TokenRun


def as_run(value: object) -> Run:
    """The value, which has to be a run; raises TypeError for anything else, such as the list of `load`."""
    if isinstance(value, AnswerRun | TokenRun):
        return value
    kind = "list" if isinstance(value, list) else value.__class__.__name__
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    of_runs = any(isinstance(one, AnswerRun | TokenRun) for one in listed)
    hint = "choose one from the list" if of_runs else "make runs with calib_core.load"
    raise TypeError(f"expected a run, not {kind}: {hint}")


class Runs(list[Run]):
    """Runs as `calib_core.load` gives them: a list that shows itself in a notebook as a table."""

    def _repr_html_(self) -> str:
        return runs_table(self)


_MAX_TEXT_CHARS: Final = 100


def _content(run: Run) -> str:
    """What a run holds, in a few words."""
    if isinstance(run, TokenRun):
        return f"token-level, {run.sums.n_classes:,} classes"
    held = [name for name in run.rows.columns if name != "row" and run.has_columns(name)]
    return shorten(", ".join(held), _MAX_TEXT_CHARS)


def run_line(run: Run) -> str:
    """A run in one line: label, rows, and what it holds."""
    return f"{shorten(run.label, _MAX_TEXT_CHARS)!r}: {plural(run.n_total, 'row')}, {_content(run)}"


def runs_table(runs: Sequence[Run]) -> str:
    """Runs as an HTML table, one row each."""
    header = "<tr><th>Run</th><th>File</th><th>Rows</th><th>Holds</th></tr>"
    rows = "".join(
        f"<tr><td>{escape(run.label)}</td><td>{escape(run.file)}</td><td>{run.n_total:,}</td>"
        f"<td>{escape(_content(run))}</td></tr>"
        for run in runs
    )
    return f"<table>{header}{rows}</table>"


# --- What is kept of the last run -------------------------------------------------------------------------

_Asked = ParamSpec("_Asked")
_Kept = TypeVar("_Kept")
_FORGET: Final[list[Callable[[], None]]] = []


def kept_for_last_run(compute: Callable[_Asked, _Kept]) -> Callable[_Asked, _Kept]:
    """Keep what a function returned last: the methods of a run need it one after the other."""
    kept = lru_cache(maxsize=1)(compute)
    _FORGET.append(kept.cache_clear)
    return cast("Callable[_Asked, _Kept]", kept)


def forget_last_run() -> None:
    """Release the run that methods were tried on last, and what is kept of it."""
    for forget in _FORGET:
        forget()
