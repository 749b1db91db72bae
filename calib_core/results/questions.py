"""Which questions are in this bin?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme, assign_bins
from calib_core.errors import Unavailable, single_line
from calib_core.methods.answers.normalise import choice_texts
from calib_core.metrics import DEFAULT_METRIC
from calib_core.pairs import Pairs
from calib_core.results.evidence import AnswerEvidence, Evidence, get_metric
from calib_core.results.score import effective_scheme

MAX_SHOWN_QUESTIONS: Final = 1000
"""Number of questions a page shows; a download holds all of them."""

Outcome = Literal["right", "wrong"]
"""Whether the judged answer of a question is right."""


def question_title(row: int, text: str | None, max_letters: int) -> str:
    """ "12: How many are …", with at most `max_letters` characters of the text; "Row 12" without one."""
    return f"{row}: {single_line(text, max_letters)}" if text else f"Row {row}"


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The questions behind some pairs.

    Attributes
    ----------
    frame : pl.DataFrame
        One row for each pair found: file (in a run of several), row (record number in the file), id,
        subject and question where the file has them, answer and gold (not of an event), confidence, right.
    n_before_search : int
    search : str
        The text searched for.
    n_right, n_wrong : int
        Those that the search finds, of either outcome.
    """

    frame: pl.DataFrame
    n_before_search: int
    search: str
    n_right: int
    n_wrong: int

    @property
    def preview(self) -> pl.DataFrame:
        """The first `MAX_SHOWN_QUESTIONS` of the questions found."""
        return self.frame.head(MAX_SHOWN_QUESTIONS)

    def only(self, outcome: Outcome | None) -> Questions:
        """Those with this outcome, all where it is None; the counts stay those of both."""
        if outcome is None:
            return self
        return replace(self, frame=self.frame.filter(pl.col("right") == (outcome == "right")))

    def to_frame(self) -> pl.DataFrame:
        """All questions found."""
        return self.frame


def questions_in_bin(
    evidence: Evidence,
    metric_id: str = DEFAULT_METRIC,
    scheme: Scheme | None = None,
    *,
    bin_number: int | None = None,
    search: str = "",
) -> Questions:
    """The questions whose pair falls into a bin.

    Parameters
    ----------
    evidence : Evidence
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    bin_number : int, optional
        From 1; every bin where omitted.
    search : str
        Keep rows in which any text contains this, ignoring case; "" keeps all.

    Raises
    ------
    Unavailable
        As `reliability_diagram`, and for a run without questions.
    """
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(evidence.no_questions_reason or "")
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    evidence.binned(metric, scheme)  # raises Unavailable where the diagram would
    pairs = evidence.diagram_pairs(metric)
    selected = np.arange(pairs.n)
    if bin_number is not None:
        selected = np.flatnonzero(
            assign_bins(pairs.confidence, scheme, computed=pairs.computed) == bin_number - 1
        )
    rows = evidence.run.rows
    columns = [name for name in ("file", "row", "id", "subject", "question", "gold") if name in rows.columns]
    frame = rows.select(columns)[pairs.rows[selected]]
    if "gold" not in columns:
        frame = frame.with_columns(gold=pl.lit(None, pl.String))
    texts = [] if evidence.terms.of == "event" else [_answer_column(evidence, pairs, selected), "gold"]
    frame = frame.select(
        pl.exclude("gold"),
        *texts,
        pl.Series("confidence", pairs.confidence[selected], dtype=pl.Float64),
        pl.Series("right", pairs.correct[selected], dtype=pl.Boolean),
    )
    found = _search_texts(frame, search)
    n_right = int(found["right"].sum())
    return Questions(
        found,
        n_before_search=frame.height,
        search=search,
        n_right=n_right,
        n_wrong=found.height - n_right,
    )


def _answer_column(evidence: AnswerEvidence, pairs: Pairs, positions: NDArray[np.intp]) -> pl.Series:
    """The judged answer of each pair; where a pair is about one choice, the text or letter of that choice."""
    confidences = evidence.confidences
    if pairs is not confidences.pairs and confidences.distribution is not None:
        choices = [name for name in ("row", "choices") if name in evidence.run.rows.columns]
        rows = evidence.run.rows.select(choices)[pairs.rows[positions]]
        return choice_texts(rows, confidences.distribution.class_index[positions]).alias("answer")
    if confidences.answers is None:
        return pl.Series("answer", [None] * positions.size, dtype=pl.String)
    return confidences.answers[positions].alias("answer")


def _search_texts(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    if not text.strip():
        return frame
    texts = [name for name in frame.columns if frame.schema[name] == pl.String]
    needle = text.strip().lower()
    matches = pl.col(texts).str.to_lowercase().str.contains(needle, literal=True).fill_null(value=False)
    return frame.filter(pl.any_horizontal(matches))
